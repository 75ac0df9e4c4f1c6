"""Lines that cannot be read."""

from collections.abc import Iterator
from functools import lru_cache

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.peaks.stack_traces import is_torn
from hlo_lsp.checks.rule import AnyRule, Pace, RecordContext, error
from hlo_lsp.model.place import Place, span_place
from hlo_lsp.model.sections import ending
from hlo_lsp.model.shape import ShapeError, parse_shape
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import ParseFailure
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.scanners import MAX_LINE_LENGTH, memory_scanner, module_scanner
from hlo_lsp.syntax.used_value import UsedValue, instruction_column


def broken_line(context: RecordContext[BrokenRecord]) -> Iterator[Finding]:
    """Report lines that have none of the forms that XLA prints."""
    text = context.record.text
    if context.file.kind.is_memory:
        if is_torn(context.dump, context.file, context.record):
            return
        if len(text) > MAX_LINE_LENGTH:
            message = (
                f"line too long: {len(text):,} characters, dumps have at most {MAX_LINE_LENGTH:,}"
            )
            yield context.report(Place(context.file, context.record.line, 0, len(text)), message)
            return
        refusal = memory_scanner().explain(text)
        what = "a memory dump"
    elif context.file.kind is FileKind.MODULE:
        refusal = _in_words(module_scanner().explain(text))
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
    for row, column, problem in entry.problems():
        text = entry.lines[row]
        end = max(len(text.rstrip()), column + 1)
        message = _sentence(problem, text, column) if problem.startswith("expected") else problem
        yield context.report(Place(context.file, entry.line + row, column, end), message)


def broken_instruction(context: RecordContext[UsedValue]) -> Iterator[Finding]:
    """Report entries without a whole instruction after `from instruction:`."""
    entry = context.record
    if entry.whole and not _is_instruction(entry.lines[-1]):
        text = entry.lines[-1]
        start, end = len(text) - len(entry.instruction or ""), text.find("\n")
        line = entry.line + len(entry.lines) - 1
        yield context.report(
            Place(context.file, line, start, end if end >= 0 else len(text)),
            "expected an instruction: `%NAME = SHAPE OPCODE(OPERANDS), ATTRIBUTES`",
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
        yield context.report(context.place("SHAPE"), str(error))


# Terminals of the grammar whose names do not explain them.
_WORDS = {
    "body": "instructions",
    "closing": "the end of the line",
    "opening": "`{`",
    "rest": "operands and `)`",
    "signature": "`(PARAMETERS) -> SHAPE`",
    "space": "a blank",
}


def _in_words(refusal: ParseFailure) -> ParseFailure:
    return ParseFailure(refusal.column, tuple(_WORDS.get(word, word) for word in refusal.expected))


def _sentence(expected: str, text: str, column: int) -> str:
    found = text[column : column + 20]
    return f"{expected}, found {f'`{found}`' if found else 'the end of the line'}"


RULES: tuple[AnyRule, ...] = (
    error("syntax", BrokenRecord, broken_line),
    error("syntax", UsedValue, broken_entry, pace=Pace.LINE),
    error("syntax", UsedValue, broken_instruction, pace=Pace.LINE),
    error("syntax", AssignedValue, broken_shape, pace=Pace.LINE),
)
