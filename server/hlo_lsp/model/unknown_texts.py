"""Parts of lines without a form that this version knows: shapes, attributes, and signatures."""

import re
import string
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from hlo_lsp.hlo.vocabulary import AttributeKind, AttributeSpec, vocabulary
from hlo_lsp.model.shape import (
    ArrayShape,
    ShapeError,
    arrays_of,
    element_texts,
    is_too_deep,
    parse_shape,
)
from hlo_lsp.syntax.damaged_text import is_damaged
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.module_records import ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_spans, is_balanced

# Shapes.


def is_unknown_shape(text: str) -> bool:
    """Return True if a text that is not a shape has an unknown form."""
    return _is_unknown_shape(_NUMBER.sub("0", text))


_NUMBER = re.compile(r"[0-9]+")
_SHAPE_REACH = 2  # code points before and after a mismatch that may lack a sign
_SHAPE_PARTS = ",:0"
_DIMENSION_PARTS = "0"  # two numbers without a comma are one number


@lru_cache(maxsize=1 << 10)
def _is_unknown_shape(text: str) -> bool:
    elements = element_texts(text)
    if elements is not None:
        return any(map(_is_unknown_shape, elements)) and all(
            is_shape(element) or _is_unknown_shape(element) for element in elements
        )
    refusal = None
    if not is_too_deep(text):
        refusal = load_grammar("shape").parse_failure("shape", text)
    if refusal is None:
        return False
    column = refusal.column
    is_in_dimensions = text.rfind("[", 0, column) > text.rfind("]", 0, column)
    parts = _DIMENSION_PARTS if is_in_dimensions else _SHAPE_PARTS
    return column < len(text) and not is_damaged(
        text, is_shape, column, reach=_SHAPE_REACH, parts=parts
    )


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


@lru_cache(maxsize=1 << 13)
def is_known_shape(text: str) -> bool:
    """Return True if a text is a shape of known parts."""
    return unknown_in_shape(text) is None and is_shape(text)


def _unknown_in_array(shape: ArrayShape) -> tuple[str, str] | None:
    if shape.element_type not in vocabulary().element_types:
        return "element type", shape.element_type
    others = () if shape.layout is None else shape.layout.others
    unknown = [other for other in others if not other.startswith("P(")]
    return ("layout property", unknown[0].partition("(")[0]) if unknown else None


_TIMES = re.compile(r"(?<![0-9])[0-9]+×")


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


def is_unknown_attribute(part: str, words: AttributeWords, *, is_first: bool) -> bool:
    """Return True if a text between commas that is not an attribute has an unknown form.

    Args:
        part: The text without blanks around.
        words: The known attributes.
        is_first: Whether no comma precedes the text.
    """
    if not part or not is_balanced(part, 0) or (is_first and ATTRIBUTE.match(part)):
        return False  # in the last case a comma is missing
    word = _WORD.match(part)
    assert word is not None  # it matches every text
    rest = part[word.end() :]
    if rest in {"", "="}:  # the text or the value is cut off
        return not any(name.startswith(word[0]) for name in words.names)
    return not (word[0] in words.names and rest[0] in _VALUE_SIGNS)  # else a sign is missing


ATTRIBUTE = re.compile(r"\s*([\w\-]+)=\s*(?=\S)")  # up to the value
_WORD = re.compile(r"[\w\-]*")
_VALUE_SIGNS = frozenset('{["%')


# Signatures of computations.

_PARAMETER = re.compile(r"(?:/\*index=[0-9]+\*/\s*)?%?[A-Za-z_][\w.\-]*:\s*(?P<SHAPE>\S.*)")


def shapes_of_signature(text: str) -> Iterator[str]:
    """Yield the shapes of the parameters and of the result; the whole text of other parameters."""
    close = closing_bracket(text, 0) if text.startswith("(") else None
    if close is None:
        return
    if text[1:close].strip():
        for start, end in comma_separated_spans(text, 1, close):
            parameter = text[start:end].strip()
            match = _PARAMETER.fullmatch(parameter)
            yield parameter if match is None else match["SHAPE"]
    yield text[close + 1 :].strip().removeprefix("->").strip()
