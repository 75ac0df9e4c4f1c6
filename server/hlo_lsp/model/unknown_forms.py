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
from hlo_lsp.model.unknown_lines import depends_on_lines_around
from hlo_lsp.model.unknown_parts import (
    LEFT_OUT,
    UnknownPart,
    irregular_records,
    parts_of_record,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record, RecordBlock


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
        computations: The heads of the computations with unknown forms.
        concerns_all: Whether a line outside of computations and of the header is unknown, so that
            any name may be defined there.
    """

    forms: tuple[UnknownForm, ...]
    computations: frozenset[Record]
    concerns_all: bool

    @property
    def has_lines(self) -> bool:
        """True if a whole line or statement is unknown, whose brackets may continue elsewhere."""
        return any(form.first.what in {"line", LEFT_OUT} for form in self.forms)

    def concern(self, file: DumpFile, record: Record) -> bool:
        """Return True if facts of the computation of a record, or of one it calls, are unknown."""
        if self.concerns_all or file.records.head_of(record) in self.computations:
            return True
        if not isinstance(record, InstructionLine) or not self.computations:
            return False
        callees = (callee.computation for callee in file.module.callees(record))
        return not self.computations.isdisjoint(callees)


# Facts about buffers and instructions do not depend on these.
_WITHOUT_FACTS = frozenset({"field of metadata", "value in metadata", "field of a location"})
NO_FORMS = UnknownForms((), frozenset(), concerns_all=False)


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
        found = _BlockForms(tuple(parts), frozenset(irregular))
        # Lines of other blocks can change without this one.
        if not any(depends_on_lines_around(kind, record) for record in irregular):
            block.forms = found
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
    computations: set[Record] = set()
    concerns_all = False
    records, kind = file.records, file.kind
    cut = ending(file)
    cut_off = cut.last if cut is not None and cut.is_inside_line else None
    for block in records.blocks:
        for part in _forms_of_block(file, block).parts:
            if part.record is cut_off:
                continue
            counts[part.what] = counts.get(part.what, 0) + 1
            firsts.setdefault(part.what, part)
            if part.what in _WITHOUT_FACTS:
                continue
            if not isinstance(part.record, ModuleHeader):
                head = None if kind is not FileKind.MODULE else records.head_of(part.record)
                if isinstance(head, ComputationLine):
                    computations.add(head)
                else:
                    concerns_all = True
    found = tuple(UnknownForm(first, counts[what]) for what, first in firsts.items())
    return (
        UnknownForms(found, frozenset(computations), concerns_all=concerns_all)
        if found
        else NO_FORMS
    )


def is_complete(file: DumpFile) -> bool:
    """Return True if all forms of a file that facts depend on are known."""
    return all(form.first.what in _WITHOUT_FACTS for form in unknown_forms(file).forms)
