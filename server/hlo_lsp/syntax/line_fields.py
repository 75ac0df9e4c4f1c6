"""The fields of a line with their columns, by the rule that reads it."""

import re
from dataclasses import dataclass

from hlo_lsp.syntax.grammar import Grammar, load
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.used_value import UsedValue

_GRAMMARS = ("assignment", "values", "live_range", "report", "module", "thunks")
_LEAF = re.compile(r"[a-z][a-z0-9]*\[[^\]]*\](?:\{[^{}]*\})?")
_SPACE = re.compile(r"S\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a line: the name of its terminal in the grammar, its text and columns."""

    role: str
    start: int
    end: int
    text: str


def rule_of(record: Record, line: str) -> str | None:
    """The rule that reads a line of a record, or would if the line were not broken."""
    if isinstance(record, UsedValue):
        return record.reader.rule_of(line)
    return record.name if isinstance(record, Label) else record.rule or None


def fields(rule: str, line: str) -> list[Field]:
    """The fields of a line in order; empty if the line is not of the rule."""
    grammar = _grammar_with(rule)
    match = None if grammar is None else grammar.expression(rule).fullmatch(line)
    if match is None:
        return []
    found = [
        Field(role, match.start(role), match.end(role), text)
        for role, text in match.groupdict().items()
        if text is not None
    ]
    return sorted(found, key=lambda field: field.start)


def field_at(rule: str, line: str, column: int) -> Field | None:
    """The field under a column; behind its last character still counts."""
    hits = [field for field in fields(rule, line) if field.start <= column <= field.end]
    return next((field for field in hits if column < field.end), hits[0] if hits else None)


def leaf_at(field: Field, column: int) -> Field:
    """The array shape under a column of a shape field, or the whole field."""
    for match in _LEAF.finditer(field.text):
        start, end = field.start + match.start(), field.start + match.end()
        if start <= column <= end:
            return Field(field.role, start, end, match[0])
    return field


def space_at(field: Field, column: int) -> tuple[Field, int] | None:
    """The ``S(n)`` under a column of a shape field, with its number."""
    for match in _SPACE.finditer(field.text):
        start, end = field.start + match.start(), field.start + match.end()
        if start <= column <= end:
            return Field("MEMORY_SPACE", start, end, match[0]), int(match[1])
    return None


def _grammar_with(rule: str) -> Grammar | None:
    for name in _GRAMMARS:
        grammar = load(name)
        if grammar.has(rule):
            return grammar
    return None
