"""Tests for hlo_lsp.program.trip_counts."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.trip_counts import ExecutionCount, Executions

_TEXT = """\
HloModule m, is_scheduled=true

%inner (a: f32[8]) -> f32[8] {
  %a = f32[8] parameter(0)
  ROOT %n = f32[8] negate(%a)
}

%outer (b: f32[8]) -> f32[8] {
  %b = f32[8] parameter(0)
  ROOT %w = f32[8] while(%b), condition=%c, body=%innerTRIPS
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  %k = f32[8] call(%x), to_apply=%inner
  ROOT %v = f32[8] while(%k), condition=%c, body=%outer, \
backend_config={"known_trip_count":{"n":"3"}}
}
"""


@pytest.mark.parametrize(
    ("trips", "count"),
    [
        (', backend_config={"known_trip_count":{"n":"5"}}', ExecutionCount(1 + 3 * 5)),
        ("", ExecutionCount(1 + 3, is_exact=False)),
    ],
)
def test_callers_multiply_and_add_up(trips: str, count: ExecutionCount) -> None:
    module = DumpFile.of_text(_TEXT.replace("TRIPS", trips), "after_optimizations.txt").module
    negate = module.instructions.first("n")
    assert negate is not None
    assert Executions(module).of(negate) == count
