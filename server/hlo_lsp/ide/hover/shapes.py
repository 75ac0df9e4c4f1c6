"""Shapes in words, and what they cost."""

import re

from hlo_lsp.model.backend import Backend, space_label, space_name
from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.card import Card, Fact, counted, listed
from hlo_lsp.model.shape import (
    Array,
    BufferShape,
    Layout,
    Shape,
    TupleShape,
    element_texts,
    try_shape,
)
from hlo_lsp.model.sizes import (
    PaddedSize,
    Target,
    logical_bytes,
    padded_size_of,
)

_LAYOUTS = re.compile(r"\{[^{}]*\}|/\*.*?\*/")
_LONGEST = 60  # characters of a shape in a list
_PADDED = "padded to "
_KINDS = (
    ("pred", "boolean"),
    ("bf", "bfloat"),
    ("f", "float"),
    ("s", "signed integer"),
    ("u", "unsigned integer"),
    ("c", "complex"),
)


def shape_words(shape: Shape) -> str:
    """A shape for a reader: element type, dimensions, layout order, tiles."""
    if isinstance(shape, TupleShape):
        return f"tuple of {len(shape.elements)} (in memory a table of pointers to its elements)"
    if isinstance(shape, BufferShape):
        return f"reference to a buffer of {shape_words(shape.shape)}"
    words = [_type_words(shape.element_type), _dims_words(shape)]
    if shape.layout is not None:
        words += _layout_words(shape.layout)
    return ", ".join(words)


def short_shape(text: str) -> str:
    """A shape without its layouts, and only its beginning if it is long."""
    plain = _LAYOUTS.sub("", text)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}..."


def tuple_facts(label: str, text: str, sizes: list[Fact]) -> list[Fact]:
    """The elements of a tuple, their bytes without padding, and what its table of pointers takes.

    ``sizes`` are the facts about that table.
    """
    leaves = element_texts(text) or []
    facts = [Fact(label, f"tuple of {len(leaves)}: {listed(list(map(short_shape, leaves)), 6)}")]
    shape = try_shape(text)
    together = None if shape is None else _leaf_bytes(shape)
    if together is not None:
        facts.append(Fact("elements", f"{readable(together)} without padding"))
    return [*facts, *(Fact("table", fact.text) for fact in sizes if fact.label == "padded")]


def logical_facts(text: str) -> list[Fact]:
    """The bytes of a shape without padding, for shapes whose layout is not known."""
    shape = try_shape(text)
    logical = None if shape is None else logical_bytes(shape)
    return [] if logical is None else [Fact("logical", readable(logical))]


def size_facts(text: str, target: Target, color: int, actual: int | None = None) -> list[Fact]:
    """Logical and padded bytes of a shape, and where the difference comes from.

    ``actual`` is the size in bytes that XLA printed, where there is one.
    """
    shape = try_shape(text)
    if shape is None:
        return []
    logical = logical_bytes(shape)
    padded = padded_size_of(text, target, color)
    facts = logical_facts(text)
    size = actual if actual is not None else None if padded is None else padded.bytes
    if size is not None:
        facts.append(Fact("padded", _padded_words(size, padded, actual, logical)))
    if logical is not None and size is not None:
        facts.append(Fact("waste", _waste_words(logical, size, padded)))
    return facts


def shape_card(text: str, target: Target | None) -> Card:
    """A card for a shape on its own; without a target its layout counts as unknown."""
    shape = try_shape(text)
    if shape is None:
        return Card(f"`{_cut(text)}`", text="This is no shape that can be read.")
    facts = [Fact("shape", shape_words(shape))]
    if target is None:
        return Card(f"`{_cut(text)}`", (*facts, *logical_facts(text)))
    facts += size_facts(text, target, 0)
    if isinstance(shape, Array):
        facts.append(space_fact(shape.memory_space, target.backend))
    return Card(f"`{_cut(text)}`", tuple(facts))


def space_fact(number: int, backend: Backend) -> Fact:
    """A memory space by number, by what it is, and by what XLA's reports call it."""
    return Fact("memory space", space_words(number, backend))


def space_words(number: int, backend: Backend) -> str:
    """``1, VMEM on TPU``, with XLA's label where that says something else."""
    name, label = space_name(number, backend), space_label(number)
    if name is None:
        return f"{number} (XLA's reports call it `{label}`)"
    note = "" if label.lower() in name.lower() else f" (XLA's reports call it `{label}`)"
    return f"{number}, {name} on {backend.value}{note}"


def _padded_words(
    size: int, padded: PaddedSize | None, actual: int | None, logical: int | None
) -> str:
    if padded is None:
        return f"{readable(size)} as printed"
    if actual is not None and padded.exact and padded.bytes != actual:
        return f"{readable(size)} as printed, but {readable(padded.bytes)} by rule: {padded.rule}"
    if size == logical and padded.rule.startswith(_PADDED):
        return f"{readable(size)}: fits {padded.rule.removeprefix(_PADDED)}"
    return f"{readable(size)}: {padded.rule}"


def _waste_words(logical: int, size: int, padded: PaddedSize | None) -> str:
    waste = size - logical
    if waste <= 0:
        return "none" if waste == 0 else f"none (the elements take {-waste:,} B less here)"
    causes = "; ".join(map(str, padded.padding)) if padded is not None else ""
    return f"{readable(waste)}, {100 * waste / size:.1f} %{': ' + causes if causes else ''}"


def _type_words(name: str) -> str:
    for prefix, words in _KINDS:
        rest = name.removeprefix(prefix)
        if rest != name and (not rest or rest[0].isdigit()):
            return f"{name} ({words})" if rest else words
    return name


def _dims_words(shape: Array) -> str:
    if shape.element_type in {"token", "opaque"}:
        return "no elements"
    if not shape.dims:
        return "scalar"
    dims = " x ".join(
        "unbounded" if dim.size is None else f"at most {dim.size}" if dim.dynamic else str(dim.size)
        for dim in shape.dims
    )
    elements = shape.elements
    if elements is None:
        return dims
    if len(shape.dims) == 1:
        return f"{dims} element{'' if elements == 1 else 's'}"
    return f"{dims} ({counted(elements, 'element')})"


def _layout_words(layout: Layout) -> list[str]:
    order = layout.minor_to_major
    words: list[str] = []
    if len(order) > 1:
        if order == tuple(range(len(order)))[::-1]:
            words.append(f"row-major (dim {order[0]} fastest)")
        elif order == tuple(range(len(order))):
            words.append("column-major (dim 0 fastest)")
        else:
            words.append(f"dims from fastest to slowest {', '.join(map(str, order))}")
    if layout.tiles:
        words.append(f"tiles {''.join(map(str, layout.tiles))}")
    if layout.tail_padding > 1:
        words.append(f"padded at the end to {layout.tail_padding} elements")
    if layout.element_bits:
        words.append(f"{layout.element_bits} bits an element in memory")
    for split in layout.splits:
        cuts = ", ".join(map(str, split.at))
        words.append(f"split over cores at {cuts} of physical dim {split.dimension}")
    if layout.metadata_bytes:
        words.append(f"{layout.metadata_bytes} B of run-time sizes in front")
    return words


def _leaf_bytes(shape: Shape) -> int | None:
    """The bytes of all arrays in a shape without padding."""
    if not isinstance(shape, TupleShape):
        return logical_bytes(shape)
    parts = [_leaf_bytes(element) for element in shape.elements]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."
