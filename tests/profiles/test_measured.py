"""Tests for hlo_lsp.profiles.measured."""

from hlo_lsp.profiles.events import InstructionEvent, Program, ProgramEvents
from hlo_lsp.profiles.measured import ProgramTime, program_time

_PROGRAM = Program("jit_f", 1)


def event(
    name: str, start: int, duration: int, *, line: int = 0, run: int = 1, kernel: str = ""
) -> InstructionEvent:
    return InstructionEvent(name, line, start, duration, run, kernel or name)


def time_of(*events: InstructionEvent) -> ProgramTime:
    devices = {"GPU 0": ProgramEvents(list(events))}
    return program_time(_PROGRAM, devices, frozenset(), lambda name: name.startswith("all-"))


def test_loop_does_not_own_its_body() -> None:
    found = time_of(event("while", 0, 100), event("body", 10, 30), event("body", 50, 30))
    assert [
        (one.name, one.occurrences, one.total_ps, one.own_ps) for one in found.instructions
    ] == [
        ("body", 2, 60, 60),
        ("while", 1, 100, 40),
    ]
    assert found.executions[0].busy_ps == 100


def test_threads_are_united() -> None:
    """The event of a loop ends before its body does, which other threads run."""
    found = time_of(event("while", 0, 40), event("body", 30, 50, line=1))
    assert found.executions[0].busy_ps == 80
    assert found.executions[0].idle_ps == 0


def test_gaps_are_idle() -> None:
    found = time_of(event("a", 0, 10), event("b", 30, 10))
    assert (found.executions[0].duration_ps, found.executions[0].idle_ps) == (40, 20)


def test_kernels_of_an_instruction_are_one_occurrence() -> None:
    kernels = ("col", "gemm", "gemm", "col", "gemm", "gemm")
    found = time_of(
        *(event("conv", 10 * place, 5, kernel=name) for place, name in enumerate(kernels))
    )
    assert (found.instructions[0].occurrences, found.instructions[0].events) == (2, 6)


def test_exposed_communication_excludes_overlap() -> None:
    found = time_of(
        event("while", 0, 200),
        event("all-gather", 10, 50),
        event("dot", 30, 100, line=1),
    )
    execution = found.executions[0]
    assert (execution.communication_ps, execution.exposed_ps) == (50, 20)


def test_async_spans_are_not_busy() -> None:
    span = InstructionEvent("copy-start", 2, 0, 90, 1, "copy-start", is_async=True)
    found = time_of(event("dot", 0, 10), span)
    assert found.executions[0].busy_ps == 10
    assert {one.name: one.async_ps for one in found.instructions} == {"dot": 0, "copy-start": 90}


def test_slow_first_run_is_a_warm_up() -> None:
    runs = [event("a", 1000 * run, 500 if run == 0 else 100, run=run) for run in range(4)]
    found = time_of(*runs)
    assert found.has_warm_up
    assert (found.runs, found.median_ps) == (4, 100)
    assert not time_of(*runs[1:]).has_warm_up
