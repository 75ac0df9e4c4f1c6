"""Lines, statements, and entries of dumps without a form that this version knows."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.regular_instructions import (
    has_attributes_only,
    match_instruction,
)
from hlo_lsp.model.unknown_texts import (
    is_shape,
    is_unknown_shape,
    listed_shapes,
    shapes_of_signature,
)
from hlo_lsp.syntax.damaged_text import is_damaged_line, is_joined, outline
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import LineRules, ParseFailure, load_grammar
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.records import BrokenRecord, Label, Record, UnknownSection
from hlo_lsp.syntax.scanners import (
    MAX_LINE_LENGTH,
    REPORT_RULES,
    memory_scanner,
    module_scanner,
    thunk_scanner,
)
from hlo_lsp.syntax.statements import closing_bracket
from hlo_lsp.syntax.used_value import UsedValue, instruction_column


def is_unknown_record(kind: FileKind, record: Record, lines: Sequence[str]) -> bool:
    """Return True if a record of a file is a line or a statement of an unknown form."""
    if isinstance(record, UnknownSection):
        return True
    if isinstance(record, BrokenRecord):
        return is_unknown_line(kind, record.text) and not (
            kind.is_memory and _is_part_of_title(record, lines)
        )
    # Some forms of reports are so short that other lines can have them.
    rule = record.name if isinstance(record, Label) else record.rule
    return kind.is_memory and kind is not FileKind.REPORT and rule in REPORT_RULES


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


# A line that begins with dots before other text is a prompt of Python.
_ELLIPSIS = re.compile(r"^\s*(?:\.\.\.|…)\s*$|\S[^\S\n]*(?:\.\.\.|…)", re.MULTILINE)


def is_shortened(text: str) -> bool:
    """Return True if a broken line has dots in place of text, as in a snippet."""
    has_dots = "..." in text or "…" in text
    return has_dots and len(text) <= MAX_LINE_LENGTH and bool(_ELLIPSIS.search(outline(text)))


def is_unknown_line(kind: FileKind, text: str) -> bool:
    """Return True if a broken line or statement of a file has an unknown form."""
    if len(text) > MAX_LINE_LENGTH:
        return False
    return is_shortened(text) or _is_unknown(kind, outline(text))


@lru_cache(maxsize=1 << 12)
def _is_unknown(kind: FileKind, text: str) -> bool:
    checkpoint()
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
        return kind.is_memory and _is_known_entry_line(text)
    rule, fields = found[0].name, found[1].groupdict()
    if rule in _LOOSE_RULES or fields.get("OTHER_FIELD") is not None:
        return False
    if rule in REPORT_RULES and kind is not FileKind.REPORT:
        return False
    if rule == "instruction_line":
        close = closing_bracket(text, found[1].start("REST") - 1)
        is_whole = close is not None and has_attributes_only(text, close + 1)
        return (
            is_whole
            and is_shape(fields["SHAPE"] or "")
            and (fields["OPCODE"] == "x" or vocabulary().opcode(fields["OPCODE"]) is not None)
        )
    if rule == "module_header":
        return has_attributes_only(text, found[1].end("NAME"))
    if rule == "computation_end" and (fields["CLOSING"] or "").strip():
        return has_attributes_only(text, found[1].start("CLOSING"))
    shapes = [
        fields.get("SHAPE"),
        *listed_shapes(fields.get("SHAPES") or ""),
        *shapes_of_signature(fields.get("SIGNATURE") or ""),
    ]
    return all(map(is_shape, filter(None, shapes)))


def _is_known_entry_line(text: str) -> bool:
    column = instruction_column(text)
    if not memory_scanner().entries.is_known(text):
        return False
    return not column or _is_known_line(FileKind.MODULE, text[column:])


_LOOSE_RULES = frozenset({"whole_computation", "proto_line"})


def is_unknown_value_shape(value: AssignedValue, line: str) -> bool:
    """Return True if the shape of a value has an unknown form, and is not a second line."""
    if is_shape(value.shape) or not is_unknown_shape(value.shape):
        return False
    return not is_joined(outline(line), partial(_is_known_line, FileKind.ASSIGNMENT))


def is_unknown_instruction(entry: UsedValue) -> bool:
    """Return True if the text after ``from instruction:`` has an unknown form."""
    line = entry.lines[-1]
    return match_instruction(line) is None and is_unknown_line(
        FileKind.MODULE, line[instruction_column(line) :]
    )


def is_unknown_row(entry: UsedValue, line: str) -> bool:
    """Return True if a line of an entry has an unknown form."""
    if entry.reader.is_known(line.partition("\n")[0]):
        return False
    return _is_unknown_row(entry.reader.rule_of(line), outline(line))


@lru_cache(maxsize=1 << 10)
def _is_unknown_row(rule: str, line: str) -> bool:
    checkpoint()
    failure = load_grammar("values").parse_failure(rule, line) or ParseFailure(0, ())
    return not is_damaged_line(line, partial(_is_known_line, FileKind.VALUES), failure)


def has_unknown_line(entry: UsedValue) -> bool:
    """Return True if a line of an entry, or its instruction, has an unknown form."""
    if entry.whole:
        return is_unknown_instruction(entry)
    return any(is_unknown_row(entry, line) for line in entry.lines)
