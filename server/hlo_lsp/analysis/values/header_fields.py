"""What the two headers of a value say beside its id, and which of them is wrong if they differ."""

from hlo_lsp.analysis.assignment.spaces import layout_space, may_be_recolored
from hlo_lsp.analysis.values.header_faults import Renamed
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.used_value import UsedValue

_MERGED = frozenset({"parameter", "while", "conditional"})  # whose values data flow merges


def renamed(
    dump: DumpSet, entry: LocatedRecord[UsedValue], value: LocatedRecord[AssignedValue]
) -> Renamed | None:
    """The first field in which they differ; None where that is told of another line."""
    in_entry, in_value = entry.record, value.record
    if in_entry.key != in_value.key:
        role = "NAME" if in_entry.name != in_value.name else "INDEX"
        entry_is_wrong = in_entry.key != _definition(in_entry)
    elif in_entry.index != in_value.index:
        role = "INDEX"
        text = defining_text(in_entry)
        is_tuple = text is not None and text.shape.text.startswith("(")
        entry_is_wrong = (in_entry.index is not None) != is_tuple
    elif in_entry.phi != in_value.phi:
        role = "PHI"
        entry_is_wrong = in_entry.phi != _is_merged(dump, in_entry)
    elif in_entry.color == in_value.color or _is_said_of_color(dump, value):
        return None  # the space of the shape, or of the allocation, tells more
    else:
        role = "COLOR"
        entry_is_wrong = True
    accused, other = (entry, value) if entry_is_wrong else (value, entry)
    return Renamed(accused, other, role)


def _definition(entry: UsedValue) -> str | None:
    """Name and index by the first position, where the instruction is of the same name."""
    first = next(entry.positions, None)
    text = defining_text(entry)
    if first is None or text is None or text.name.text != first.name:
        return entry.key if text is not None and text.name.text == entry.name else None
    return first.name + (first.index or "{}")


def _is_merged(dump: DumpSet, entry: UsedValue) -> bool:
    """Whether data flow merges the value of an entry, as far as its instruction tells.

    Of parameters those of loops; without a module text the others cannot be told from them.
    """
    text = defining_text(entry)
    if text is None or text.opcode.text not in _MERGED:
        return False
    line = dump.instruction(text.name.text)
    if text.opcode.text != "parameter" or line is None:
        return entry.phi or text.opcode.text != "parameter"
    module = line.file.module
    home = module.computation_of(line.record)
    callers = [] if home is None else module.callers(home)
    return any(caller.opcode == "while" for caller in callers)


def _is_said_of_color(dump: DumpSet, value: LocatedRecord[AssignedValue]) -> bool:
    """Whether a value's line contradicts its own shape or allocation: that is told there."""
    record = value.record
    space = layout_space(record)
    if space is not None:
        return space != (record.color or 0)
    head = value.file.records.head_of(record)
    if not isinstance(head, AllocationLine) or head.color == (record.color or 0):
        return False
    return bool(record.color) or not may_be_recolored(head.color, dump.backend)
