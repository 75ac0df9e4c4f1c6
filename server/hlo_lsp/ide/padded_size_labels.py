"""Labels of inlay hints with the padded sizes of arrays."""

from collections.abc import Iterator

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import PaddedSize, sizes_of_text, target_of
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.text.amounts import format_bytes, format_short_bytes


def padded_size_labels(dump: Compile, text: str, key: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the end of each padded array in the shape of a value, with label and tooltip.

    Without a printed size of the value, only tiled layouts determine the padding: before buffer
    assignment and inside fusions, untiled layouts do not describe memory.
    """
    value = dump.value_of_key(key)
    color = 0 if value is None else value.color or 0
    printed = None if value is None else value.size
    for match in load_grammar("lexemes").expression("lexeme").finditer(text):
        size = printed if match[0] == text.rstrip() else None
        if match.lastgroup == "ARRAY" and (size is not None or "T(" in match[0]):
            found = padded_size_label(dump, match[0], size, color)
            if found is not None:
                yield match.end(), found


def padded_size_label(
    dump: Compile, text: str, printed: int | None, color: int
) -> tuple[str, str] | None:
    """Return the padded size of an array, or its logical size if the padded one is printed.

    Returns None if the array has no padding, or if ``printed`` does not match the shape, which a
    rule reports.
    """
    sizes = sizes_of_text(text, target_of(dump), color, printed)
    logical, size, padded = sizes.logical, sizes.bytes, sizes.padded
    is_array = isinstance(try_shape(text), ArrayShape)
    if not is_array or logical is None or size is None or size == logical:
        return None
    if padded is not None and padded.bytes != size:
        return None
    label = f"padded {format_short_bytes(size)}"
    if printed is not None:
        label = f"padded from {format_short_bytes(logical)}"
    return label, _describe_sizes(logical, size, padded)


def _describe_sizes(logical: int, size: int, padded: PaddedSize | None) -> str:
    tooltip = f"{format_bytes(size)} in memory, {format_bytes(logical)} without padding"
    if padded is None or padded.bytes != size:
        return tooltip
    causes = [f"{each.what} {each.before:,} -> {each.after:,}" for each in padded.padding]
    rule = f"{padded.rule} ({', '.join(causes)})" if causes else padded.rule
    return f"{tooltip}: {rule}"
