"""The formatting of shapes, literals, and attribute values."""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial

from hlo_lsp.hlo.specs import AttributeKind
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.syntax.statements import closing_bracket, top_level_commas

_SHAPE_TOKEN = re.compile(r"/\*index=\d+\*/|\s+|[()\[\]{},]|[^\s()\[\]{},]+")


@lru_cache(maxsize=1 << 12)
def format_shape(text: str) -> str | None:
    """Return a shape, or several, with blanks only after the commas of tuples."""
    depth = 0  # the number of open brackets in which no blank follows a comma
    found: list[str] = []
    for match in _SHAPE_TOKEN.finditer(text):
        part = match[0]
        if part.isspace():
            continue
        if part in "[{":
            depth += 1
        elif part in "]}":
            depth -= 1
        found.append(", " if part == "," and depth == 0 else part)
    return "".join(found) if depth == 0 else None


def split_at_commas(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the items between the commas outside of brackets."""
    for stop in (*top_level_commas(text, start, end), end):
        yield text[start:stop].strip()
        start = stop + 1


_ARRAY_SHAPE = re.compile(r"[a-z]\w*\[([^\]]*)\](?:\{[^{}]*\})?")
_SEPARATE_WORDS = re.compile(r"[^\s{}(),]\s+[^\s{}(),]")


def format_literal(text: str, shape: str) -> str:
    """Return the literal of a scalar or vector as XLA prints it, and any other unchanged."""
    text = text.strip()
    array = _ARRAY_SHAPE.fullmatch(shape)
    if array is None or "," in array[1] or _SEPARATE_WORDS.search(text) is not None:
        return text
    return "".join(text.split()).replace(",", ", ")


_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_TOKEN = re.compile(rf"{_STRING}|'[^'\n]*'|/\*index=\d+\*/|->|[\w.\-+%?]+|\S")
_NUMBER = re.compile(r"-?\d")
_WORD = re.compile(r"[\w.\-+%?]")
_CLOSING_CHARACTERS = frozenset('])}"')
_WITHOUT_BLANKS = re.compile(r"\S+")
_NAME_LIST = re.compile(r"\{[\w.\-%]+(?:, [\w.\-%]+)*\}")
_METADATA = re.compile(rf"\{{(?:[a-z_]+=(?:{_STRING}|\w+|\{{[\d,]*\}})(?: (?=[a-z])|(?=\}})))*\}}")
_FRONTEND_ATTRIBUTE = re.compile(rf"([\w.\-]+=)\s*({_STRING}|\{{.*\}})", re.DOTALL)


_DEVICE_GROUPS = re.compile(
    r"\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?"  # iota replica groups
    r"|(?:mesh\[[^\[\]]*\]|\([^\s()]*(?:\([\d,]+\))?\))(?: \{[^{}]*\})?"  # axes of a mesh
)
_PACKED_ATTRIBUTES = (
    "allow_spmd_sharding_propagation_to_output", "allow_spmd_sharding_propagation_to_parameters",
    "parameter_replication", "result_accuracy", "source_target_pairs", "statistics", "window",
)  # fmt: skip
_LISTED_ATTRIBUTES = ("domain", "origin", "output_to_operand_aliasing", "sharding", "slice")


def format_attribute_value(name: str, value: str) -> str:
    """Return the value of an attribute as XLA prints it; ``value`` has no blanks at its ends."""
    write = _formatters().get(name)
    return value if write is None else write(value)


@cache
def _formatters() -> dict[str, Callable[[str], str]]:
    words = vocabulary()
    packed = partial(_format_bracketed, is_wide=False)
    listed = partial(_format_bracketed, is_wide=True)
    of_kind: dict[AttributeKind, Callable[[str], str]] = {
        AttributeKind.INTEGERS: packed,
        AttributeKind.ENUMS: packed,
        AttributeKind.COMPUTATIONS: listed,
        AttributeKind.INSTRUCTIONS: listed,
    }
    known = [*words.attributes.values(), *words.header.values()]
    return {
        **{each.name: of_kind[each.kind] for each in known if each.kind in of_kind},
        **dict.fromkeys(_PACKED_ATTRIBUTES, packed),
        **dict.fromkeys(_LISTED_ATTRIBUTES, listed),
        "buffer_donor": _format_padded,
        "input_output_alias": _format_padded,
        "replica_groups": _format_device_groups,
        "device_ids": _format_device_groups,  # the second part of replica groups by mesh axes
        "entry_computation_layout": _format_shape_list,
        "operand_layout_constraints": _format_shape_list,
        "metadata": _format_metadata,
        "frontend_attributes": _format_frontend_attributes,
    }


def _format_bracketed(value: str, is_wide: bool) -> str:
    """Return a value in one pair of brackets, with blanks after its commas if ``is_wide``."""
    # A list may have thousands of devices, so formatted text is recognized without tokens.
    as_printed = _NAME_LIST if is_wide else _WITHOUT_BLANKS
    if as_printed.fullmatch(value) or not _is_single_bracket(value):
        return value
    return _space_tokens(value, is_wide)


def _is_single_bracket(value: str) -> bool:
    return value[0] in "{([" and closing_bracket(value, 0) == len(value) - 1


def _format_padded(value: str) -> str:
    inside = _space_tokens(value, is_wide=True)[1:-1] if _is_single_bracket(value) else ""
    return f"{{ {inside} }}" if inside else value


def _format_device_groups(value: str) -> str:
    if value.startswith("{"):
        return _format_bracketed(value, is_wide=False)
    printed = _space_tokens(value, is_wide=False)
    return printed if _DEVICE_GROUPS.fullmatch(printed) else value


def _format_shape_list(value: str) -> str:
    printed = format_shape(value[1:-1]) if _is_single_bracket(value) else None
    return value if printed is None else f"{value[0]}{printed}{value[-1]}"


def _format_metadata(value: str) -> str:
    if _METADATA.fullmatch(value):
        return value
    printed = _space_tokens(value, is_wide=False)
    return printed if _METADATA.fullmatch(printed) else value


def _format_frontend_attributes(value: str) -> str:
    """Return the frontend attributes; XLA reads the values in braces as strings with all blanks."""
    if not _is_single_bracket(value):
        return value
    found = [
        _FRONTEND_ATTRIBUTE.fullmatch(piece) for piece in split_at_commas(value, 1, len(value) - 1)
    ]
    parts = [match[1] + match[2] for match in found if match is not None]
    return value if len(parts) < len(found) else f"{{{','.join(parts)}}}"


@lru_cache(maxsize=1 << 12)
def _space_tokens(value: str, is_wide: bool) -> str:
    """Return the tokens of a value with the blanks that XLA prints between them."""
    found: list[str] = []
    inside: list[bool] = []  # for each open bracket, True if blanks follow its commas
    before = left = ""
    for right in _TOKEN.findall(value):
        if _needs_blank(before, left, right, bool(inside) and inside[-1]):
            found.append(" ")
        found.append(right)
        if right in {"{", "[", "("}:
            inside.append(is_wide and left != "mesh")
        elif right in {"}", "]", ")"} and inside:
            inside.pop()
        before, left = left, right
    return "".join(found)


def _needs_blank(before: str, left: str, right: str, is_wide: bool) -> bool:
    """Return whether XLA prints a blank between two tokens; ``before`` is the preceding token."""
    if left == ",":
        return is_wide and not (_NUMBER.match(before) and _NUMBER.match(right))
    if left == ":":  # between the index in the output and the parameter of an alias
        return before == "}" and right == "("
    if right == "{":
        return left[-1:] in _CLOSING_CHARACTERS - {"}"}
    if _WORD.match(right) is None or right == "T":  # ``T`` is a transposition: [4]T(1,0)
        return False
    return _WORD.match(left[-1:]) is not None or (
        left[-1:] in _CLOSING_CHARACTERS and not _NUMBER.match(right)
    )
