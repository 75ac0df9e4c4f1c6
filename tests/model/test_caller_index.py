"""Tests for the callers of computations, before and after all of them are indexed."""

import pytest

from hlo_lsp.model import name_index
from hlo_lsp.model.dump_file import DumpFile

_TEXT = """\
HloModule m

%f (p: f32[]) -> f32[] {
  ROOT %p = f32[] parameter(0)
}

%g (q: f32[]) -> f32[] {
  %q = f32[] parameter(0)
  ROOT %call.1 = f32[] call(%q), to_apply=%f
}

ENTRY %e (x: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %call.2 = f32[] call(%x), to_apply=%g
  %new.3 = f32[] new-opcode(%call.2), computation=%f, calls=%f
  ROOT %call.4 = f32[] call(%new.3), to_apply=%f
}
"""


def _callers(file: DumpFile) -> dict[str, list[str]]:
    file.refresh()
    module = file.module
    return {
        head.name: [caller.name for caller in module.callers(head)]
        for head in module.all_computations()
    }


@pytest.mark.parametrize("searches", [0, 2, 100])
def test_callers_follow_edits(searches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_index, "_MAX_CALLER_SEARCHES", searches)
    file = DumpFile.of_text(_TEXT)
    assert _callers(file) == {"f": ["call.1", "new.3", "call.4"], "g": ["call.2"], "e": []}
    row = next(n for n, line in enumerate(file.lines) if "%call.2 =" in line)
    column = file.lines[row].index("%g") + 1
    file.changed(file.document.edit((row, column), (row, column + 1), "f"))
    assert _callers(file) == {"f": ["call.1", "call.2", "new.3", "call.4"], "g": [], "e": []}
    file.changed(file.document.edit((row, 0), (row + 1, 0), ""))
    assert _callers(file) == {"f": ["call.1", "new.3", "call.4"], "g": [], "e": []}
