"""The tokens of some lines of a file."""

from collections.abc import Iterator

from hlo_lsp.analysis.colours.fading import is_unused, value_modifiers
from hlo_lsp.analysis.colours.lines import line_pieces
from hlo_lsp.analysis.colours.statements import statement_pieces
from hlo_lsp.analysis.colours.token import Modifier, Piece, Token, TokenType, piece_tokens
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import Comment, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.tokens import rule_of
from hlo_lsp.syntax.used_value import UsedValue

# Characters of a line behind which nothing is told. Visual Studio Code stops to draw there
# (editor.stopRenderingLineAfter), and lines of 100 000 are not rare.
LONGEST = 10_000
_STEP = 10_000  # characters between two breaths: about 2 ms
_LINE = 30  # characters that cost as much as a line does by itself


def tokens(
    dump: DumpSet, file: DumpFile, first: int = 0, end: int | None = None
) -> Iterator[list[Token]]:
    """The tokens of the lines from ``first`` up to ``end`` (from 0, exclusive), some at a time.

    They come in their order, do not overlap, and each is inside of its line.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    reader = _Reader(dump, file)
    spent = 0
    for record in _records(file, first, end):
        for cost in reader.read(record, first, end):
            spent += cost
            if spent > _STEP:
                spent = 0
                yield reader.take()
    yield reader.take()


def _records(file: DumpFile, first: int, end: int) -> Iterator[Record]:
    """The records with any of these lines."""
    record = file.records.at(first) if first < end else None
    if record is None:
        return
    yield record
    for following in file.records.after(record):
        if following.line >= end:
            return
        yield following


class _Reader:
    """Reads one record after the other."""

    def __init__(self, dump: DumpSet, file: DumpFile) -> None:
        self._found: list[Token] = []
        self._dump = dump
        self._file = file

    def take(self) -> list[Token]:
        """The tokens since the last time."""
        found, self._found = self._found, []
        return found

    def read(self, record: Record, first: int, end: int) -> Iterator[int]:
        """Read those lines of a record that are asked for; yields how many characters it took."""
        end = min(end, record.line + record.line_count)
        if self._file.kind is FileKind.MODULE:
            return self._statement(record, first, end)
        return self._lines(record, max(first, record.line), end)

    def _lines(self, record: Record, first: int, end: int) -> Iterator[int]:
        for line in range(first, end):
            text = self._file.lines[line]
            stop = min(len(text), LONGEST)
            pieces = line_pieces(rule_of(record, text), text, stop)
            if line == record.line and isinstance(record, AssignedValue | UsedValue):
                known = record.id is not None
                more = value_modifiers(self._dump, record.id or 0) if known else Modifier.NONE
                column = record.column if isinstance(record, UsedValue) else 0
                pieces = _modified(pieces, more, column)
            self._found += piece_tokens(text, pieces, line)
            yield stop + _LINE

    def _statement(self, record: Record, first: int, end: int) -> Iterator[int]:
        """The lines of a statement are read together, as only those above tell what a word is."""
        start = record.line
        lines = self._file.lines[start:end]
        if len(lines) > 1 and sum(map(len, lines)) + len(lines) <= LONGEST:
            lines = ["\n".join(lines)]
        else:
            start, lines = max(first, start), lines[max(first - start, 0) :]
        for line, text in enumerate(lines, start):
            stop = min(len(text), LONGEST)
            found = piece_tokens(text, self._pieces(record, line, text, stop), line)
            self._found += found if line >= first else [one for one in found if one.line >= first]
            yield stop + _LINE

    def _pieces(self, record: Record, line: int, text: str, stop: int) -> list[Piece]:
        if isinstance(record, Comment):
            start = len(text) - len(text.lstrip())
            return [(start, stop, TokenType.COMMENT, Modifier.NONE)] if start < stop else []
        begins = line == record.line
        is_head = begins and isinstance(record, ComputationLine)
        pieces = statement_pieces(text, 0, stop, is_head=is_head)
        unused = begins and isinstance(record, InstructionLine) and is_unused(self._file, record)
        return _modified(pieces, Modifier.UNUSED) if unused else pieces


def _modified(pieces: list[Piece], more: int, column: int = 0) -> list[Piece]:
    """Return the pieces with modifiers for the first declared name from ``column`` on."""
    for number, (start, end, kind, modifiers) in enumerate(pieces if more else ()):
        if start >= column and modifiers & Modifier.DECLARATION:
            pieces[number] = start, end, kind, modifiers | more
            break
    return pieces
