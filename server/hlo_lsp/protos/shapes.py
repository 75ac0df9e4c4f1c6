"""The text of shapes, layouts, and other small parts (shape_util.cc, layout.cc, window_util.cc)."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hlo_lsp.hlo.notation import index_text

# PrimitiveType in xla_data.proto.
ELEMENT_TYPES = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64",
    10: "f16", 11: "f32", 12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16", 17: "token",
    18: "c128", 19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz",
    24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2", 28: "f8e4m3", 29: "f8e3m4", 30: "s1",
    31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu", 34: "b", 35: "f6e3m2fn", 36: "f6e2m3fn",
}  # fmt: skip
TUPLE, _OPAQUE, _TOKEN, _BUFFER = 13, 14, 17, 34
_UNBOUNDED_SIZE = -(1 << 63)
_COMBINED_DIMENSION = -(1 << 63)
_ANNOTATION_INTERVAL = 5  # every fifth element of a list has its index in a comment
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_ESCAPED = re.compile(r"""[^ !#-&(-\[\]-~]""")
_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}"]', re.DOTALL)


def decoded(text: str | bytes) -> str:
    """Return the text of a field; protobuf returns bytes that are not UTF-8 as they are."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def escaped(text: str | bytes) -> str:
    """Escape a text as ``absl::CEscape`` does, byte by byte."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    text = data.decode("latin-1")
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\{ord(match[0]):03o}", text)


def quoted_unless_json(text: str | bytes) -> str:
    """Return a text as it is if XLA's lexer reads it as a dictionary, else in quotes."""
    return decoded(text) if _is_dictionary(decoded(text)) else f'"{escaped(text)}"'


def _is_dictionary(text: str) -> bool:
    """Return True if the braces outside of strings are balanced (LexesAsJsonDict)."""
    if not text.startswith("{"):
        return False
    depth = 0
    for part in _JSON_PART.finditer(text):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if part[0] == '"':  # a string without an end
            return False
        if depth == 0:
            return not text[part.end() :].strip()
    return False


def joined(numbers: Iterable[int]) -> str:
    """Return numbers with commas."""
    return ",".join(map(str, numbers))


def annotated(items: Sequence[str]) -> str:
    """Join items with commas, and a comment with the index before every fifth one."""
    if len(items) <= _ANNOTATION_INTERVAL:
        return ", ".join(items)
    return "".join(
        item
        if number == 0
        else f", /*index={number}*/{item}"
        if number % _ANNOTATION_INTERVAL == 0
        else f", {item}"
        for number, item in enumerate(items)
    )


class ShapeTexts:
    """The texts of shapes; few distinct ones occur in a module."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bool], str] = {}

    def text(self, shape: Any, *, layout: bool = True) -> str:
        """Return the text of a shape, with layouts unless ``layout`` is False."""
        key = shape.SerializeToString(), layout
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._print(shape, layout)
        return found

    def _print(self, shape: Any, layout: bool) -> str:
        kind = shape.element_type
        if kind == TUPLE:
            return f"({annotated([self._print(one, layout) for one in shape.tuple_shapes])})"
        if kind == _BUFFER:
            return f"b({', '.join(self._print(one, layout) for one in shape.tuple_shapes)})"
        name = ELEMENT_TYPES.get(kind, f"type{kind}")
        if kind in {_OPAQUE, _TOKEN}:
            return f"{name}[]"
        dynamic = shape.is_dynamic_dimension
        sizes = [
            str(size)
            if number >= len(dynamic) or not dynamic[number]
            else "?"
            if size == _UNBOUNDED_SIZE
            else f"<={size}"
            for number, size in enumerate(shape.dimensions)
        ]
        text = f"{name}[{','.join(sizes)}]"
        if not layout or not shape.HasField("layout"):
            return text
        printed = self._layout(shape.layout)
        return text if printed == "{}" and not sizes else text + printed

    def _layout(self, layout: Any) -> str:
        facts = ""
        if layout.tiles:
            tiles = ("*" if size == _COMBINED_DIMENSION else str(size) for tile in layout.tiles
                     for size in tile.dimensions)  # fmt: skip
            facts += "T" + "".join(
                f"({','.join(next(tiles) for _ in tile.dimensions)})" for tile in layout.tiles
            )
        if layout.tail_padding_alignment_in_elements not in {0, 1}:
            facts += f"L({layout.tail_padding_alignment_in_elements})"
        for mark, kind in (
            ("#", layout.index_primitive_type),
            ("*", layout.pointer_primitive_type),
        ):
            if kind:
                facts += f"{mark}({ELEMENT_TYPES.get(kind, 'invalid')})"
        if layout.element_size_in_bits:
            facts += f"E({layout.element_size_in_bits})"
        if layout.memory_space:
            facts += f"S({layout.memory_space})"
        if layout.split_configs:
            splits = (
                f"({one.dimension}:{joined(one.split_indices)})" for one in layout.split_configs
            )
            facts += f"SC{''.join(splits)}"
        if layout.HasField("physical_shape"):
            facts += f"P({self._print(layout.physical_shape, True)})"
        if layout.dynamic_shape_metadata_prefix_bytes > 0:
            facts += f"M({layout.dynamic_shape_metadata_prefix_bytes})"
        return f"{{{joined(layout.minor_to_major)}{':' if facts else ''}{facts}}}"


def window_text(window: Any) -> str:
    """Return the attribute ``window={...}``, with what differs from the usual value."""
    dimensions = window.dimensions
    parts = (
        ("size", [one.size for one in dimensions], None),
        ("stride", [one.stride for one in dimensions], 1),
        ("pad", [f"{one.padding_low}_{one.padding_high}" for one in dimensions], "0_0"),
        ("lhs_dilate", [one.base_dilation for one in dimensions], 1),
        ("rhs_dilate", [one.window_dilation for one in dimensions], 1),
        ("rhs_reversal", [int(one.window_reversal) for one in dimensions], 0),
    )
    texts = [
        f"{name}={'x'.join(map(str, values))}"
        for name, values, usual in parts
        if usual is None or any(value != usual for value in values)
    ]
    return f"window={{{' '.join(texts)}}}"


def padding_text(padding: Any) -> str:
    """Return the attribute ``padding=0_1_2x...``."""
    interior = any(one.interior_padding for one in padding.dimensions)
    sizes = (
        f"{one.edge_padding_low}_{one.edge_padding_high}"
        + (f"_{one.interior_padding}" if interior else "")
        for one in padding.dimensions
    )
    return f"padding={'x'.join(sizes)}"


def dimension_labels(numbers: Any) -> str:
    """Return the attribute ``dim_labels=b01f_01io->b01f``."""
    lhs = _labels(
        {numbers.input_batch_dimension: "b", numbers.input_feature_dimension: "f"},
        numbers.input_spatial_dimensions,
    )
    rhs = _labels(
        {numbers.kernel_input_feature_dimension: "i", numbers.kernel_output_feature_dimension: "o"},
        numbers.kernel_spatial_dimensions,
    )
    output = _labels(
        {numbers.output_batch_dimension: "b", numbers.output_feature_dimension: "f"},
        numbers.output_spatial_dimensions,
    )
    return f"dim_labels={lhs}_{rhs}->{output}"


def _labels(letters: dict[int, str], spatial: Sequence[int]) -> str:
    labels = {**letters, **{place: str(number) for number, place in enumerate(spatial)}}
    return "".join(labels.get(place, "?") for place in range(min(max(labels) + 1, 64)))


def _quoted(text: str | bytes) -> str:
    return f'"{escaped(text)}"'


_METADATA: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("op_type", "op_name", "source_file"), _quoted),
    **dict.fromkeys(("source_line", "source_end_line", "source_column", "source_end_column"), str),
    "profile_type": index_text,
    "deduplicated_name": _quoted,
    "scheduling_name": lambda text: f'"{decoded(text)}"',
    "stack_frame_id": str,
}


def metadata_text(metadata: Any) -> str:
    """Return the content of ``metadata={...}`` (hlo_op_metadata.cc)."""
    parts = [
        f"{name}={form(value)}"
        for name, form in _METADATA.items()
        if (value := getattr(metadata, name))
    ]
    if metadata.HasField("metadata_payload") and metadata.metadata_payload.HasField("value"):
        parts.append(f"metadata_payload={_quoted(metadata.metadata_payload.value)}")
    return " ".join(parts)


def frontend_attributes_text(attributes: Any) -> str:
    """Return ``frontend_attributes={...}``, sorted by key."""
    pairs = sorted((decoded(entry.key), entry.value) for entry in attributes.map)
    values = ",".join(f"{key}={quoted_unless_json(value)}" for key, value in pairs)
    return f"frontend_attributes={{{values}}}"
