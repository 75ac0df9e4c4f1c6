"""Hovers of allocations, memory spaces, format terms, and thunks."""

from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.hover.glossary import explain
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.shapes import describe_memory_space
from hlo_lsp.ide.hover.values import allocation_kind
from hlo_lsp.ide.navigation.report_rows import reported_row_at
from hlo_lsp.memory.sharing import most_shared_offset
from hlo_lsp.model.backend import Backend, space_name
from hlo_lsp.model.display import Card, Fact, format_bytes, join_limited
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.sizes import target_of
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.syntax.scanners import ThunkRow

_MAX_LISTED_VALUES = 6


def allocation_card(dump: DumpSet, allocation: LocatedRecord[AllocationLine]) -> Card:
    """Return the hover of an allocation: its size, kind, and values."""
    record = allocation.record
    values = list(dump.assigned_to(allocation))
    backend = target_of(dump).backend
    facts = [
        Fact("size", format_bytes(record.size)),
        Fact("kind", allocation_kind(record)),
        Fact("memory space", describe_memory_space(record.color, backend)),
        Fact("values", f"{len(values):,}"),
    ]
    if record.output_shape is not None:
        facts.append(Fact("output shape", f"`{record.output_shape[:200]}`"))
    if record.parameter_shape is not None:
        facts.append(Fact("parameter shape", f"`{record.parameter_shape[:200]}`"))
    shared = most_shared_offset(dump, allocation)
    if shared is not None:
        offset, count = shared
        facts.append(Fact("time-sharing", f"{count:,} values share offset {offset:,} over time"))
    if values:
        largest = sorted(values, key=lambda value: (-value.size, value.id))
        names = [f"`{v.name}{v.index or ''}` {format_bytes(v.size)}" for v in largest]
        facts.append(Fact("largest", join_limited(names, 3)))
    if record.parameter is not None and record.maybe_live_out:
        facts.append(Fact("donation", "an output reuses the caller's buffer"))
    return Card(f"allocation {record.number}", tuple(facts))


def report_row_card(dump: DumpSet, target: CursorTarget) -> Card | None:
    """Return the hover of a report row: the values at its offset. None for other targets."""
    reported = reported_row_at(dump, target)
    if reported is None:
        return None
    allocation, values = reported.allocation.record, [value.record for value in reported.values]
    names = [f"`{value.name}{value.index or ''}` {format_bytes(value.size)}" for value in values]
    offset = values[0].offset if values else 0
    whole = f"{allocation.number}, {allocation_kind(allocation)}, {format_bytes(allocation.size)}"
    facts = (
        Fact("allocation", whole),
        Fact("values", f"{len(values):,}: {join_limited(names, _MAX_LISTED_VALUES)}"),
    )
    return Card(f"report row: offset {offset:,} of allocation {allocation.number}", facts)


def space_card(number: int, backend: Backend) -> Card:
    """Return the hover of a memory space."""
    name = space_name(number, backend)
    return Card(
        f"memory space {number}" if name is None else f"memory space {number}: {name}",
        (Fact("memory space", describe_memory_space(number, backend)),),
        "The memory space number is `color N` of an allocation, `@N` of a value, and `S(N)` of a "
        "layout.",
    )


def term_card(word: str) -> Card | None:
    """Return the hover of a format term, or None if the glossary has no entry."""
    entry = explain(word)
    return None if entry is None else Card(entry[0], text=entry[1])


def thunk_card(dump: DumpSet, row: ThunkRow, instruction: str | None) -> Card:
    """Return the hover of a thunk and the instruction that it runs."""
    facts = [] if row.kernel is None else [Fact("kernel", f"`{row.kernel}`")]
    if instruction is None:
        facts.append(Fact("instruction", "unknown"))
        return Card(f"thunk {row.kind}", tuple(facts))
    facts.append(Fact("instruction", f"`{instruction}`"))
    card = instruction_card(dump, instruction)
    number = "" if row.id is None else f" {row.id}"
    return Card(f"thunk{number} {row.kind}", (*facts, *(card.facts if card is not None else ())))
