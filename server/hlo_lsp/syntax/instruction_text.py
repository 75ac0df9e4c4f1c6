"""The text of an instruction, split into parts with columns.

Module files contain this text, and values files, without ``ROOT``, after ``from instruction:``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.hlo.vocabulary import CALL_ATTRIBUTES
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.statements import (
    DOTS,
    closing_bracket,
    comma_separated_spans,
    defined_name_columns,
    is_balanced,
    tokens_with_depth,
    top_level_commas,
    without_comments,
)

T = TypeVar("T")
_DOTS_BEFORE_ATTRIBUTES = re.compile(rf"(?:{DOTS.pattern})[)\]}}\s]*(?=,\s*[\w\-]+=)")
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=")
_COMMA = re.compile(r"\s*,\s*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)")
_COMPUTATION_BODY = re.compile(r"\{\s*(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s")
_COMPUTATION_LIST = re.compile(r"\{\s*(?=\{)")  # a list of inline computations
# These have a literal or a number in the parentheses.
OPCODES_WITHOUT_OPERANDS = frozenset({"constant", "parameter"})
_CALL_NAMES = "|".join(sorted(CALL_ATTRIBUTES))
_CALL = re.compile(rf"\b(?:{_CALL_NAMES})=")
# The first call, after attributes with a word or numbers.
_PERCENT_CALL = re.compile(
    rf"(?:, (?!{_CALL.pattern})[\w\-]+=(?:[\w.\-]+|\{{[0-9,]*\}}))*"
    rf", ({_CALL_NAMES})=%([A-Za-z_][\w.\-]*)(?=,|\Z)"
)
# A called computation without a percent sign, or a computation that is written inline.
_PLAIN_CALL = re.compile(rf"{_CALL.pattern}\s*(?:[^%{{\s]|\{{(?:[^}}]*,)?\s*[^%\s,}}])")
_PREDECESSORS = "control-predecessors"
FRAME = re.compile(r"stack_frame_id=(\d{1,18})\b")  # a literal first makes searches fast
_PERCENT_NAME = re.compile(r"%([\w.\-]+)")
_PLAIN_OPERANDS = re.compile(r'[^()\[\]{}"/\\]*\)')
_PERCENT_OPERAND = re.compile(r"%([\w.\-]+(?:#[0-9]{1,9})*)\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of a text: columns in code points, the end exclusive, and the text between them."""

    start: int
    end: int
    text: str

    def __contains__(self, column: int) -> bool:
        return self.start <= column <= self.end

    def moved(self, columns: int) -> "TextSpan":
        """Return the span in a text with this many columns before it."""
        return TextSpan(self.start + columns, self.end + columns, self.text)


@dataclass(frozen=True, slots=True)
class AttributeText:
    """An attribute with its value: ``kind=kLoop``, ``metadata={...}``."""

    name: str
    value: TextSpan

    @property
    def is_inline(self) -> bool:
        """True if the value is an inline computation or a list of inline computations."""
        if self.name not in CALL_ATTRIBUTES:
            return False
        text = self.value.text.lstrip()
        listed = _COMPUTATION_LIST.match(text)
        return _COMPUTATION_BODY.match(text, 0 if listed is None else listed.end()) is not None


class Attributes:
    """The attributes of an instruction: the text after its operands, in which columns count.

    Most instructions of a module have the attributes of others. ``attributes_of`` returns the same
    object for them, so that a text is read once.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def items(self) -> tuple[AttributeText, ...]:
        """The attributes in order; a value ends at the first comma outside of its brackets."""
        found = []
        for start, end in comma_separated_spans(self.text, 0, len(self.text)):
            match = _ATTRIBUTE.match(self.text, start, end)
            if match is not None:
                value = TextSpan(match.end(), end, self.text[match.end() : end])
                found.append(AttributeText(match[1], value))
        return tuple(found)

    def value(self, name: str) -> TextSpan | None:
        """Return the value of an attribute, or None if it is missing."""
        text, mark = self.text, f"{name}="
        column = text.find(mark)
        if column < 0:
            return None
        if text.endswith(", ", 0, column) and _is_outside_brackets(text, column):
            # An attribute before long ones, such as metadata, is found without reading them.
            start = column + len(mark)
            return _text_span(start, text[start : next(top_level_commas(text, start), None)])
        return next((found.value for found in self.items if found.name == name), None)

    @property
    def metadata(self) -> Mapping[str, str]:
        """``op_name``, ``source_file``, ``source_line``, ``stack_frame_id`` ... as printed."""
        value = self.value("metadata")
        return {} if value is None else _metadata(value.text)

    @cached_property
    def calls(self) -> tuple[tuple[str, TextSpan], ...]:
        """The computations that the instruction calls by name, each with its attribute."""
        if _CALL.search(self.text) is None:
            return ()
        plain = _PERCENT_CALL.match(self.text)
        if plain is not None and _CALL.search(self.text, plain.end()) is None:
            return ((plain[1], _text_span(plain.start(2), plain[2])),)
        return tuple(
            (attribute.name, span)
            for attribute in self.items
            if attribute.name in CALL_ATTRIBUTES and not attribute.is_inline
            for span in self._names_in(attribute.value)
        )

    @cached_property
    def called(self) -> tuple[str, ...]:
        """The names of the computations that the instruction calls."""
        return tuple(span.text for _, span in self.calls)

    @property
    def predecessors(self) -> list[TextSpan]:
        """The instructions in ``control-predecessors``."""
        value = self.value(_PREDECESSORS)
        return [] if value is None else self._names_in(value)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """All names in the text that may be those of instructions or computations."""
        names = frozenset(_PERCENT_NAME.findall(self.text))
        if _PLAIN_CALL.search(self.text):  # nearly all names have a percent sign
            names = names.union(self.called)
        return names.union(span.text for span in self.predecessors)

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """The numbers after ``stack_frame_id=``."""
        return tuple(map(int, FRAME.findall(self.text)))

    def _names_in(self, value: TextSpan) -> list[TextSpan]:
        return [
            _text_span(match.start(1), match[1])
            for match in _NAME.finditer(self.text, value.start, value.end)
        ]


def _is_outside_brackets(text: str, column: int) -> bool:
    """Return False if a column is in brackets, or may be in a string or in a comment."""
    before = text[:column]
    if '"' in before:
        before = _STRING.sub("", before)
    is_simple = not ('"' in before or "/" in before or "\\" in before)
    return is_simple and sum(map(before.count, "([{")) == sum(map(before.count, ")]}"))


MAX_SHORT_LENGTH = 1_000  # code points; the attributes of a kernel may have 100,000


def cached_by_text(read: Callable[[str], T]) -> Callable[[str], T]:
    """Keep the last results of a function of the text of attributes, of long texts only a few."""
    of_short, of_long = lru_cache(maxsize=1 << 11)(read), lru_cache(maxsize=1 << 4)(read)

    def result(text: str) -> T:
        return (of_short if len(text) < MAX_SHORT_LENGTH else of_long)(text)

    return result


attributes_of = cached_by_text(Attributes)


@cached_by_text
def _metadata(value: str) -> Mapping[str, str]:
    """Return the fields of the value of ``metadata``; many instructions have equal ones."""
    return {field.name: field.value for field in metadata_fields(f"metadata={value}")}


@dataclass(frozen=True, slots=True)
class InstructionText:
    """The parts of an instruction.

    ``shape`` is empty if the text omits it. ``operands`` are names, ``tuple#1`` for an element, and
    empty ones for inline operands. Constants and parameters have no operands. ``literal`` is the
    text in the parentheses.
    """

    name: TextSpan
    shape: TextSpan
    opcode: TextSpan
    operands: tuple[TextSpan, ...]
    literal: TextSpan
    attributes_at: int
    line: str

    @property
    def _attributes(self) -> Attributes:
        return attributes_of(self.line[self.attributes_at :])

    @property
    def attributes(self) -> Iterator[AttributeText]:
        """The attributes in order; a value ends at the first comma outside of its brackets."""
        for found in self._attributes.items:
            yield AttributeText(found.name, found.value.moved(self.attributes_at))

    def attribute(self, name: str) -> TextSpan | None:
        """Return the value of an attribute, or None if it is missing."""
        value = self._attributes.value(name)
        return None if value is None else value.moved(self.attributes_at)

    @property
    def metadata(self) -> Mapping[str, str]:
        """``op_name``, ``source_file``, ``source_line``, ``stack_frame_id`` ... as printed."""
        return self._attributes.metadata

    @property
    def called(self) -> list[TextSpan]:
        """The computations that the instruction calls by name."""
        return [span.moved(self.attributes_at) for _, span in self._attributes.calls]

    @property
    def bodies(self) -> list[AttributeText]:
        """The inline computations; each one of a list is an item."""
        return [
            AttributeText(attribute.name, body)
            for attribute in self.attributes
            if attribute.is_inline
            for body in _split_bodies(self.line, attribute.value)
        ]

    @property
    def reads(self) -> list[TextSpan]:
        """The instructions whose results are read, including operands of inline operands."""
        found: list[TextSpan] = []
        for span in self.operands:
            found += [span] if span.text else _inline_operand_names(self.line, span.start)
        return found

    @property
    def predecessors(self) -> list[TextSpan]:
        """The instructions in ``control-predecessors``."""
        return [span.moved(self.attributes_at) for span in self._attributes.predecessors]

    @property
    def is_closed(self) -> bool:
        """True if all brackets and strings are closed."""
        return is_balanced(self.line, self.name.end)


_ELEMENT_NUMBER = re.compile(r"[0-9]{1,9}")


def split_element(name: str) -> tuple[str, int] | None:
    """Return the tuple and the element number of ``tuple#3``, or None for another operand."""
    if "#" not in name:  # nearly always, and this is called for every operand
        return None
    holder, _, number = name.rpartition("#")
    return (holder, int(number)) if holder and _ELEMENT_NUMBER.fullmatch(number) else None


def tuples_of_element(name: str) -> tuple[str, ...]:
    """Return the tuples that an operand such as ``tuple#1#0`` names: ``tuple#1`` and ``tuple``."""
    parts = name.split("#")
    return tuple("#".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))


@cache
def _operand_at_end() -> re.Pattern[str]:
    operand = load_grammar("module").expression("operand").pattern
    return re.compile(rf"(?<![\w.\-#]){operand}\s*$")


@lru_cache(maxsize=256)
def parse_instruction(line: str, at: int = 0) -> InstructionText | None:
    """Return the instruction that begins at column ``at`` of a line, or None."""
    line = line[:at] + without_comments(line[at:])  # before it may be thousands of instructions
    match = load_grammar("module").expression("instruction_line").match(line, at)
    if match is None:
        return None
    opened = match.start("REST")
    end, attributes_at = _operands_end(line, opened)
    opcode = _text_span(match.start("OPCODE"), match["OPCODE"])
    shape = match["SHAPE"]
    has_operands = opcode.text not in OPCODES_WITHOUT_OPERANDS
    return InstructionText(
        _text_span(match.start("NAME"), match["NAME"]),
        _text_span(opcode.start if shape is None else match.start("SHAPE"), shape or ""),
        opcode,
        tuple(_operand_spans(line, opened, end)) if has_operands else (),
        TextSpan(opened, end, line[opened:end]),
        attributes_at,
        line,
    )


def parse_shortened(text: str) -> InstructionText | None:
    """Return what is left of an instruction with dots in place of text; None without a name.

    If only the shape is missing, these are all other parts. Else they are the name and the
    attributes after the first dots that precede some.
    """
    columns = defined_name_columns(text)
    if columns is None:
        return None
    whole = parse_instruction(DOTS.sub(lambda dots: " " * len(dots[0]), text))
    if whole is not None:
        return whole
    name = TextSpan(*columns, text[slice(*columns)])
    dots = _DOTS_BEFORE_ATTRIBUTES.search(text)
    attributes_at = len(text) if dots is None else dots.end()
    nothing = TextSpan(name.end, name.end, "")
    return InstructionText(name, nothing, nothing, (), nothing, attributes_at, text)


def attributes_column(text: str, opened: int) -> int:
    """Return the column after the operands of an instruction."""
    match = _PLAIN_OPERANDS.match(text, opened)
    return _operands_end(text, opened)[1] if match is None else match.end()


def _operands_end(text: str, opened: int) -> tuple[int, int]:
    """Return the columns of the parenthesis that closes the operands, and after it."""
    close = closing_bracket(text, opened - 1)
    return (len(text), len(text)) if close is None else (close, close + 1)


def operand_names(text: str, opened: int, opcode: str) -> tuple[str, ...]:
    """Return the operands of an instruction whose parenthesis opens before column ``opened``.

    This function is optimized, as it runs for every instruction of a module.
    """
    if opcode in OPCODES_WITHOUT_OPERANDS:
        return ()
    end = text.find(")", opened)
    inside = text[opened:end]
    if end >= 0 and "(" not in inside and "[" not in inside:
        if not inside or inside.isspace():
            return ()
        names = _PERCENT_OPERAND.findall(inside)
        if names and inside.count(",") == len(names) - 1:
            return tuple(names)
    close = closing_bracket(text, opened - 1)
    spans = _operand_spans(text, opened, len(text) if close is None else close)
    return tuple(span.text for span in spans)


def _operand_spans(line: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the operand names between two columns, split at commas outside of brackets."""
    if line[start:end].isspace() or start == end:
        return
    for first, last in comma_separated_spans(line, start, end):
        operand = _operand_at_end().search(line, first, last)
        if operand is not None:
            yield _text_span(operand.start("OPERAND_NAME"), operand["OPERAND_NAME"])
        else:
            yield _text_span(last - len(line[first:last].lstrip()), "")


def _split_bodies(line: str, value: TextSpan) -> Iterator[TextSpan]:
    """Yield the inline computations of an attribute, braces included."""
    start = line.index("{", value.start)
    listed = _COMPUTATION_LIST.match(line, start)
    at = start if listed is None else listed.end()
    while at < value.end and line[at] == "{":
        close = closing_bracket(line, at)
        end = value.end if close is None else close + 1
        yield TextSpan(at, end, line[at:end])
        comma = _COMMA.match(line, end) if listed is not None else None
        if comma is None:
            return
        at = comma.end()


def _inline_operand_names(line: str, start: int) -> Iterator[TextSpan]:
    """Yield the names that an inline operand reads, such as ``f32[] add(%a, %b)``.

    One pass finds them at any depth: a name at the end of an operand is read.
    """
    has_operands: list[bool] = []  # for each open bracket: True if it contains operands
    for match, depth in tokens_with_depth(line, start):
        sign = match[0]
        if depth < 0 or (depth == 0 and sign == ","):
            return
        word = _operand_at_end().search(line, start, match.start())
        if sign in ",)" and has_operands and has_operands[-1] and word is not None:
            yield _text_span(word.start("OPERAND_NAME"), word["OPERAND_NAME"])
        if sign in "([{":
            has_operands.append(
                sign == "("
                and word is not None
                and word["OPERAND_NAME"] not in OPCODES_WITHOUT_OPERANDS
            )
        elif sign in ")]}" and has_operands:
            has_operands.pop()
        start = match.end()


def _text_span(start: int, text: str) -> TextSpan:
    return TextSpan(start, start + len(text), text)
