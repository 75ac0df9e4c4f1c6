"""The semantic tokens of a file, with modifiers for unused and thread-local names."""

from collections.abc import Iterator

from hlo_lsp.ide.tokens.line_tokens import (
    SemanticToken,
    TokenModifier,
    TokenSpan,
    TokenType,
    line_spans,
    statement_spans,
    tokens_of_spans,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Value
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.line_fields import rule_of
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import Comment, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

# The opcodes with side effects (hlo_instruction.cc, HasSideEffectNoRecurse).
_SIDE_EFFECT_OPCODES = frozenset(
    {
        "all-gather-done", "all-gather-start", "all-reduce-done", "all-reduce-start",
        "collective-permute-done", "collective-permute-start", "infeed", "outfeed", "recv",
        "recv-done", "rng", "rng-get-and-update-state", "send", "send-done",
    }
)  # fmt: skip
_SIDE_EFFECT_ATTRIBUTE = "custom_call_has_side_effect=true"


def value_modifiers(dump: DumpSet, value_id: int) -> int:
    """Return the modifiers of a value, from the files of the compile that are loaded."""
    value = dump.value(value_id)
    if value is None:
        return TokenModifier.NONE
    if value.allocation is not None and value.allocation.record.thread_local:
        return TokenModifier.THREAD_LOCAL
    return TokenModifier.UNUSED if _is_unused_value(dump, value) else TokenModifier.NONE


def is_unused(file: DumpFile, instruction: InstructionLine) -> bool:
    """Return whether an instruction has no users, no side effects, and is not a result.

    Instructions that call computations are never unused. The result is False while the users are
    unknown.
    """
    if instruction.is_root or file.module.is_mentioned(instruction) is not False:
        return False
    return not _has_side_effect(instruction) and not file.module.is_root(instruction)


def _is_unused_value(dump: DumpSet, value: Value) -> bool:
    """Return whether the entry of a value lists no uses, and the value is no output or result.

    XLA prints ``(none)`` for the root of a computation as well, so the module text has to confirm
    it.
    """
    entry = value.entry
    if entry is None or not entry.record.whole or next(entry.record.uses, None) is not None:
        return False
    if value.allocation is None or value.allocation.record.maybe_live_out:
        return False
    for position in entry.record.positions:
        instruction = dump.instruction(position.name)
        if instruction is None or instruction.file.module.is_root(instruction.record):
            return False
    return True


def _has_side_effect(instruction: InstructionLine) -> bool:
    if instruction.opcode in _SIDE_EFFECT_OPCODES or _SIDE_EFFECT_ATTRIBUTE in instruction.text:
        return True
    return instruction.opcode != "fusion" and bool(instruction.bodies or instruction.called)


# Later columns of a line have no tokens. Visual Studio Code stops rendering there
# (editor.stopRenderingLineAfter), and lines of 100,000 characters are not rare.
MAX_TOKENIZED_COLUMNS = 10_000
_CHARACTERS_PER_BATCH = 10_000  # about 2 ms of work
_LINE_COST_CHARACTERS = 30  # the fixed cost of a line, in characters


def semantic_tokens(
    dump: DumpSet, file: DumpFile, first: int = 0, end: int | None = None
) -> Iterator[list[SemanticToken]]:
    """Yield the tokens of the lines from ``first`` to ``end`` (from 0, exclusive) in batches.

    The tokens are ordered, do not overlap, and do not cross line ends.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    reader = _TokenReader(dump, file)
    spent = 0
    for record in _records_in_lines(file, first, end):
        for cost in reader.read(record, first, end):
            spent += cost
            if spent > _CHARACTERS_PER_BATCH:
                spent = 0
                yield reader.take()
    yield reader.take()


def _records_in_lines(file: DumpFile, first: int, end: int) -> Iterator[Record]:
    """Yield the records that overlap these lines."""
    record = file.records.at(first) if first < end else None
    if record is None:
        return
    yield record
    for following in file.records.after(record):
        if following.line >= end:
            return
        yield following


class _TokenReader:
    """A reader of the tokens of consecutive records."""

    def __init__(self, dump: DumpSet, file: DumpFile) -> None:
        self._found: list[SemanticToken] = []
        self._dump = dump
        self._file = file

    def take(self) -> list[SemanticToken]:
        """Return the tokens since the previous call."""
        found, self._found = self._found, []
        return found

    def read(self, record: Record, first: int, end: int) -> Iterator[int]:
        """Read the requested lines of a record, and yield the cost of each in characters."""
        end = min(end, record.line + record.line_count)
        if self._file.kind is FileKind.MODULE:
            return self._statement(record, first, end)
        return self._lines(record, max(first, record.line), end)

    def _lines(self, record: Record, first: int, end: int) -> Iterator[int]:
        for line in range(first, end):
            text = self._file.lines[line]
            stop = min(len(text), MAX_TOKENIZED_COLUMNS)
            pieces = line_spans(rule_of(record, text), text, stop)
            if line == record.line and isinstance(record, AssignedValue | UsedValue):
                known = record.id is not None
                more = value_modifiers(self._dump, record.id or 0) if known else TokenModifier.NONE
                column = record.column if isinstance(record, UsedValue) else 0
                pieces = _with_modifiers(pieces, more, column)
            self._found += tokens_of_spans(text, pieces, line)
            yield stop + _LINE_COST_CHARACTERS

    def _statement(self, record: Record, first: int, end: int) -> Iterator[int]:
        """Read the lines of a statement together, because names depend on the preceding lines."""
        start = record.line
        lines = self._file.lines[start:end]
        if len(lines) > 1 and sum(map(len, lines)) + len(lines) <= MAX_TOKENIZED_COLUMNS:
            lines = ["\n".join(lines)]
        else:
            start, lines = max(first, start), lines[max(first - start, 0) :]
        for line, text in enumerate(lines, start):
            stop = min(len(text), MAX_TOKENIZED_COLUMNS)
            found = tokens_of_spans(text, self._pieces(record, line, text, stop), line)
            self._found += found if line >= first else [one for one in found if one.line >= first]
            yield stop + _LINE_COST_CHARACTERS

    def _pieces(self, record: Record, line: int, text: str, stop: int) -> list[TokenSpan]:
        if isinstance(record, Comment):
            start = len(text) - len(text.lstrip())
            return [(start, stop, TokenType.COMMENT, TokenModifier.NONE)] if start < stop else []
        begins = line == record.line
        is_head = begins and isinstance(record, ComputationLine)
        pieces = statement_spans(text, 0, stop, is_head=is_head)
        unused = begins and isinstance(record, InstructionLine) and is_unused(self._file, record)
        return _with_modifiers(pieces, TokenModifier.UNUSED) if unused else pieces


def _with_modifiers(pieces: list[TokenSpan], more: int, column: int = 0) -> list[TokenSpan]:
    """Return the spans with more modifiers on the first declared name from ``column`` on."""
    for number, (start, end, kind, modifiers) in enumerate(pieces if more else ()):
        if start >= column and modifiers & TokenModifier.DECLARATION:
            pieces[number] = start, end, kind, modifiers | more
            break
    return pieces
