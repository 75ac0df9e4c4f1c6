"""The fields of a line with their columns, according to the rule of the line."""

import re
from dataclasses import dataclass

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.used_value import UsedValue

_GRAMMAR_NAMES = ("assignment", "values", "live_range", "report", "module", "thunks")
_ARRAY_SHAPE = re.compile(r"(?<![a-z0-9])[a-z][a-z0-9]*\[[^\[\]]*\](?:\{[^{}]*\})?")
_MEMORY_SPACE = re.compile(r"S\((\d{1,18})\)")


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
    grammars = (grammar for grammar in map(load_grammar, _GRAMMAR_NAMES) if grammar.has_rule(rule))
    match = next((grammar.expression(rule).fullmatch(line) for grammar in grammars), None)
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
    return _part_at(_ARRAY_SHAPE, field, column, field.role) or field


def memory_space_at(field: LineField, column: int) -> tuple[LineField, int] | None:
    """Return the ``S(n)`` at a column of a shape field, and its number."""
    found = _part_at(_MEMORY_SPACE, field, column, "MEMORY_SPACE")
    return None if found is None else (found, int(found.text[2:-1]))


def _part_at(
    expression: re.Pattern[str], field: LineField, column: int, role: str
) -> LineField | None:
    for match in expression.finditer(field.text):
        start, end = field.start + match.start(), field.start + match.end()
        if start <= column <= end:
            return LineField(role, start, end, match[0])
    return None
