"""The unfinished statement at the cursor, and the instructions above it.

A statement that is being typed rarely parses. This module uses records only to find where it
begins; the regular expressions match prefixes of the statements in ``grammar/module.lark``.
"""

import re
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationEnd, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.statements import (
    STRAY_QUOTES,
    closing_bracket,
    comma_separated_spans,
    comma_separated_texts,
    defined_name,
    tokens_with_depth,
    without_comments,
)

_COMMENT_OR_STRING = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\\"|/\*[\s\S]*?\*/|(//[^\n]*|/\*[\s\S]*)\Z|//[^\n]*'
)
_NAME = r"%?[A-Za-z_][\w.\-]*"
_INSTRUCTION_START = re.compile(rf"(?<![\w.\-%])(?:ROOT\s+)?{_NAME}\s+=\s")
_INSTRUCTION_PREFIX = re.compile(rf"\s*(?:ROOT\s+)?{_NAME}\s*=\s+")
_ARRAY_SHAPE = re.compile(r"[^\s(\[]+\[\S*(?=\s)")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\s*\(")
_LAST_OPERAND = re.compile(r"(?<![\w.\-#])%?([A-Za-z_][\w.\-]*)((?:#\d{1,9})*)\s*$")
_PARAMETER_NUMBER = re.compile(r"\s*(\d{1,9})\s*\)")
_CALLEE = re.compile(r"(?<![\w\-])(?:calls|to_apply)=\s*%?([A-Za-z_][\w.\-]*)")
_WORD = re.compile(r"[%\w.\-]*")
_WORD_BEFORE = re.compile(r"(?<![%\w.\-])[%\w.\-]*\Z")


@dataclass(frozen=True)
class Draft:
    """A statement with the cursor in it.

    Comments are replaced by blanks in both texts. ``line`` and ``column`` are the cursor position
    in code points, from 0. ``siblings`` are the instructions before this one, if the whole
    computation is one record.
    """

    file: DumpFile
    line: int
    column: int
    text_before: str
    text_after: str
    siblings: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The whole statement."""
        return self.text_before + self.text_after

    @cached_property
    def open_brackets(self) -> list[int]:
        """The offsets in ``text_before`` of the open brackets, outermost first."""
        found: list[int] = []
        for match, _ in tokens_with_depth(self.text_before, 0):
            if match[0] in ("(", "[", "{"):
                found.append(match.start())
            elif match[0] in (")", "]", "}") and found:
                found.pop()
        return found

    @cached_property
    def parts(self) -> "InstructionParts | None":
        """The parts of the instruction, if the text before the cursor reaches its operands."""
        return instruction_parts(self.text_before)

    @property
    def word(self) -> tuple[int, int]:
        """The columns of the word at the cursor; both are the cursor column without a word."""
        line = self.file.lines[self.line]
        before = _WORD_BEFORE.search(line, 0, self.column)
        after = _WORD.match(line, self.column)
        assert before is not None and after is not None  # noqa: PT018  # Both match an empty text.
        return before.start(), after.end()

    def column_of(self, offset: int) -> int | None:
        """Return the column of an offset in ``text_before``; None if it is on an earlier line."""
        if "\n" in self.text_before[offset:]:
            return None
        return self.column - (len(self.text_before) - offset)

    def items_before(self, start: int) -> list[tuple[int, int]]:
        """Return the spans between the commas from an offset to the cursor."""
        return list(comma_separated_spans(self.text_before, start, len(self.text_before)))


def draft_at(file: DumpFile, line: int, column: int) -> Draft | None:
    """Return the statement at a position of a module text, or None inside comments and strings."""
    record = file.records.at(line) if file.kind is FileKind.MODULE else None
    if record is None:
        return None
    lines = file.lines[record.line : record.line + record.line_count]
    row = line - record.line
    before = "\n".join([*lines[:row], lines[row][:column]])
    if any(match[1] for match in _COMMENT_OR_STRING.finditer(before)):
        return None
    after = without_comments("\n".join([lines[row][column:], *lines[row + 1 :]]))
    before = without_comments(before)
    if any(match[0] in STRAY_QUOTES for match, _ in tokens_with_depth(before, 0)):
        return None
    is_header = before.lstrip().startswith("HloModule")  # Its attributes contain anything.
    starts = [] if is_header else _open_instructions(before)
    begin, depth = starts[-1] if starts else (0, 0)
    siblings = [at for at, around in starts if around == depth]
    texts = [before[at:end] for at, end in pairwise(siblings)]
    return Draft(file, line, column, before[begin:], after, tuple(texts))


def _open_instructions(text: str) -> list[tuple[int, int]]:
    """Return the starts of instructions of computations that are open at the end of a text.

    Each start has the number of brackets around it.
    """
    found: list[tuple[int, int]] = []
    starts = [match.start() for match in _INSTRUCTION_START.finditer(text)]
    starts.reverse()
    around = 0
    for match, depth in tokens_with_depth(text, 0):
        while starts and starts[-1] < match.end():
            at = starts.pop()
            if at < match.start():  # others are inside of a string
                found.append((at, around))
        while found and found[-1][1] > depth:
            found.pop()
        around = depth + (match[0] in "([{")
    return [*found, *((at, around) for at in reversed(starts))]


class InstructionParts(NamedTuple):
    """The result shape, the opcode, and the offset of the operands of an unfinished instruction."""

    shape: str
    opcode: str
    opened: int


def instruction_parts(text: str) -> InstructionParts | None:
    """Return the parts of an instruction if its text reaches the operands."""
    start, end = result_shape_span(text)
    if start is None:
        return None
    opcode = _OPCODE.match(text, start)
    if opcode is not None:
        return InstructionParts("", opcode[1], opcode.end())
    opcode = None if end is None else _OPCODE.match(text, end)
    return None if opcode is None else InstructionParts(text[start:end], opcode[1], opcode.end())


def result_shape_span(text: str) -> tuple[int | None, int | None]:
    """Return the offsets of the result shape; None if it has not begun, or not ended."""
    defined = _INSTRUCTION_PREFIX.match(text)
    if defined is None:
        return None, None
    start = defined.end()
    if text.startswith("(", start):
        close = closing_bracket(text, start)
        return start, None if close is None else close + 1
    array = _ARRAY_SHAPE.match(text, start)
    return start, None if array is None else array.end()


def operand_texts(text: str, opened: int) -> list[str]:
    """Return the text of each operand, up to the closing parenthesis or the end of the text."""
    close = closing_bracket(text, opened - 1)
    end = len(text) if close is None else close
    found = comma_separated_texts(text, opened, end)
    return found if any(found) else []


class PartialInstruction(NamedTuple):
    """The readable part of an instruction. ``shape`` and ``opcode`` may be empty.

    ``number`` is the parameter number of a parameter instruction.
    """

    name: str
    shape: str
    opcode: str
    is_root: bool
    number: int | None
    line: int


@dataclass(frozen=True, slots=True)
class CompletionScope:
    """The computation at the cursor and the instructions before the cursor.

    ``head`` is None outside of computations. ``above`` lists the nearest instruction first.
    """

    head: Record | None
    above: tuple[PartialInstruction, ...]

    def operand(self, text: str) -> PartialInstruction | None:
        """Return the instruction above the cursor that the text of an operand names.

        For an element such as ``tuple#1``, the instruction has the shape of the element.
        """
        operand = _LAST_OPERAND.search(text)
        found = next((each for each in self.above if operand and each.name == operand[1]), None)
        for number in re.findall(r"\d+", operand[2]) if operand is not None else ():
            shapes = None if found is None else element_texts(found.shape)
            if found is None or shapes is None or int(number) >= len(shapes):
                return None
            found = found._replace(name=f"{found.name}#{number}", shape=shapes[int(number)])
        return found


def completion_scope(draft: Draft) -> CompletionScope:
    """Return the computation and the instructions that are visible at the cursor."""
    records = draft.file.records
    record = records.at(draft.line)
    assert record is not None  # The draft comes from a record on this line.
    if draft.siblings:
        above = [_read_partially(text, draft.line) for text in draft.siblings]
        return CompletionScope(record, tuple(each for each in reversed(above) if each is not None))
    head = records.readable_head_of(record)
    if not isinstance(head, ComputationLine) or head is record:  # not in a computation body
        return CompletionScope(None, ())
    above = []
    for member in takewhile(lambda member: member is not record, records.members(head)):
        if isinstance(member, ComputationEnd):
            return CompletionScope(None, ())
        if isinstance(member, InstructionLine):
            number = parameter_number(member)
            above.append(
                PartialInstruction(
                    member.name, member.shape, member.opcode, member.is_root, number, member.line
                )
            )
        elif isinstance(member, BrokenRecord):
            above.append(_read_partially(member.text, member.line))
    return CompletionScope(head, tuple(each for each in reversed(above) if each is not None))


def _read_partially(text: str, line: int) -> PartialInstruction | None:
    name, parts = defined_name(text), instruction_parts(text)
    if name is None:
        return None
    is_root = text.lstrip().startswith("ROOT")
    if parts is None:
        return PartialInstruction(name, "", "", is_root, None, line)
    number = _PARAMETER_NUMBER.match(text, parts.opened) if parts.opcode == "parameter" else None
    parameter = None if number is None else int(number[1])
    return PartialInstruction(name, parts.shape, parts.opcode, is_root, parameter, line)


def computation_parameters(file: DumpFile, computation: ComputationLine) -> list[InstructionLine]:
    """Return the parameter instructions of a computation, ordered by parameter number."""
    found = file.module.computation(computation).parameters
    return [found[number] for number in sorted(found)]


def callee_parameters(draft: Draft) -> list[InstructionLine]:
    """Return the parameters of the computation that the unfinished instruction calls."""
    found = _CALLEE.search(draft.text)
    callee = None if found is None else draft.file.module.named(found[1])
    return [] if callee is None else computation_parameters(draft.file, callee)
