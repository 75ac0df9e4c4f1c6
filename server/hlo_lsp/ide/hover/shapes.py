"""Shapes and their sizes as text."""

import re
from collections.abc import Iterator

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun, join_limited, shortened
from hlo_lsp.model.backend import Backend, report_space_name, space_name
from hlo_lsp.model.padded_sizes import (
    ShapeSizes,
    Target,
    logical_bytes,
    logical_bytes_of_text,
    sizes_of_text,
)
from hlo_lsp.model.shape import (
    ArrayShape,
    BufferShape,
    Layout,
    Shape,
    TupleShape,
    arrays_of,
    element_texts,
    try_shape,
)
from hlo_lsp.text.amounts import format_bytes

_LAYOUTS = re.compile(r"\{[^{}]*\}|/\*[\s\S]*?(?:\*/|\Z)")
_MAX_SHAPE_CHARACTERS = 60
_MAX_TITLE_CHARACTERS = 200
_PADDED_TO_PREFIX = "padded to "
_PADDING = "padding"  # the label of this fact
_TYPE_NAMES_BY_PREFIX = (
    ("pred", "boolean"),
    ("bf", "bfloat"),
    ("f", "float"),
    ("s", "signed integer"),
    ("u", "unsigned integer"),
    ("c", "complex"),
)


def describe_shape(shape: Shape) -> str:
    """Return a shape as text: element type, dimensions, layout order, and tiles."""
    if isinstance(shape, TupleShape):
        return f"tuple of {len(shape.elements)} (stored as a table of pointers to its elements)"
    if isinstance(shape, BufferShape):
        return f"reference to a buffer of {describe_shape(shape.shape)}"
    layout = () if shape.layout is None else _describe_layout(shape.layout)
    return ", ".join([_describe_type(shape.element_type), _describe_dims(shape), *layout])


def short_shape(text: str) -> str:
    """Return a shape without layouts, shortened if it is long."""
    return shortened(_LAYOUTS.sub("", text), _MAX_SHAPE_CHARACTERS)


def tuple_facts(label: str, text: str, sizes: list[Fact]) -> list[Fact]:
    """Return the elements of a tuple, their logical size, and the size of its pointer table."""
    leaves = list(map(short_shape, element_texts(text) or []))
    facts = [Fact(label, f"tuple of {len(leaves)}: {join_limited(leaves, 6)}")]
    sizes_of_leaves = [logical_bytes(array) for array in arrays_of(try_shape(text))]
    if None not in sizes_of_leaves:
        together = format_bytes(sum(filter(None, sizes_of_leaves)))
        facts.append(Fact("elements", f"{together} without padding"))
    table_sizes = [fact.text for fact in sizes if fact.label == "padded size"]
    return [*facts, *(Fact("tuple table", size) for size in table_sizes)]


def logical_facts(text: str) -> list[Fact]:
    """Return the logical size of a shape whose layout is unknown."""
    logical = logical_bytes_of_text(text)
    return [] if logical is None else [Fact("logical size", format_bytes(logical))]


def size_facts(text: str, sizes: ShapeSizes) -> list[Fact]:
    """Return the logical and the padded size of a shape, and the padding if they differ."""
    if try_shape(text) is None:
        return []
    size = sizes.bytes
    if size is None:
        return logical_facts(text)
    facts = [] if size == sizes.logical else logical_facts(text)
    facts.append(Fact("padded size", _describe_padded_size(size, sizes)))
    if sizes.padding:
        facts.append(Fact(_PADDING, _describe_padding(size, sizes)))
    return facts


def split_waste(facts: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return the padding among the facts about a size, and the other facts."""
    waste = [fact for fact in facts if fact.label == _PADDING]
    return waste, [fact for fact in facts if fact.label != _PADDING]


def shape_card(text: str, target: Target | None) -> Card:
    """Return the hover of a shape; without a target its layout is unknown."""
    shape = try_shape(text)
    title = f"`{shortened(text, _MAX_TITLE_CHARACTERS)}`"
    if shape is None:
        return Card(title, text="Not a valid shape.")
    facts = [Fact("shape", describe_shape(shape))]
    facts += (
        logical_facts(text) if target is None else size_facts(text, sizes_of_text(text, target))
    )
    if target is not None and isinstance(shape, ArrayShape):
        facts.append(memory_space_fact(shape.memory_space, target.backend))
    return Card(title, tuple(facts))


def memory_space_fact(number: int, backend: Backend) -> Fact:
    """Return the number and the name of a memory space, with XLA's label if it is different."""
    name, label = space_name(number, backend), report_space_name(number)
    note = f" (`{label}` in XLA's reports)"
    if name is None:
        return Fact("memory space", f"{number}{note}")
    text = f"{number}, {name} on {backend.value}"
    return Fact("memory space", text if label.lower() in name.lower() else text + note)


def _describe_padded_size(size: int, sizes: ShapeSizes) -> str:
    padded, printed = sizes.padded, sizes.printed
    if padded is None:
        return f"{format_bytes(size)} as printed"
    if printed is not None and padded.exact and padded.bytes != printed:
        by_rule = f"{format_bytes(padded.bytes)} by rule: {padded.rule}"
        return f"{format_bytes(size)} as printed, but {by_rule}"
    if size == sizes.logical and padded.rule.startswith(_PADDED_TO_PREFIX):
        return f"{format_bytes(size)}: fits {padded.rule.removeprefix(_PADDED_TO_PREFIX)}"
    return f"{format_bytes(size)}: {padded.rule}"


def _describe_padding(size: int, sizes: ShapeSizes) -> str:
    padding = sizes.padding or 0
    causes = "" if sizes.padded is None else "; ".join(map(str, sizes.padded.padding))
    return f"{format_bytes(padding)}, {padding / size:.1%}{': ' + causes if causes else ''}"


def _describe_type(name: str) -> str:
    for prefix, words in _TYPE_NAMES_BY_PREFIX:
        rest = name.removeprefix(prefix)
        if rest != name and (not rest or rest[0].isdigit()):
            return f"{name} ({words})" if rest else words
    return name


def _describe_dims(shape: ArrayShape) -> str:
    if shape.element_type in {"token", "opaque"}:
        return "no elements"
    if not shape.dims:
        return "scalar"
    dims = " x ".join(
        "unbounded" if dim.size is None else f"at most {dim.size}" if dim.dynamic else str(dim.size)
        for dim in shape.dims
    )
    if shape.elements is None:
        return dims
    if len(shape.dims) == 1:
        return f"{dims} element{'' if shape.elements == 1 else 's'}"
    return f"{dims} ({count_noun(shape.elements, 'element')})"


def _describe_layout(layout: Layout) -> Iterator[str]:
    order = layout.minor_to_major
    if len(order) > 1:
        if order == tuple(range(len(order)))[::-1]:
            yield f"row-major (dim {order[0]} fastest)"
        elif order == tuple(range(len(order))):
            yield "column-major (dim 0 fastest)"
        else:
            yield f"dims from minor to major {', '.join(map(str, order))}"
    if layout.tiles:
        yield f"tiles {''.join(map(str, layout.tiles))}"
    if layout.tail_padding > 1:
        yield f"padded at the end to {layout.tail_padding} elements"
    if layout.element_bits:
        yield f"{layout.element_bits} bits per element in memory"
    for split in layout.splits:
        cuts = ", ".join(map(str, split.at))
        yield f"split over cores at {cuts} of physical dim {split.dimension}"
    if layout.metadata_bytes:
        yield f"{layout.metadata_bytes} B of dynamic sizes before the elements"
