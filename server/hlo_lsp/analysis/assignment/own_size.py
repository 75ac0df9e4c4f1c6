"""Whether the size of a value is that of its own shape."""

from hlo_lsp.analysis.assignment.spaces import layout_space
from hlo_lsp.model.sizes import PaddedSize, Target, padded_size_of_text
from hlo_lsp.syntax.memory_records import AssignedValue


def wrong_size(value: AssignedValue, target: Target) -> PaddedSize | None:
    """The size (bytes) that a value should have, or None where it has it or no rule is sure."""
    if value.color is not None and layout_space(value) not in {None, value.color}:
        return None  # the rule for another memory space would be asked
    padded = padded_size_of_text(value.shape, target, value.color or 0)
    if padded is None or value.size == padded.bytes or value.size in padded.allowed:
        return None
    return padded if padded.exact or padded.allowed else None
