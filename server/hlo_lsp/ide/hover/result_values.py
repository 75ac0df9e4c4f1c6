"""The values with the data of an instruction's result."""

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Value
from hlo_lsp.model.shape import shape_indexes
from hlo_lsp.syntax.instruction_text import InstructionText

Leaf = tuple[str, Value]  # a shape index in a result, and the value there
# The result of other `-start` instructions is (operands, result, contexts ...).
_STARTS_WITHOUT_OPERANDS = frozenset({"copy-start", "all-reduce-start"})


def result_leaves(dump: DumpSet, name: str) -> list[Leaf]:
    """Return the values in the result of an instruction, as the list of used values has them."""
    found = []
    for entry in dump.entries_at(name):
        checkpoint()
        value = None if entry.record.id is None else dump.value(entry.record.id)
        if value is not None:
            places = (place for place in entry.record.positions if place.name == name)
            found += [(place.index or "{}", value) for place in places]
    return found


def data_leaves(dump: DumpSet, text: InstructionText, leaves: list[Leaf]) -> list[Leaf]:
    """Return the values with the data of a result, the largest first.

    Tables of pointers, contexts of async instructions, and the buffers of operands do not belong to
    the data, unless the instruction only forwards buffers.

    Args:
        dump: The compile.
        text: The instruction.
        leaves: The values in its result, empty if they are unknown.
    """
    name, shape = text.name.text, text.shape.text
    if not shape.startswith("("):
        value = dump.value_at(name)
        return [] if value is None else [("{}", value)]
    if not leaves:
        defined = ((index or "{}", dump.value_of_key(f"{name}{index or '{}'}"))
                   for index in shape_indexes(shape))  # fmt: skip
        leaves = [(index, value) for index, value in defined if value is not None]
    arrays = {
        value.id: (index, value)
        for index, value in leaves
        if not (dump.shape_text(value) or "").startswith("(") and not _is_context(text, index)
    }
    passed = {entry.record.id for span in text.operands for entry in dump.entries_at(span.text)}
    own = [leaf for leaf in arrays.values() if leaf[1].id not in passed]
    return sorted(own or arrays.values(), key=lambda leaf: -_size(leaf[1]))


def data_index(text: InstructionText, data: list[Leaf]) -> str | None:
    """Return the shape index of the largest part of a result; None for the whole result."""
    if data:
        return None if data[0][0] == "{}" else data[0][0]
    if not text.shape.text.startswith("(") or not text.opcode.text.endswith("-start"):
        return None
    return "{0}" if text.opcode.text in _STARTS_WITHOUT_OPERANDS else "{1}"


def _is_context(text: InstructionText, index: str) -> bool:
    opcode, number = text.opcode.text, index.strip("{}").partition(",")[0]
    has_contexts = opcode.endswith("-start") and opcode != "all-reduce-start"
    return has_contexts and number not in {"0", "1"}


def _size(value: Value) -> int:
    return 0 if value.assigned is None else value.assigned.record.size
