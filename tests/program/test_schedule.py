"""The schedule according to the module text."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.schedule import scheduled_instructions

HEADER = "HloModule jit_f, is_scheduled=true, entry_computation_layout={(s32[])->s32[]}\n"


def test_entry_is_scheduled_in_text_order() -> None:
    text = """
%fused (q: s32[]) -> s32[] {
  %q = s32[] parameter(0)
  ROOT %inside = s32[] negate(%q)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %fusion = s32[] fusion(%p), kind=kLoop, calls=%fused
  ROOT %out = s32[] add(%fusion, %p)
}
"""
    assert _schedule(text) == ["p", "fusion", "out"]


WHILE = """
%body (b: s32[]) -> s32[] {
  ROOT %b = s32[] parameter(0)
}

%condition (c: s32[]) -> pred[] {
  %c = s32[] parameter(0)
  ROOT %less = pred[] compare(%c, %c), direction=LT
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  ROOT %while = s32[] while(%p), condition=%condition, body=%body
}
"""


def test_condition_and_body_precede_while() -> None:
    assert _schedule(WHILE) == ["p", "c", "less", "b", "while"]


def test_condition_precedes_body() -> None:
    swapped = WHILE.replace("condition=%condition, body=%body", "body=%body, condition=%condition")
    assert _schedule(swapped) == ["p", "c", "less", "b", "while"]


def test_computation_called_twice_is_scheduled_once() -> None:
    text = """
%callee (q: s32[]) -> s32[] {
  ROOT %q = s32[] parameter(0)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %call.1 = s32[] call(%p), to_apply=%callee
  ROOT %call.2 = s32[] call(%call.1), to_apply=%callee
}
"""
    assert _schedule(text) == ["p", "q", "call.1", "call.2"]


ASYNC = """
%wrapped (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %sum = s32[] add(%a, %b)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = ((s32[], s32[]), s32[], u32[]) async-start(OF_START), calls=%wrapped
  %update = ((s32[], s32[]), s32[], u32[]) async-update(%startOF_UPDATE)
  ROOT %done = s32[] async-done(%update)
}
"""


@pytest.mark.parametrize(
    ("of_start", "of_update", "expected"),
    [
        ("%p, %p", "", ["p", "a", "b", "sum", "start", "update", "done"]),
        ("", ", %p, %p", ["p", "start", "a", "b", "sum", "update", "done"]),
        ("%p", ", %p", ["p", "start", "a", "b", "sum", "update", "done"]),
    ],
)
def test_async_computation_runs_when_operands_are_complete(
    of_start: str, of_update: str, expected: list[str]
) -> None:
    text = ASYNC.replace("OF_START", of_start).replace("OF_UPDATE", of_update)
    assert _schedule(text) == expected


def test_async_sugar_hides_the_schedule() -> None:
    text = """
ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = ((s32[]), s32[], u32[]) negate-start(%p)
  ROOT %done = s32[] negate-done(%start)
}
"""
    assert _schedule(text) is None


def test_plain_start_opcodes_keep_the_schedule() -> None:
    text = """
ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = (s32[], s32[], u32[]) copy-start(%p)
  ROOT %done = s32[] copy-done(%start)
}
"""
    assert _schedule(text) == ["p", "start", "done"]


def test_unscheduled_module_has_no_schedule() -> None:
    module = DumpFile.of_text(HEADER.replace("is_scheduled=true, ", "") + WHILE).module
    assert scheduled_instructions(module) is None


def test_recursive_computation_is_scheduled_once() -> None:
    damaged = WHILE.replace(
        "ROOT %b = s32[] parameter(0)", "ROOT %b = s32[] call(), to_apply=%body"
    )
    assert _schedule(damaged) == ["p", "c", "less", "b", "while"]


def test_missing_callee_is_skipped() -> None:
    assert _schedule(WHILE.replace("%body (b", "%other (b")) == ["p", "c", "less", "while"]


def _schedule(text: str) -> list[str] | None:
    found = scheduled_instructions(DumpFile.of_text(HEADER + text).module)
    return None if found is None else [instruction.name for instruction in found]
