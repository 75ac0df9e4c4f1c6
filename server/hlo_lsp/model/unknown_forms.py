"""Parts of dumps that have no form that this version knows, as newer compilers print them.

A text that is not known is not an error. The facts that depend on it are unknown, so the answers
that need all facts of a computation or a file ask here first.
"""

from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, Statement
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import ending
from hlo_lsp.model.unknown_parts import (
    LEFT_OUT,
    UnknownPart,
    irregular_records,
    parts_of_record,
)
from hlo_lsp.syntax.damaged_text import is_paired
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import BrokenRecord, Record, RecordBlock


@dataclass(frozen=True, slots=True)
class UnknownForm:
    """An unknown form of a file: its first occurrence and the number of occurrences."""

    first: UnknownPart
    count: int

    def place(self, file: DumpFile) -> Place:
        """Return the place of the first occurrence."""
        part = self.first
        first = part.record.line + part.row
        if file.kind is not FileKind.MODULE:
            return Place(file, first, part.start, part.end)
        text = "\n".join(file.lines[first : part.record.line + part.record.line_count])
        return Statement(file, first, text).place(part.start, part.end)


@dataclass(frozen=True, slots=True)
class UnknownForms:
    """The unknown forms of a file.

    Attributes:
        forms: One for each kind.
        heads: The heads of the computations with unknown forms; a broken line may be one.
        has_outside: Whether a line outside of the computations and of the header of a module is
            unknown, so that a computation may be defined there.
        has_open_brackets: Whether brackets of an unknown line may be closed on another line.
    """

    forms: tuple[UnknownForm, ...]
    heads: frozenset[Record] = frozenset()
    has_outside: bool = False
    has_open_brackets: bool = False

    def concern(self, file: DumpFile, record: Record) -> bool:
        """Return True if facts of a module text about a record, or what it calls, are unknown."""
        head = file.records.head_of(record)
        if head in self.heads or (head is None and self.has_outside):
            return True  # instructions without a head are lines of one computation
        if not isinstance(record, InstructionLine) or not self.heads:
            return False
        callees = (callee.computation for callee in file.module.callees(record))
        return not self.heads.isdisjoint(callees)


# Facts about buffers and instructions do not depend on these.
_WITHOUT_FACTS = frozenset({"field of metadata", "value in metadata", "field of a location"})
NO_FORMS = UnknownForms(())


class _BlockForms(NamedTuple):
    parts: tuple[UnknownPart, ...]
    irregular: frozenset[Record]


def _forms_of_block(file: DumpFile, block: RecordBlock) -> _BlockForms:
    found = block.forms  # an edit changes few blocks
    if not isinstance(found, _BlockForms):
        checkpoint()
        kind, lines = file.kind, file.lines
        irregular = irregular_records(block.records)
        parts = (part for record in irregular for part in parts_of_record(kind, record, lines))
        block.forms = found = _BlockForms(tuple(parts), frozenset(irregular))
    return found


def irregular_in_block(file: DumpFile, block: RecordBlock) -> frozenset[Record]:
    """Return the records of a block in which something may be damaged or unknown."""
    return _forms_of_block(file, block).irregular


@query
def unknown_forms(file: DumpFile) -> UnknownForms:
    """Return the forms in a file that this version does not know."""
    if not file.kind.has_records:
        return NO_FORMS
    counts: dict[str, int] = {}
    firsts: dict[str, UnknownPart] = {}
    heads: set[Record] = set()
    has_outside = has_open_brackets = False
    is_module = file.kind is FileKind.MODULE
    cut = ending(file)
    cut_off = cut.last if cut is not None and cut.is_inside_line else None
    for block in file.records.blocks:
        for part in _forms_of_block(file, block).parts:
            if part.record is cut_off:
                continue
            counts[part.what] = counts.get(part.what, 0) + 1
            firsts.setdefault(part.what, part)
            if (
                not is_module
                or part.what in _WITHOUT_FACTS
                or isinstance(part.record, ModuleHeader)
            ):
                continue
            has_open_brackets = has_open_brackets or _has_open_brackets(part)
            head = _enclosing_head(file, part.record)
            if head is None:
                has_outside = True
            else:
                heads.add(head)
    if not firsts:
        return NO_FORMS
    return UnknownForms(
        tuple(UnknownForm(first, counts[what]) for what, first in firsts.items()),
        frozenset(heads),
        has_outside=has_outside,
        has_open_brackets=has_open_brackets,
    )


def _enclosing_head(file: DumpFile, record: Record) -> Record | None:
    """Return the head of the computation that a record may be in, or None if it is outside."""
    head = file.records.head_of(record)
    if isinstance(head, BrokenRecord):
        return head
    if not isinstance(head, ComputationLine):
        return None
    scope = file.module.computation(head)
    is_after = scope.is_inside or (scope.end is not None and record.line > scope.end)
    return None if is_after and record is not head else head


def _has_open_brackets(part: UnknownPart) -> bool:
    record = part.record
    if part.what not in {"line", LEFT_OUT} or not isinstance(record, BrokenRecord):
        return False
    return part.what == LEFT_OUT or not is_paired(record.text)


def is_complete(file: DumpFile) -> bool:
    """Return True if all forms of a file that facts depend on are known."""
    return all(form.first.what in _WITHOUT_FACTS for form in unknown_forms(file).forms)
