"""The semantic tokens of a file, with modifiers for unused and thread-local names."""

from collections.abc import Iterator
from itertools import chain, takewhile

from hlo_lsp.ide.tokens.line_tokens import (
    SemanticToken,
    TokenModifier,
    TokenSpan,
    TokenType,
    line_spans,
    statement_spans,
    tokens_of_spans,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Value
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import Comment, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import rule_of
from hlo_lsp.syntax.used_value import UsedValue

# The opcodes with side effects (hlo_instruction.cc, HasSideEffectNoRecurse).
_SIDE_EFFECT_OPCODES = frozenset(
    {
        *("all-gather-done", "all-gather-start", "all-reduce-done", "all-reduce-start"),
        *("collective-permute-done", "collective-permute-start", "infeed", "outfeed", "recv"),
        *("recv-done", "rng", "rng-get-and-update-state", "send", "send-done"),
    }
)
_SIDE_EFFECT_ATTRIBUTE = "custom_call_has_side_effect=true"


def value_modifiers(dump: Compile, value_id: int) -> int:
    """Return the modifiers of a value, from the files of the compile that are loaded."""
    value = dump.value(value_id)
    if value is None:
        return TokenModifier.NONE
    if value.allocation is not None and value.allocation.record.thread_local:
        return TokenModifier.THREAD_LOCAL
    return TokenModifier.UNUSED if _is_unused_value(dump, value) else TokenModifier.NONE


def is_unused(file: DumpFile, instruction: InstructionLine) -> bool:
    """Return whether an instruction has no users, no side effects, and is not a result.

    Instructions that call computations are never unused.
    """
    if instruction.is_root or file.module.is_mentioned(instruction):
        return False
    return not _has_side_effect(instruction) and not file.module.is_root(instruction)


def _is_unused_value(dump: Compile, value: Value) -> bool:
    """Return whether a value has no uses, and is neither an output nor the result of a computation.

    XLA prints ``(none)`` for the root of a computation as well, so the module text has to confirm
    it.
    """
    entry = value.entry
    if entry is None or not entry.record.whole or next(entry.record.uses, None) is not None:
        return False
    if value.allocation is None or value.allocation.record.maybe_live_out:
        return False
    holders = [dump.instruction(position.name) for position in entry.record.positions]
    return all(each and not each.file.module.is_root(each.record) for each in holders)


def _has_side_effect(instruction: InstructionLine) -> bool:
    if instruction.opcode in _SIDE_EFFECT_OPCODES or _SIDE_EFFECT_ATTRIBUTE in instruction.text:
        return True
    if instruction.wrapped_opcode:
        return True
    return instruction.opcode != "fusion" and bool(instruction.bodies or instruction.called)


# Later columns of a line have no tokens. Visual Studio Code stops rendering there
# (editor.stopRenderingLineAfter), and lines of 100,000 characters are not rare.
MAX_TOKENIZED_COLUMNS = 10_000


def semantic_tokens(
    dump: Compile, file: DumpFile, first: int = 0, end: int | None = None
) -> Iterator[list[SemanticToken]]:
    """Yield the tokens of the lines from ``first`` to ``end`` (from 0, exclusive), some lines each.

    The tokens are ordered, do not overlap, and do not cross line ends.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    record = file.records.at(first) if first < end else None
    following = () if record is None else chain([record], file.records.after(record))
    for record in takewhile(lambda record: record.line < end, following):
        stop = min(end, record.line + record.line_count)
        if file.kind is FileKind.MODULE:
            yield from _statement_tokens(file, record, first, stop)
        else:
            yield from _line_tokens(dump, file, record, range(max(first, record.line), stop))


def _line_tokens(
    dump: Compile, file: DumpFile, record: Record, lines: range
) -> Iterator[list[SemanticToken]]:
    for line in lines:
        text = file.lines[line]
        stop = min(len(text), MAX_TOKENIZED_COLUMNS)
        pieces = line_spans(rule_of(record, text), text, stop)
        if line == record.line and isinstance(record, AssignedValue | UsedValue):
            more = TokenModifier.NONE if record.id is None else value_modifiers(dump, record.id)
            column = record.column if isinstance(record, UsedValue) else 0
            pieces = _with_modifiers(pieces, more, column)
        yield tokens_of_spans(text, pieces, line)


def _statement_tokens(
    file: DumpFile, record: Record, first: int, end: int
) -> Iterator[list[SemanticToken]]:
    """Yield the tokens of a record of a module, from line ``first`` on.

    The lines are read together, because names depend on the preceding lines.
    """
    start = record.line
    lines = file.lines[start:end]
    if len(lines) > 1 and sum(map(len, lines)) + len(lines) <= MAX_TOKENIZED_COLUMNS:
        lines = ["\n".join(lines)]
    else:
        start, lines = max(first, start), lines[max(first - start, 0) :]
    for line, text in enumerate(lines, start):
        stop = min(len(text), MAX_TOKENIZED_COLUMNS)
        tokens = tokens_of_spans(text, _statement_pieces(file, record, line, text, stop), line)
        yield tokens if line >= first else [one for one in tokens if one.line >= first]


def _statement_pieces(
    file: DumpFile, record: Record, line: int, text: str, stop: int
) -> list[TokenSpan]:
    if isinstance(record, Comment):
        start = len(text) - len(text.lstrip())
        return [(start, stop, TokenType.COMMENT, TokenModifier.NONE)] if start < stop else []
    begins = line == record.line
    is_head = begins and isinstance(record, ComputationLine)
    pieces = statement_spans(text, stop, is_head=is_head)
    unused = begins and isinstance(record, InstructionLine) and is_unused(file, record)
    return _with_modifiers(pieces, TokenModifier.UNUSED) if unused else pieces


def _with_modifiers(pieces: list[TokenSpan], more: int, column: int = 0) -> list[TokenSpan]:
    """Return the spans with more modifiers on the first declared name from ``column`` on."""
    for number, (start, end, kind, modifiers) in enumerate(pieces if more else ()):
        if start >= column and modifiers & TokenModifier.DECLARATION:
            pieces[number] = start, end, kind, modifiers | more
            break
    return pieces
