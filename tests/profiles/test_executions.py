"""Tests for hlo_lsp.profiles.measured."""

from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, ProgramEvents
from hlo_lsp.profiles.measured import executions_of


def kernel(name: str, start: int, run: int | None = None, kernel: str = "k") -> InstructionEvent:
    return InstructionEvent(name, 0, start, 5, run, kernel)


def names(found: ProgramEvents, entry: frozenset[str] = frozenset()) -> list[list[str]]:
    executions = executions_of("GPU 0", found, entry)
    return [[event.instruction for event in one.events] for one in executions]


def test_runs_are_told_apart_by_id() -> None:
    found = ProgramEvents([kernel("b", 20, 2), kernel("a", 0, 1), kernel("a", 10, 2)])
    assert names(found) == [["a"], ["a", "b"]]


def test_spans_contain_their_events() -> None:
    events = [kernel("a", 0), kernel("b", 10), kernel("a", 100)]
    spans = [ModuleSpan(2, 100, 50), ModuleSpan(1, 0, 60)]
    found = executions_of("TPU 0", ProgramEvents(events, spans), frozenset())
    assert [(one.start_ps, one.duration_ps, len(one.events)) for one in found] == [
        (0, 60, 2),
        (100, 50, 1),
    ]


def test_runs_without_id_begin_with_the_rarest_kernel() -> None:
    events = [kernel("a", 0), kernel("loop", 10), kernel("loop", 20)]
    again = [kernel(one.instruction, one.start_ps + 100) for one in events]
    assert names(ProgramEvents(events + again)) == [["a", "loop", "loop"]] * 2


def test_missing_events_change_no_run() -> None:
    """One kernel of a real profile lacks the name of its instruction."""
    runs = [["a", "b", "c"], ["a", "c"], ["a", "b", "c"]]
    events = [
        kernel(name, 100 * run + 10 * place)
        for run, parts in enumerate(runs)
        for place, name in enumerate(parts)
    ]
    assert names(ProgramEvents(events), frozenset("abc")) == runs


def test_instructions_of_loops_begin_no_run() -> None:
    events = [kernel("rare", 10), kernel("a", 0), kernel("a", 100)]
    assert names(ProgramEvents(events), frozenset({"a"})) == [["a", "rare"], ["a"]]
