"""The inputs of rules: one record or one compile, with the means to report findings."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.program.computations import ComputationScopes, LocationTables
from hlo_lsp.syntax.records import Record

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class RecordCheck(Generic[R]):
    """One record to check, with the context of the run and the rule's code and severity."""

    context: Context
    file: DumpFile
    record: R
    code: str
    severity: Severity

    def finding(self, message: str, role: str | None = None, *related: Related) -> Finding:
        """Return a finding at a field of the record's first line, or at the whole line."""
        return Finding(self.code, self.severity, self.place(role), message, related)

    def place(self, role: str | None = None) -> Place:
        """Return the place of a field of the record's first line, or of the whole line."""
        return field_place(self.file, self.record, role)

    def number(self, record: Record) -> int:
        """Return the 1-based line number of another record of the file, for messages."""
        return LocatedRecord(self.file, record).number

    def finding_at(self, row: int, start: int, end: int, message: str) -> Finding:
        """Return a finding at columns of a line of the record.

        Args:
            row: the line, counted from 0 at the first line of the record.
            start: the first column, in code points from 0.
            end: the column after the last one.
            message: the text of the finding.
        """
        place = Place(self.file, self.record.line + row, start, end)
        return Finding(self.code, self.severity, place, message)

    @property
    def scopes(self) -> ComputationScopes:
        """The computations of the file."""
        return self.context.scopes(self.file)

    @property
    def tables(self) -> LocationTables:
        """The tables of source locations of the file."""
        return self.context.tables(self.file)

    def report(self, place: Place, message: str, *related: Related) -> Finding:
        """Return a finding at a place."""
        return Finding(self.code, self.severity, place, message, related)


@dataclass(frozen=True, slots=True)
class CompileCheck:
    """One compile to check, with the context of the run and the rule's code and severity."""

    context: Context
    code: str
    severity: Severity

    @property
    def dump(self) -> DumpSet:
        """The files of the compile."""
        return self.context.dump

    def report(self, place: Place, message: str, *related: Related) -> Finding:
        """Return a finding at a place."""
        return Finding(self.code, self.severity, place, message, related)

    def finding(
        self, found: "LocatedRecord[Any]", role: str | None, message: str, *related: Related
    ) -> Finding:
        """Return a finding at a field of a record's first line, or at the whole line."""
        return self.report(field_place(found.file, found.record, role), message, *related)
