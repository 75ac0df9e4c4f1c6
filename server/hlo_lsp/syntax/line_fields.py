"""The fields of a line with their columns, according to the rule of the line."""

import re
from dataclasses import dataclass

from hlo_lsp.syntax.grammar import Grammar, load_grammar
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.used_value import UsedValue

_GRAMMAR_NAMES = ("assignment", "values", "live_range", "report", "module", "thunks")
_ARRAY_SHAPE = re.compile(r"[a-z][a-z0-9]*\[[^\]]*\](?:\{[^{}]*\})?")
_MEMORY_SPACE = re.compile(r"S\((\d+)\)")


@dataclass(frozen=True, slots=True)
class LineField:
    """A field of a line: its terminal in the grammar, its columns and text."""

    role: str
    start: int
    end: int
    text: str


def rule_of(record: Record, line: str) -> str | None:
    """Return the rule of a line of a record, or the most similar rule if the line is broken."""
    if isinstance(record, UsedValue):
        return record.reader.rule_of(line)
    return record.name if isinstance(record, Label) else record.rule or None


def fields_of_line(rule: str, line: str) -> list[LineField]:
    """Return the fields of a line in order; an empty list if the line does not match the rule."""
    grammar = _grammar_with(rule)
    match = None if grammar is None else grammar.expression(rule).fullmatch(line)
    if match is None:
        return []
    found = [
        LineField(role, match.start(role), match.end(role), text)
        for role, text in match.groupdict().items()
        if text is not None
    ]
    return sorted(found, key=lambda field: field.start)


def field_at(rule: str, line: str, column: int) -> LineField | None:
    """Return the field at a column, including the column after its last character."""
    hits = [field for field in fields_of_line(rule, line) if field.start <= column <= field.end]
    return next((field for field in hits if column < field.end), hits[0] if hits else None)


def array_shape_at(field: LineField, column: int) -> LineField:
    """Return the array shape at a column of a shape field, or the whole field."""
    for match in _ARRAY_SHAPE.finditer(field.text):
        start, end = field.start + match.start(), field.start + match.end()
        if start <= column <= end:
            return LineField(field.role, start, end, match[0])
    return field


def memory_space_at(field: LineField, column: int) -> tuple[LineField, int] | None:
    """Return the ``S(n)`` at a column of a shape field, and its number."""
    for match in _MEMORY_SPACE.finditer(field.text):
        start, end = field.start + match.start(), field.start + match.end()
        if start <= column <= end:
            return LineField("MEMORY_SPACE", start, end, match[0]), int(match[1])
    return None


def _grammar_with(rule: str) -> Grammar | None:
    for name in _GRAMMAR_NAMES:
        grammar = load_grammar(name)
        if grammar.has_rule(rule):
            return grammar
    return None
