"""Instructions whose whole text has a known form, recognized by a few expressions.

Nearly all instructions are regular. The others are read part by part, which takes ten times as
long: what is damaged or unknown is in one of them.
"""

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import NamedTuple

from hlo_lsp.hlo.vocabulary import AttributeKind, vocabulary
from hlo_lsp.model.unknown_texts import is_known_shape, words_of_instructions
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import MAX_SHORT_LENGTH, cached_by_text
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import without_comments
from hlo_lsp.syntax.texts_without_names import without_names
from hlo_lsp.syntax.used_value import instruction_column

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_PLAIN = rf'[^()\[\]{{}}"]*(?:{_STRING}[^()\[\]{{}}"]*)*'


def _nested(depth: int) -> str:
    """Return an expression of a pair of brackets with at most ``depth`` levels in it."""
    inner = rf"(?:{_nested(depth - 1)}{_PLAIN})*" if depth else ""
    return rf"[(\[{{]{_PLAIN}{inner}[)\]}}]"


_MAX_DEPTH = 7  # of the JSON in nearly all texts
VALUE = rf'[^,()\[\]{{}}"]*(?:(?:{_STRING}|{_nested(_MAX_DEPTH)})[^,()\[\]{{}}"]*)*'
# A value in quotes or braces ends with them.
_WHOLE_VALUE = rf'(?:(?:{_STRING}|(?=\{{){_nested(_MAX_DEPTH)})\s*(?=,|\Z)|(?=[^\s,"{{]){VALUE})'
_ATTRIBUTES = re.compile(rf"\s*(?:,\s*[\w\-]+=\s*{_WHOLE_VALUE})*")
_BEGINNING = re.compile(r", ([\w\-]+=.)")
_NUMBER = r"-?(?:[0-9][0-9.]*(?:e[+\-]?[0-9]+)?|inf|nan(?:\(0x[0-9a-f]+\))?)"
LITERALS = {
    "constant": re.compile(
        rf"(?:[\s{{}}(),]|/\*[^*]*\*/|{_NUMBER}(?![\w.])|true|false|\.\.\."
        rf"|{_STRING})*\)"
    ),
    "parameter": re.compile(r"\s*[0-9]+\s*\)"),
}
_SHAPE = r"[a-z]\w*\[[^\[\]()]*\](?:\{[^{}]*\})?"
_SHAPES = re.compile(rf"(?<!\w){_SHAPE}")
# Attributes whose values have a notation of their own, which is read in full.
READ_VALUES = (
    *("sharding", "replica_groups", "control-predecessors"),
    *("branch_computations", "called_computations"),
)
_READ_BEGINNINGS = frozenset(f"{name}={{" for name in READ_VALUES) | {"replica_groups=["}
_REPLICATED = ", sharding={replicated}"  # nearly all shardings without several devices


class _Forms(NamedTuple):
    """The expressions of instructions, and the beginnings of their attributes.

    Attributes:
        plain: Beginnings of attributes that are read no further here.
        known: All known beginnings: name, ``=``, and the first character of the value.
        wrong_value: An attribute with a value that does not have its known form.
    """

    operands: re.Pattern[str]
    metadata: re.Pattern[str]
    wrong_value: re.Pattern[str]
    plain: frozenset[str]
    known: frozenset[str]


@cache
def _forms() -> _Forms:
    name = re.sub(r"\?P<\w+>", "?:", load_grammar("module").expression("operand").pattern)
    operand = rf"\s*(?:/\*index=[0-9]+\*/\s*)?(?:{_SHAPE}\s+)?{name}\s*"
    by_value: defaultdict[str, list[str]] = defaultdict(list)
    for attribute in vocabulary().attributes:
        value = value_of(attribute)
        if value is not None:
            by_value[value].append(attribute)
    wrong = "|".join(
        rf"(?:{'|'.join(names)})=(?!(?:{value})\s*(?:,|$))" for value, names in by_value.items()
    )
    known = words_of_instructions().beginnings
    checked = {one for one in known if value_of(one[:-2]) is not None}
    field = "|".join(
        f"{key}=(?:{metadata_value(key)})"
        for key in sorted(vocabulary().attributes["metadata"].keys)
    )
    return _Forms(
        re.compile(rf"(?:{operand}(?:,{operand})*|\s*)\)"),
        re.compile(rf"metadata=\{{\s*(?:(?:{field})[\s,]*)*\}}"),
        re.compile(rf", (?:{wrong})"),
        known - checked - _READ_BEGINNINGS,
        known,
    )


def is_regular(text: str, opened: int, opcode: str, shape: str) -> bool:
    """Return True if an instruction is neither damaged nor of an unknown form.

    This function is optimized, as it runs for every instruction. False means that the text needs
    to be read part by part.

    Args:
        text: The text, which ends with the instruction.
        opened: The column after the parenthesis of the operands.
        opcode: The opcode.
        shape: The shape; empty if the text omits it.
    """
    expression = _operands_of(opcode, shape)
    operands = None if expression is None else expression.match(text, opened)
    if operands is None:
        return False
    end = operands.end()
    has_shapes = text.find("[", opened, end) >= 0
    if has_shapes and not all(map(is_known_shape, _SHAPES.findall(text, opened, end))):
        return False
    return end == len(text) or _has_known_attributes(text[end:])


@lru_cache(maxsize=1 << 13)
def _operands_of(opcode: str, shape: str) -> re.Pattern[str] | None:
    """Return the expression of the operands; None if the opcode or the shape is not known."""
    if vocabulary().opcode(opcode) is None or (shape and not is_known_shape(shape)):
        return None
    return LITERALS.get(opcode, _forms().operands)


@cached_by_text
def _has_known_attributes(text: str) -> bool:
    """Return whether the text after the operands consists of attributes of a known form."""
    if not has_attributes_only(text, 0):
        return False
    forms = _forms()
    start = text.find("metadata={")
    beginnings = _BEGINNING.findall(text.replace(_REPLICATED, ""))
    if not forms.plain.issuperset(beginnings):
        is_known = forms.known.issuperset(beginnings)
        if not is_known or not _READ_BEGINNINGS.isdisjoint(beginnings):
            return False
        if forms.wrong_value.search(text, 0, len(text) if start < 0 else start):
            return False
    return start < 0 or forms.metadata.match(text, start) is not None


def has_attributes_only(text: str, start: int) -> bool:
    """Return True if a text from a column on is a list of attributes, each after a comma."""
    return _ATTRIBUTES.fullmatch(text, start) is not None


_NUMBERS_OF_METADATA = frozenset(
    {
        *("source_line", "source_end_line", "source_column", "source_end_column"),
        "stack_frame_id",
    }
)
_STRINGS_OF_METADATA = frozenset(
    {
        *("op_type", "op_name", "source_file"),
        *("deduplicated_name", "scheduling_name"),
    }
)


@cache
def metadata_value(key: str) -> str:
    """Return the expression of the value of a field of metadata."""
    if key in _NUMBERS_OF_METADATA:
        return "-?[0-9]+"
    return _STRING if key in _STRINGS_OF_METADATA else rf'{_STRING}|\{{[^{{}}]*\}}|[^\s,"{{}}]+'


# The values of attributes that have the same notation in all of them.
_VALUES = {
    AttributeKind.FLAG: "true|false",
    AttributeKind.INTEGER: "-?[0-9]+",
    AttributeKind.INTEGERS: r"\{[\s0-9,\-]*\}",
    AttributeKind.COMPUTATION: r"%?[A-Za-z_][\w.\-]*|\{[\s\S]*",
    AttributeKind.STRING: _STRING,
}
_SIZES = "-?[0-9]+(?:x-?[0-9]+)*"
_PAD = "-?[0-9]+_-?[0-9]+"
_PADS = f"{_PAD}(?:x{_PAD})*"
_WINDOW_FIELD = rf"(?:size|stride|lhs_dilate|rhs_dilate|rhs_reversal)={_SIZES}|pad={_PADS}"
_RANGE = r"\[\s*[0-9]+\s*:\s*[0-9]+\s*(?::\s*[0-9]+\s*)?\]"
_PAIR = r"\{\s*[0-9]+\s*,\s*[0-9]+\s*\}"
# The values of single attributes, as ``hlo_parser.cc`` reads them.
_NOTATIONS = {
    "dim_labels": r"[0-9a-z?]+_[0-9a-z?]+->[0-9a-z?]+",
    "padding": rf"{_PAD}(?:_[0-9]+)?(?:x{_PAD}(?:_[0-9]+)?)*",
    "slice": rf"\{{\s*(?:{_RANGE}[\s,]*)*\}}",
    "source_target_pairs": rf"\{{\s*(?:{_PAIR}[\s,]*)*\}}",
    "window": rf"\{{\s*(?:(?:{_WINDOW_FIELD})(?:\s+|(?=\}})))*\}}",
}


@cache
def value_of(name: str) -> str | None:
    """Return the expression of the values of an attribute; None if they are not read further."""
    if name in _NOTATIONS:
        return _NOTATIONS[name]
    words = vocabulary()
    found: list[str] = []
    for attribute in (
        words.attributes[name],
        *(variant for (of_name, _), variant in words.variants.items() if of_name == name),
    ):
        value = _VALUES.get(attribute.kind)
        if attribute.kind is AttributeKind.ENUM and attribute.values:
            value = "|".join(map(re.escape, attribute.values))
        if value is None:
            return None
        found.append(value)
    return "|".join(found)


def is_regular_instruction(record: InstructionLine, form: str) -> bool:
    """Return True if an instruction is regular; ``form`` is its text ``without_names``."""
    if record.bodies:
        return False
    if len(form) < MAX_SHORT_LENGTH:
        return _is_regular_form(form)
    return is_regular(record.text, record.opened, record.spelled, record.shape)


@lru_cache(maxsize=1 << 13)
def _is_regular_form(form: str) -> bool:
    return _is_regular_match(_instruction().match(form))


def _is_regular_match(found: re.Match[str] | None) -> bool:
    return found is not None and is_regular(
        found.string, found.start("REST"), found["OPCODE"], found["SHAPE"] or ""
    )


# The entries of all elements of a tuple repeat its instruction, which may have 100,000 characters.
@lru_cache(maxsize=1 << 4)
def has_regular_instruction(line: str) -> bool:
    """Return True if the text after ``from instruction:`` in a line of an entry is regular."""
    if len(line) < MAX_SHORT_LENGTH:
        form = without_names(line[instruction_column(line) :])
        return _is_regular_form(without_comments(form))
    return _is_regular_match(match_instruction(line))


@lru_cache(maxsize=1 << 4)
def match_instruction(line: str) -> re.Match[str] | None:
    """Match the text after ``from instruction:`` in the last line of an entry."""
    return _instruction().match(without_comments(line), instruction_column(line))


@cache
def _instruction() -> re.Pattern[str]:
    return load_grammar("module").expression("instruction_line")
