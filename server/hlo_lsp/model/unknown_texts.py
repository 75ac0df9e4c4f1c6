"""Texts of dumps without a form that this version knows: lines, shapes, and attributes."""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

from hlo_lsp.hlo.vocabulary import AttributeKind, AttributeSpec, vocabulary
from hlo_lsp.model.shape import ArrayShape, ShapeError, arrays_of, element_texts, parse_shape
from hlo_lsp.syntax.damaged_text import is_damaged, is_damaged_line, without_numbers
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import LineRules, ParseFailure, load_grammar
from hlo_lsp.syntax.module_records import ModuleHeader
from hlo_lsp.syntax.records import BrokenRecord, Label, Record
from hlo_lsp.syntax.scanners import (
    MAX_LINE_LENGTH,
    memory_scanner,
    module_scanner,
    thunk_scanner,
)
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_spans, is_balanced
from hlo_lsp.syntax.used_value import UsedValue

# Lines.

_PROTO_LINE = "proto_line"  # a form of reports that other lines can have, too


def is_unknown_record(kind: FileKind, record: Record, lines: Sequence[str]) -> bool:
    """Return True if a record of a file is a line or a statement of an unknown form."""
    if isinstance(record, BrokenRecord):
        return is_unknown_line(kind, record.text) and not (
            kind.is_memory and _is_part_of_title(record, lines)
        )
    is_stray = isinstance(record, Label) and record.name == _PROTO_LINE
    return is_stray and kind is not FileKind.REPORT


def _is_part_of_title(record: Record, lines: Sequence[str]) -> bool:
    """Return whether a line is a part of a row of stack traces whose title has a line break."""
    grammar = load_grammar("live_range")
    row, label = grammar.expression("breakdown_row"), grammar.opening("breakdown_label")
    at = record.line
    return any(
        (text := " ".join(lines[first : last + 1])).count(_BEHIND_TITLE) == 1
        and row.fullmatch(text)
        for first in range(max(at - _MAX_BREAKS, 1), at + 1)
        if lines[first].lstrip().startswith(("├", "└")) or lines[first - 1].startswith(label)
        for last in range(at, at + _MAX_BREAKS + 1)
    )


_MAX_BREAKS = 3  # in a title
_BEHIND_TITLE = "%, total: "


def is_unknown_line(kind: FileKind, text: str) -> bool:
    """Return True if a broken line or statement of a file has an unknown form."""
    return len(text) <= MAX_LINE_LENGTH and _is_unknown(kind, without_numbers(text))


@lru_cache(maxsize=1 << 12)
def _is_unknown(kind: FileKind, text: str) -> bool:
    rules = _rules(kind)
    is_known = partial(_is_known_line, kind)
    return not is_damaged_line(text, is_known, rules.explain(text), rules.openings)


def _rules(kind: FileKind) -> LineRules:
    if kind.is_memory:
        return memory_scanner().lines
    return module_scanner().lines if kind is FileKind.MODULE else thunk_scanner().lines


def _is_known_line(kind: FileKind, text: str) -> bool:
    """Return whether a line matches a rule and has no unknown parts."""
    found = _rules(kind).read(text)
    if found is None:
        return kind.is_memory and memory_scanner().entries.is_known(text)
    rule, fields = found[0].name, found[1].groupdict()
    if rule == "whole_computation" or fields.get("OTHER_FIELD") is not None:
        return False
    if rule == _PROTO_LINE and kind is not FileKind.REPORT:
        return False
    shapes = [
        fields.get("SHAPE"),
        *listed_shapes(fields.get("SHAPES") or ""),
        *shapes_of_signature(fields.get("SIGNATURE") or ""),
    ]
    return all(map(is_shape, filter(None, shapes)))


def is_unknown_row(entry: UsedValue, line: str) -> bool:
    """Return True if a line of an entry has an unknown form."""
    if entry.reader.is_known(line.partition("\n")[0]):
        return False
    return _is_unknown_row(entry.reader.rule_of(line), without_numbers(line))


@lru_cache(maxsize=1 << 10)
def _is_unknown_row(rule: str, line: str) -> bool:
    failure = load_grammar("values").parse_failure(rule, line) or ParseFailure(0, ())
    return not is_damaged_line(line, partial(_is_known_line, FileKind.VALUES), failure)


# Shapes.


def is_unknown_shape(text: str) -> bool:
    """Return True if a text that is not a shape has an unknown form."""
    return _is_unknown_shape(without_numbers(text))


_SHAPE_SIGNS = 2  # code points before and after a mismatch that may lack a sign


@lru_cache(maxsize=1 << 10)
def _is_unknown_shape(text: str) -> bool:
    elements = element_texts(text)
    if elements is not None:
        return any(map(_is_unknown_shape, elements)) and all(
            is_shape(element) or _is_unknown_shape(element) for element in elements
        )
    refusal = load_grammar("shape").parse_failure("shape", text)
    if refusal is None:
        return False
    column = refusal.column
    return column < len(text) and not is_damaged(text, is_shape, column, _SHAPE_SIGNS)


def is_shape(text: str) -> bool:
    """Return True if a text is a shape."""
    try:
        parse_shape(text)
    except ShapeError:
        return False
    return True


@lru_cache(maxsize=1 << 13)
def unknown_in_shape(text: str) -> tuple[str, str] | None:
    """Return what is unknown in a shape and its text, or None."""
    elements = element_texts(text)
    if elements is not None:
        return next(filter(None, map(unknown_in_shape, elements)), None)
    try:
        shape = parse_shape(text)
    except ShapeError:
        return ("shape", text) if is_unknown_shape(text) else None
    return next(filter(None, map(_unknown_in_array, arrays_of(shape))), None)


def _unknown_in_array(shape: ArrayShape) -> tuple[str, str] | None:
    if shape.element_type not in vocabulary().element_types:
        return "element type", shape.element_type
    others = () if shape.layout is None else shape.layout.others
    unknown = [other for other in others if not other.startswith("P(")]
    return ("layout property", unknown[0].partition("(")[0]) if unknown else None


_TIMES = re.compile(r"[0-9]+×")


def listed_shapes(text: str) -> Iterator[str]:
    """Yield the shapes of a row of a report, such as ``2×f32[8], s32[]``."""
    for start, end in comma_separated_spans(text, 0, len(text)):
        yield _TIMES.sub("", text[start:end].strip(), count=1)


# Attributes.

_LETTERS = string.ascii_letters + "_"
# The first characters of values.
_BEGINNINGS = {
    AttributeKind.FLAG: "tf",
    AttributeKind.INTEGER: string.digits + "-",
    AttributeKind.NUMBER: string.digits + ".-",
    AttributeKind.INTEGERS: "{",
    AttributeKind.ENUM: _LETTERS,
    AttributeKind.ENUMS: "{",
    AttributeKind.COMPUTATION: _LETTERS + "%{",
    AttributeKind.COMPUTATIONS: "{",
    AttributeKind.INSTRUCTIONS: "{",
    AttributeKind.STRING: '"',
    AttributeKind.BRACES: "{",
    AttributeKind.TEXT: _LETTERS + string.digits + '{["(-?',
}


class AttributeWords(NamedTuple):
    """The attributes that instructions or modules have.

    Attributes:
        names: Their names.
        beginnings: Name, ``=``, and the first character of a value.
        what: What one is.
    """

    names: frozenset[str]
    beginnings: frozenset[str]
    what: str

    @classmethod
    def of(cls, attributes: Iterable[AttributeSpec], what: str) -> "AttributeWords":
        """Return the words of attributes."""
        beginnings: set[str] = set()
        names: set[str] = set()
        for each in attributes:
            names.add(each.name)
            beginnings.update(f"{each.name}={first}" for first in _BEGINNINGS[each.kind])
        return cls(frozenset(names), frozenset(beginnings), what)


@cache
def words_of_instructions() -> AttributeWords:
    """Return the attributes of instructions."""
    words = vocabulary()
    return AttributeWords.of((*words.attributes.values(), *words.variants.values()), "attribute")


@cache
def words_of_headers() -> AttributeWords:
    """Return the attributes of a module."""
    return AttributeWords.of(vocabulary().header.values(), "attribute of the module")


def words_of(record: Record) -> AttributeWords:
    """Return the attributes of a module header, or those of instructions."""
    return words_of_headers() if isinstance(record, ModuleHeader) else words_of_instructions()


def is_unknown_attribute(part: str, words: AttributeWords, *, is_first: bool = False) -> bool:
    """Return True if a text between commas that is not an attribute has an unknown form.

    Args:
        part: The text without blanks around.
        words: The known attributes.
        is_first: Whether no comma precedes the text.
    """
    if not part or not is_balanced(part, 0) or (is_first and _IS_ATTRIBUTE.match(part)):
        return False  # in the last case a comma is missing
    word = _WORD.match(part)
    assert word is not None  # it matches every text
    rest = part[word.end() :]
    if rest in {"", "="}:  # the text or the value is cut off
        return not any(name.startswith(word[0]) for name in words.names)
    return not (word[0] in words.names and rest[0] in _VALUE_SIGNS)  # else a sign is missing


_IS_ATTRIBUTE = re.compile(r"[\w\-]+=\s*\S")
_WORD = re.compile(r"[\w\-]*")
_VALUE_SIGNS = frozenset('{["% ')


# Signatures of computations.

_PARAMETER = re.compile(r"\s*(?:/\*index=[0-9]+\*/)?\s*%?[A-Za-z_][\w.\-]*:\s*(?P<SHAPE>.*\S)\s*")


def shapes_of_signature(text: str) -> Iterator[str]:
    """Yield the shapes of the parameters and of the result; the whole text of other parameters."""
    close = closing_bracket(text, 0) if text.startswith("(") else None
    if close is None:
        return
    if text[1:close].strip():
        for start, end in comma_separated_spans(text, 1, close):
            match = _PARAMETER.fullmatch(text, start, end)
            yield text[start:end].strip() if match is None else match["SHAPE"]
    yield text[close + 1 :].strip().removeprefix("->").strip()
