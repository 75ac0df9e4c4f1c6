"""The computation that the cursor is in, and what it has defined so far."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.analysis.writing.draft import Draft, definitions
from hlo_lsp.analysis.writing.slots import parts_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InstructionLine,
)
from hlo_lsp.syntax.records import Broken, Record
from hlo_lsp.syntax.statements import defined_name

_NUMBER = re.compile(r"\s*(\d+)\s*\)")


class Definition(NamedTuple):
    """An instruction as far as it can be read: ``shape`` and ``opcode`` may be empty.

    ``number`` is that of a parameter.
    """

    name: str
    shape: str
    opcode: str
    is_root: bool
    number: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``head`` is the computation around the cursor, None outside of all; ``above`` what it
    defines in front of the cursor, nearest first."""

    head: Record | None
    above: tuple[Definition, ...]

    def named(self, name: str) -> Definition | None:
        """The instruction of this name above the cursor."""
        return next((found for found in self.above if found.name == name), None)


def surroundings(draft: Draft) -> Surroundings:
    """What is around the cursor."""
    record = draft.file.records.at(draft.line)
    assert record is not None  # a draft has been read there
    if draft.body is not None:
        found = [_of_text(text, draft.line) for text in definitions(draft.body)]
        return Surroundings(record, tuple(item for item in reversed(found) if item is not None))
    head = _head(draft.file, record)
    if head is None or head is record:  # outside of all, or in the head of one
        return Surroundings(None, ())
    above: list[Definition] = []
    for member in draft.file.records.members(head):
        if member is record:
            break
        if isinstance(member, ComputationEnd):
            return Surroundings(None, ())
        defined = _of_record(member)
        if defined is not None:
            above.append(defined)
    return Surroundings(head, tuple(reversed(above)))


def parameters(file: DumpFile, computation: ComputationLine) -> list[InstructionLine]:
    """The parameters of a computation in order, as its instructions say."""
    found = file.module.computation(computation).parameters
    return [found[number] for number in sorted(found)]


def dimensions(shape: str) -> str:
    """The dimensions of an array, ``[8,128]``; of a tuple all of it."""
    plain = without_layout(shape)
    return plain if plain.startswith("(") else plain[plain.find("[") :]


def _head(file: DumpFile, record: Record) -> Record | None:
    """The head above, past lines at the left edge that cannot be read (yet)."""
    while isinstance(record, Broken) and record.is_head and record.line > 0:
        above = file.records.at(record.line - 1)
        assert above is not None
        record = above
    head = file.records.head_of(record)
    if isinstance(head, Broken) and head is not record:
        return _head(file, head)
    return head if isinstance(head, ComputationLine) else None


def _of_record(record: Record) -> Definition | None:
    if isinstance(record, InstructionLine):
        return _of_text(record.text, record.line, record)
    return _of_text(record.text, record.line) if isinstance(record, Broken) else None


def _of_text(text: str, line: int, read: InstructionLine | None = None) -> Definition | None:
    if read is not None and read.opcode != "parameter":
        return Definition(read.name, read.shape, read.opcode, read.is_root, None, line)
    name = defined_name(text)
    if name is None:
        return None
    is_root = text.lstrip().startswith("ROOT")
    parts = parts_of(text)
    if parts is None:
        return Definition(name, "", "", is_root, None, line)
    number = _NUMBER.match(text, parts.opened) if parts.opcode == "parameter" else None
    return Definition(
        name, parts.shape, parts.opcode, is_root, None if number is None else int(number[1]), line
    )


def callee_of(file: DumpFile, text: str, attribute: str) -> ComputationLine | None:
    """The computation that an attribute of an unfinished instruction names, also in a list."""
    found = re.search(rf"(?<![\w\-]){attribute}=\{{?\s*%?([A-Za-z_][\w.\-]*)", text)
    return None if found is None else file.module.named(found[1])
