"""Sections of a stdout dump."""

from collections.abc import Iterator
from itertools import count

import pytest

from hlo_lsp.background_jobs import Job, Outdated
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.stdout_dump import StdoutDump

_NAME = "module_0000.jit_f.cpu_after_optimizations"
_ASSIGNMENT = f"""\
*** Begin {_NAME}-buffer-assignment.txt ***
BufferAssignment:
allocation 0: size 4, maybe-live-out:
 value: <1 a @0> (size=4,offset=0): f32[]
*** End {_NAME}-buffer-assignment.txt ***
"""
_RANGES = f"""\
*** Begin {_NAME}-live-range.txt ***
HloLiveRange (max 1):
  InstructionSequence:
    0:a
  BufferLiveRange:
    a{{}}:0-1
*** End {_NAME}-live-range.txt ***
"""


def file_counts(dump: StdoutDump) -> list[int]:
    return [len(dump.compile_of(section).files) for section in dump.sections]


def paused_refreshes() -> Iterator[tuple[StdoutDump, Job[None]]]:
    """Yield a stdout dump whose refresh is paused, once for each checkpoint of a refresh."""
    for pauses in count(1):
        dump = StdoutDump(DumpFile.of_text(_ASSIGNMENT + _RANGES))
        job = Job(dump.refresh)
        if any(job.step(0) for _ in range(pauses)):
            assert pauses > 2
            return
        yield dump, job


def test_refresh_may_be_interrupted_at_each_checkpoint() -> None:
    for dump, job in paused_refreshes():
        job.cancel()
        dump.refresh()
        assert file_counts(dump) == [2, 2]


def test_refresh_may_run_twice_at_a_time() -> None:
    for dump, job in paused_refreshes():
        dump.refresh()
        while not job.step(0):
            pass
        assert file_counts(dump) == [2, 2]


def test_edit_during_refresh_is_read() -> None:
    whole = DumpFile.of_text(_ASSIGNMENT + _RANGES)
    dump = StdoutDump(whole)
    job = Job(dump.refresh)
    assert not job.step(0)
    line = whole.lines.index("allocation 0: size 4, maybe-live-out:")
    whole.changed(whole.document.edit((line, 0), (line, 0), " \n"))
    with pytest.raises(Outdated):
        job.step(0)
    dump.refresh()
    assert [section.first_line for section in dump.sections] == [1, 7]


def test_moved_section_changes_queries_on_line_numbers() -> None:
    @query
    def first_lines(dump: Compile) -> list[int]:
        return [file.first_line for file in dump.files]

    whole = DumpFile.of_text(_ASSIGNMENT + _RANGES)
    dump = StdoutDump(whole)
    dump.refresh()
    assert first_lines(dump.compile_of(dump.sections[0])) == [1, 6]
    whole.changed(whole.document.edit((0, 0), (0, 0), "a\nb\n"))
    dump.refresh()
    assert first_lines(dump.compile_of(dump.sections[0])) == [3, 8]
