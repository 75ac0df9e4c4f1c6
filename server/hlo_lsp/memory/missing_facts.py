"""Facts that the files of a compile do not contain: why peaks and owners are unknown."""

from collections.abc import Iterator

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies, unassigned_ranges
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import missing_part
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.amounts import format_short_bytes


@query
def missing_facts(dump: Compile) -> tuple[str, ...]:
    """Return a message for each kind of facts that the files of a compile do not contain."""
    return tuple(_missing_facts(dump))


def _missing_facts(dump: Compile) -> Iterator[str]:
    contradictions = list(_contradictions(dump))
    yield from contradictions
    for file in dump.files:
        found = missing_part(file)
        # The end of a list that nothing refers to changes no number.
        if found is not None and (contradictions or file.kind is FileKind.MODULE):
            yield found
    if contradictions:
        # A late import, because the readers of unknown forms take 11 ms.
        from hlo_lsp.program.foreign_files import foreign_files  # noqa: PLC0415

        for file, other, _ in foreign_files(dump):
            yield f"{file.title} is from another compile than {other.title}"
    if dump.module_file is None:
        yield "no module text: origins and Python lines are unknown"


def _contradictions(dump: Compile) -> Iterator[str]:
    """Yield why the peaks are unknown, and totals that do not agree."""
    allocated, total = _allocated_and_reported(dump)
    if not allocated:
        yield "no buffer assignment: allocations and peaks are unknown"
        return
    if total is not None and total != allocated:
        sizes = f"{format_short_bytes(allocated)}, and `Total bytes used` is"
        yield f"the buffer assignment has {sizes} {format_short_bytes(total)}"
    unassigned = unassigned_ranges(dump)
    if not buffer_assignment(dump).is_complete:
        yield "the buffer assignment is malformed: allocations may be missing, peaks are unknown"
    elif unassigned:
        values = count_noun(len(unassigned), "value")
        yield f"the buffer assignment lacks {values} of the live ranges: peaks are unknown"
    elif dump.last_step is None:
        yield "no live ranges: peaks and owners are unknown"
    elif not memory_space_occupancies(dump):
        yield "some values have no live range: peaks and owners are unknown"


def is_assignment_whole(dump: Compile) -> bool:
    """Return whether no other file shows that allocations or values are missing."""
    allocated, total = _allocated_and_reported(dump)
    is_complete = buffer_assignment(dump).is_complete and not unassigned_ranges(dump)
    return is_complete and total in {None, allocated}


def _allocated_and_reported(dump: Compile) -> tuple[int, int | None]:
    """Return the bytes of all allocations, and ``Total bytes used``, None if it is not printed."""
    return sum(allocation.record.size for allocation in dump.allocations()), dump.total_bytes
