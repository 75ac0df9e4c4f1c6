"""Tests that background work can pause often: its time between checkpoints has a limit.

The time is counted in calls of functions, because a clock would count other processes, too.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType

import pytest

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.run import check_by_pace
from hlo_lsp.cost.chips import chips
from hlo_lsp.ide.hover.origin_text import prepare_hovers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.stats.measured_programs import TimeSources, program_table

_INSTRUCTIONS = 4_000
_MAX_CALLS = 6_000  # 1 to 2 ms
_CHECKPOINT: CodeType = checkpoint.__code__
Work = Callable[[DumpFile], object]


def module_text(count: int) -> str:
    """Return a module whose entry computation has this number of instructions."""
    shape = "f32[8]{0:T(128)}"
    lines = [
        f"HloModule m, is_scheduled=true, entry_computation_layout={{({shape})->{shape}}}",
        "ENTRY %main (x: f32[8]) -> f32[8] {",
        f'  %add.0 = {shape} parameter(0), metadata={{op_name="x"}}',
    ]
    for number in range(1, count):
        root = "ROOT " if number == count - 1 else ""
        operands = f"%add.{number - 1}, %add.{max(0, number - 7)}"
        metadata = f'metadata={{op_name="jit(f)/add{number}"}}'
        lines.append(f"  {root}%add.{number} = {shape} add({operands}), {metadata}")
    return "\n".join([*lines, "}", ""])


class CallCounter:
    """A profiler that counts calls between checkpoints."""

    def __init__(self) -> None:
        self.most = 0
        self.after = ""  # the checkpoint before most calls
        self._calls = 0
        self._last = "start"

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is _CHECKPOINT:
            self._end(frame.f_back)
        elif event in {"call", "c_call"}:
            self._calls += 1

    def run(self, work: Work, file: DumpFile) -> None:
        sys.setprofile(self)
        try:
            work(file)
        finally:
            sys.setprofile(None)
        self._end(None)

    def _end(self, caller: FrameType | None) -> None:
        if self._calls > self.most:
            self.most, self.after = self._calls, self._last
        self._calls = 0
        if caller is not None:
            self._last = f"{caller.f_code.co_filename}:{caller.f_lineno}"


def cost(file: DumpFile) -> None:
    program_table(Compile([file]), TimeSources(chips()["v5e"]))


_WORKS: dict[str, Work] = {
    "read": DumpFile.refresh,
    "index of names": lambda file: file.module.index(),
    "search for callers": lambda file: file.module.callers(file.module.all_computations()[0]),
    "prepared hovers": lambda file: prepare_hovers(Compile([file])),
    "cost": cost,
    "check": lambda file: list(check_by_pace(Compile([file]), file)),
}


@pytest.mark.parametrize("name", _WORKS)
def test_background_work_has_enough_checkpoints(name: str) -> None:
    work = _WORKS[name]
    work(DumpFile.of_text(module_text(20)))  # loads grammars and tables
    file, counter = DumpFile.of_text(module_text(_INSTRUCTIONS)), CallCounter()
    counter.run(work, file)
    assert counter.most <= _MAX_CALLS, counter.after
