"""The formatting of single statements, their shapes, literals, and attribute values."""

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from re import Match

from hlo_lsp.hlo.vocabulary import AttributeKind, vocabulary
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_texts, is_balanced

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


_ARRAY_SHAPE = re.compile(r"[a-z]\w*\[([^\]]*)\](?:\{[^{}]*\})?")
_SEPARATE_WORDS = re.compile(r"[^\s{}(),]\s+[^\s{}(),]")
_ROW = re.compile(r"\{([^{}]+)\}")
_COMPLEX = re.compile(r"\([^()]*\)")
_ADJACENT_BRACES = re.compile(r"\{(?=\{)|\}(?=\})")
_MIN_COMMENTED_RANK = 4  # From this rank on, XLA prints a comment before each matrix.


def format_literal(text: str, shape: str) -> str:
    """Return the literal of a constant as XLA prints it.

    Matrices have blanks inside their braces, and so do rows of more than one element. The literal
    of a shape other than an array is unchanged.

    Args:
        text: The text between the parentheses of the constant.
        shape: The shape of the constant, as XLA prints it.
    """
    text = text.strip()
    array = _ARRAY_SHAPE.fullmatch(shape)
    if array is None or _SEPARATE_WORDS.search(text) is not None:
        return text
    rank = array[1].count(",") + 1 if array[1] else 0
    literal = "".join(text.split()).replace(",", ", ")
    if rank < 2 or literal == "{...}":
        return literal
    depth = len(literal) - len(literal.lstrip("{"))
    is_empty = "{}" in literal
    if rank >= _MIN_COMMENTED_RANK or depth > rank or (depth < rank and not is_empty):
        return text
    if is_empty and depth < rank:
        literal = literal.replace("{}", "{  }")
    return _ADJACENT_BRACES.sub(r"\g<0> ", _ROW.sub(_format_row, literal))


def _format_row(match: Match[str]) -> str:
    return f"{{ {match[1]} }}" if "," in _COMPLEX.sub("", match[1]) else match[0]


_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_TOKEN = re.compile(rf"{_STRING}|'[^'\n]*'|/\*index=\d+\*/|->|[\w.\-+%?]+|\\\S|\S")
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
    *("allow_spmd_sharding_propagation_to_output", "allow_spmd_sharding_propagation_to_parameters"),
    *("parameter_replication", "result_accuracy", "source_target_pairs", "statistics", "window"),
)
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
        "outfeed_shape": _format_shape_value,
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


def _format_shape_value(value: str) -> str:
    printed = format_shape(value)
    is_shape = printed is not None and (
        _ARRAY_SHAPE.fullmatch(printed) or _is_single_bracket(printed)
    )
    return printed if printed is not None and is_shape else value


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
        _FRONTEND_ATTRIBUTE.fullmatch(piece)
        for piece in comma_separated_texts(value, 1, len(value) - 1)
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


_WORDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.\-+%]+|\\\S|\S')


def has_same_words(one: str, other: str) -> bool:
    """Return whether two texts differ only in blanks and line ends between words."""
    return _WORDS.findall(one) == _WORDS.findall(other)


_PLAIN_OPERANDS = re.compile(r"(?:%?[A-Za-z_][\w.\-]*(?:, %?[A-Za-z_][\w.\-]*)*)?")
_OPERAND = re.compile(
    r"(/\*index=\d+\*/)?\s*(?:(\S(?:.*?\S)?)\s+)?(%?[A-Za-z_][\w.\-]*)", re.DOTALL
)
_ATTRIBUTE = re.compile(r"([\w\-]+)=\s*(\S.*)", re.DOTALL)
_PARAMETER = re.compile(r"(%?[A-Za-z_][\w.\-]*)\s*:\s*(\S.*)", re.DOTALL)
_RESULT_ARROW = re.compile(r"\s*->\s*")
_STRING_OR_GAP = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[^"]+')
_BRACES = re.compile(r" ?([{}]) ?")
_SPACED_BRACES = {"{": " {", "}": "}"}  # for the rows of the location tables
_INSTRUCTION_PREFIX = re.compile(r"\s*(ROOT\s+)?(%?)")
_LITERAL_OPCODES = frozenset({"constant", "parameter"})


def format_instruction(text: str, at: int = 0) -> str | None:
    """Return an instruction on one line without indentation; None if it cannot be formatted.

    ``text`` contains no comments and no other instruction.
    """
    parts = parse_instruction(text, at)
    if parts is None or not parts.is_closed or parts.bodies:
        return None
    line = parts.line
    begin = _INSTRUCTION_PREFIX.match(line, at)
    shape = format_shape(parts.shape.text)
    operands = None if shape is None else _format_operands(parts, shape)
    attributes = _format_attributes(line, parts.attributes_at)
    if begin is None or shape is None or operands is None or attributes is None:
        return None
    mark = "ROOT " if begin[1] else ""
    result = f"{shape} {parts.opcode.text}" if shape else parts.opcode.text
    return f"{mark}{begin[2]}{parts.name.text} = {result}({operands}){attributes}"


def format_computation_head(text: str) -> str | None:
    """Return the first line of a computation, up to its brace."""
    match = load_grammar("module").expression("computation_line").fullmatch(text)
    if match is None:
        return None
    sign = "%" if text[match.start("NAME") - 1 : match.start("NAME")] == "%" else ""
    name = f"{'ENTRY ' if match['ENTRY'] else ''}{sign}{match['NAME']}"
    if match["SIGNATURE"] is None:
        return f"{name} {{"
    signature = _format_signature(match["SIGNATURE"])
    return None if signature is None else f"{name} {signature} {{"


def format_computation_end(text: str) -> str | None:
    """Return the brace that closes a computation, with its attributes."""
    start = text.index("}") + 1
    attributes = _format_attributes(text, start)
    return None if attributes is None else f"}}{attributes}"


def format_module_header(text: str) -> str | None:
    """Return the first line of a module."""
    match = load_grammar("module").expression("module_header").fullmatch(text)
    if match is None or not is_balanced(text, 0):
        return None
    name = text[match.end("SPACE") : match.end("NAME")]
    attributes = _format_attributes(text, match.end("NAME"))
    return None if attributes is None else f"HloModule {name}{attributes}"


def format_table_row(text: str) -> str:
    """Return a label or row of the location tables."""
    parts = (
        part if part[0] == '"' else " ".join(part.split())
        for part in _STRING_OR_GAP.findall(text.strip())
    )
    row = " ".join(filter(None, parts))
    return row if '"' in row else _BRACES.sub(lambda brace: _SPACED_BRACES[brace[1]], row)


def _format_operands(parts: InstructionText, shape: str) -> str | None:
    text = parts.literal.text
    if parts.opcode.text in _LITERAL_OPCODES:
        return format_literal(text, shape)
    if _PLAIN_OPERANDS.fullmatch(text):
        return text
    found = []
    for piece in comma_separated_texts(text, 0, len(text)):
        match = _OPERAND.fullmatch(piece)
        printed = format_shape(match[2] or "") if match is not None else None
        if match is None or printed is None:  # The operand is a nested instruction.
            return None
        found.append(f"{match[1] or ''}{printed + ' ' if printed else ''}{match[3]}")
    return ", ".join(found)


def _format_attributes(text: str, start: int) -> str | None:
    rest = text[start:].strip()
    if not rest:
        return ""
    if rest[0] != ",":
        return None
    found = []
    for piece in comma_separated_texts(rest, 1, len(rest)) or [""]:
        match = _ATTRIBUTE.fullmatch(piece)
        if match is None:
            return None
        found.append(f", {match[1]}={format_attribute_value(match[1], match[2])}")
    return "".join(found)


def _format_signature(text: str) -> str | None:
    close = closing_bracket(text, 0)
    arrow = None if close is None else _RESULT_ARROW.match(text, close + 1)
    if close is None or arrow is None:
        return None
    found = []
    for piece in comma_separated_texts(text, 1, close):
        match = _PARAMETER.fullmatch(piece)
        shape = None if match is None else format_shape(match[2])
        if match is None or shape is None:
            return None
        found.append(f"{match[1]}: {shape}")
    result = format_shape(text[arrow.end() :].strip())
    return None if result is None else f"({', '.join(found)}) -> {result}"
