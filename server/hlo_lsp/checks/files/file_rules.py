"""Lines that cannot be read, and the files of one compile beside each other."""

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache, partial
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import (
    AnyRule,
    CompileContext,
    Places,
    Reads,
    RecordContext,
    WholeRule,
    error,
)
from hlo_lsp.checks.peaks.stack_traces import may_be_part_of_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, field_place, line_place, span_place, top_place
from hlo_lsp.model.sections import disorder, ending, is_joined, last_record
from hlo_lsp.model.shape import ShapeError, parse_shape
from hlo_lsp.model.unknown_forms import unknown_forms
from hlo_lsp.model.unknown_lines import (
    has_unknown_line,
    is_unknown_instruction,
    is_unknown_record,
    is_unknown_row,
    is_unknown_value_shape,
)
from hlo_lsp.model.unknown_parts import LEFT_OUT
from hlo_lsp.program.foreign_files import foreign_files, missing_companions
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import ParseFailure
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.scanners import MAX_LINE_LENGTH, memory_scanner, module_scanner
from hlo_lsp.syntax.statements import is_dots
from hlo_lsp.syntax.used_value import UsedValue, instruction_column


def sibling_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report files of one stem that are of different compiles."""
    for file, other, comparison in foreign_files(context.with_foreign):
        name = other.label if other.path is None else other.path.name
        yield context.report(
            top_place(file),
            f"this file is from another compile than `{name}`: {comparison.agreeing:,} of "
            f"{comparison.compared:,} compared {comparison.what} are the same",
            Related(top_place(other), "the other compile"),
        )


def unknown_form(context: CompileContext) -> Iterator[Finding]:
    """Report each form that this version does not know, once for each file."""
    for path in context.with_foreign.unknown_files:
        yield context.report(
            top_place(context.with_foreign.files[0]),
            f"this version of hlo-lsp does not know the file `{path.name}`: it is not read",
        )
    for file in context.dump.files:
        checkpoint()
        for form in unknown_forms(file).forms:
            others = "" if form.count == 1 else f", and {form.count - 1:,} more in this file"
            text = form.first.text
            shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
            problem = f"this version of hlo-lsp does not know the {form.first.what} `{shown}`"
            if form.first.what == LEFT_OUT or is_dots(text):
                problem = "text was left out (`...`)"
            yield context.report(
                form.place(file),
                f"{problem}{others}: rules that depend on it are not checked",
            )


def sibling_missing(context: CompileContext) -> Iterator[Finding]:
    """Report files without the others that XLA always writes with them."""
    for file in context.dump.files:
        # The folder is not an input of queries: check it again after each edit.
        file.depend_on_text()
    for file, problem in missing_companions(context.with_foreign):
        yield context.report(top_place(file), f"{problem}; XLA writes it with this file")


def section_order(context: CompileContext) -> Iterator[Finding]:
    """Report sections that are not in the order in which XLA prints them, each once."""
    for file in context.dump.files:
        checkpoint()
        for misplaced in disorder(file):
            first = [] if misplaced.first is None else [field_place(file, misplaced.first)]
            related = (Related(place, "the first one") for place in first)
            place = field_place(file, misplaced.record)
            yield context.report(place, misplaced.message, *related)


def truncated(context: CompileContext) -> Iterator[Finding]:
    """Report texts that end inside their last record or section."""
    for file in context.dump.files:
        checkpoint()
        found = ending(file)
        if found is not None:
            message = f"the text ends here, expected {found.missing}"
            yield context.report(line_place(file, found.line), message)
    yield from _short_lists(context)


def _short_lists(context: CompileContext) -> Iterator[Finding]:
    """Report a list of values that ends before that of the other file does."""
    dump = context.dump
    files = [file for file in dump.files if ending(file) is None and not is_joined(file)]
    assigned = next((file for file in files if len(file.memory.allocations)), None)
    entries = next((file for file in files if len(file.memory.entries)), None)
    if assigned is None or entries is None:
        return
    values, known = assigned.memory.assigned, entries.memory.entries
    last = last_record(entries)
    if last is not None and isinstance(last[1], UsedValue) and not dump.has_broken_used_values:
        highest = max(known)
        after = [values.first(id_) for id_ in values if id_ > highest]
        yield from _short(context, entries, "entries", assigned, after)
    lacking = known.keys - values.keys
    if lacking and not dump.has_broken_assigned_values and _ends_early(dump, assigned, lacking):
        missing = [known.first(id_) for id_ in lacking]
        yield from _short(context, assigned, "allocations", entries, missing)


def _ends_early(dump: Compile, file: DumpFile, lacking: Set[int]) -> bool:
    """Return whether the last allocations are missing, or the last values of the last one."""
    allocations, (_, last) = file.memory.allocations, last_record(file) or (0, None)
    head = file.records.head_of(last) if isinstance(last, AssignedValue) else last
    if not isinstance(head, AllocationLine) or max(allocations) != len(allocations) - 1:
        return False
    total = dump.total_bytes
    if total is not None and total > sum(one.size for one in allocations.records()):
        return True
    values = [one for one in file.records.members(head) if isinstance(one, AssignedValue)]
    end = max((value.offset + value.size for value in values), default=0)
    highest = max((value.id for value in values), default=-1)
    return end < head.size and all(id_ > highest for id_ in lacking)


def _short(
    context: CompileContext, file: DumpFile, what: str, other: DumpFile, values: Sequence[Any]
) -> Iterator[Finding]:
    found = last_record(file)
    keys = file.memory.entry_keys if what == "entries" else file.memory.assigned_keys
    missing = [value for value in values if value.key not in keys]
    if missing and found is not None:
        first = min(missing, key=lambda value: value.line)
        count = "1 more value" if len(missing) == 1 else f"{len(missing):,} more values"
        message = f"the text ends here, expected the {what} of {count}"
        related = Related(field_place(other, first, "VALUE_ID"), "the next value")
        yield context.report(line_place(file, found[0]), message, related)


def broken_line(context: RecordContext[BrokenRecord]) -> Iterator[Finding]:
    """Report lines that have none of the forms that XLA prints."""
    text = context.record.text
    if context.file.kind.is_memory:
        if may_be_part_of_title(context.dump, context.file, context.record):
            return
        if len(text) > MAX_LINE_LENGTH:
            message = (
                f"line too long: {len(text):,} characters, dumps have at most {MAX_LINE_LENGTH:,}"
            )
            yield context.report(Place(context.file, context.record.line, 0, len(text)), message)
            return
        if is_unknown_record(context.file.kind, context.record, context.file.lines):
            return
        refusal = memory_scanner().lines.explain(text)
        what = "a memory dump"
    elif context.file.kind is FileKind.MODULE:
        if is_unknown_record(context.file.kind, context.record, context.file.lines):
            return
        refusal = module_scanner().lines.explain(text)
        words = tuple(_WORDS.get(word, word) for word in refusal.expected)
        refusal = ParseFailure(refusal.column, words)
        what = "an HLO module"
    else:
        return
    end = max(len(text.rstrip()), refusal.column + 1)
    if refusal.expected:
        start, message = refusal.column, _sentence(str(refusal), text, refusal.column)
    else:
        start, message = 0, f"unrecognized line in {what}"
    yield context.report(span_place(context.file, context.record, text, start, end), message)


def broken_entry(context: RecordContext[UsedValue]) -> Iterator[Finding]:
    """Report entries without header, positions, uses, and instruction, in this order."""
    entry, cut = context.record, ending(context.file)
    if cut is not None and cut.last is entry:
        return  # `truncated` reports it
    if not entry.whole and _is_beside_unknown_line(context):
        return
    for row, column, problem in entry.problems():
        text = entry.lines[row]
        if is_unknown_row(entry, text):
            return
        end = max(len(text.rstrip()), column + 1)
        message = _sentence(problem, text, column) if problem.startswith("expected") else problem
        yield context.report(Place(context.file, entry.line + row, column, end), message)


def broken_instruction(context: RecordContext[UsedValue]) -> Iterator[Finding]:
    """Report entries without a whole instruction after `from instruction:`."""
    entry = context.record
    if entry.whole and not (_is_instruction(entry.lines[-1]) or is_unknown_instruction(entry)):
        text = entry.lines[-1]
        start, end = len(text) - len(entry.instruction or ""), text.find("\n")
        line = entry.line + len(entry.lines) - 1
        yield context.report(
            Place(context.file, line, start, end if end >= 0 else len(text)),
            "expected an instruction: `%NAME = SHAPE OPCODE(OPERANDS), ATTRIBUTES`",
        )


def _is_beside_unknown_line(context: RecordContext[UsedValue]) -> bool:
    """Return whether an entry may be a part of one with a line of an unknown form."""
    entry, records, kind = context.record, context.file.records, context.file.kind
    above = records.at(entry.line - 1) if entry.line > 0 else None
    below = records.at(entry.line + entry.line_count)
    return any(
        is_unknown_record(kind, beside, context.file.lines)
        or (isinstance(beside, UsedValue) and has_unknown_line(beside))
        for beside in (above, below)
        if beside is not None
    )


@lru_cache(maxsize=1 << 13)
def _is_instruction(line: str) -> bool:
    """Return whether a line has a whole instruction, which is repeated for each tuple element."""
    parsed = parse_instruction(line, instruction_column(line))
    return parsed is not None and parsed.is_closed


def broken_shape(context: RecordContext[AssignedValue]) -> Iterator[Finding]:
    """Report values whose shape is malformed."""
    try:
        parse_shape(context.record.shape)
    except ShapeError as error:
        if not is_unknown_value_shape(context.record, context.file.lines[context.record.line]):
            yield context.report(context.place("SHAPE"), str(error))


_MAX_SHOWN = 60  # code points of an unknown form

# Terminals of the grammar whose names do not explain them.
_WORDS = {
    "body": "instructions",
    "closing": "the end of the line",
    "opening": "`{`",
    "rest": "operands and `)`",
    "signature": "`(PARAMETERS) -> SHAPE`",
    "space": "a blank",
}


def _sentence(expected: str, text: str, column: int) -> str:
    found = text[column : column + 20]
    return f"{expected}, found {f'`{found}`' if found else 'the end of the line'}"


_of_files = partial(WholeRule, reads=Reads.PARTS, places=Places.ALL)
RULES: tuple[AnyRule, ...] = (
    error("syntax", BrokenRecord, broken_line),
    error("syntax", UsedValue, broken_entry, reads=Reads.TEXT),
    error("syntax", UsedValue, broken_instruction, reads=Reads.TEXT),
    error("syntax", AssignedValue, broken_shape, reads=Reads.TEXT),
    _of_files("sibling-mismatch", Severity.ERROR, sibling_mismatch),
    _of_files(
        "unknown-form", Severity.WARNING, unknown_form, reads=Reads.PARTS | Reads.UNKNOWN_FORMS
    ),
    _of_files("sibling-missing", Severity.INFORMATION, sibling_missing),
    _of_files("section-order", Severity.ERROR, section_order),
    _of_files("truncated", Severity.ERROR, truncated),
)
