"""The context of one check run: facts of the compile that several rules need."""

from functools import cached_property

from hlo_lsp.checks.config.options import DEFAULTS, Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.sizes import Target, target_of
from hlo_lsp.program.computations import ComputationScopes, LocationTables
from hlo_lsp.syntax.memory_records import LiveRangeLabel
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.used_value import UsedValue


class Context:
    """The compile and the thresholds of one check run, with cached facts."""

    def __init__(
        self, dump: DumpSet, thresholds: Thresholds = DEFAULTS, whole: DumpSet | None = None
    ) -> None:
        self.dump = dump
        # This set includes the foreign files in the same folder.
        self.whole = dump if whole is None else whole
        self.thresholds = thresholds
        self._scopes: dict[DumpFile, ComputationScopes] = {}
        self._tables: dict[DumpFile, LocationTables] = {}

    def scopes(self, file: DumpFile) -> ComputationScopes:
        """Return the computations of a module text."""
        known = self._scopes.get(file)
        if known is None:
            known = self._scopes[file] = ComputationScopes(file)
        return known

    def tables(self, file: DumpFile) -> LocationTables:
        """Return the tables of source locations of a module text."""
        known = self._tables.get(file)
        if known is None:
            known = self._tables[file] = LocationTables(file)
        return known

    @cached_property
    def target(self) -> Target:
        """The backend and its tuple granule."""
        return target_of(self.dump)

    @cached_property
    def schedule(self) -> LocatedRecord[LiveRangeLabel] | None:
        """The line with the length of the schedule."""
        return self.dump.label(LiveRangeLabel)

    @cached_property
    def knows_assignment(self) -> bool:
        """True if one of the files has allocations."""
        return any(len(file.memory.assigned) for file in self.dump.files)

    @cached_property
    def misses_assigned(self) -> bool:
        """True if a line that may define an allocation or an assigned value is malformed."""
        return any(
            isinstance(record, BrokenRecord) and not record.text.startswith("  ")
            for file in self.dump.files
            if len(file.memory.assigned)
            for record in file.memory.damaged
        )

    @cached_property
    def misses_entries(self) -> bool:
        """True if the header of a used value is malformed or missing."""
        return any(
            isinstance(record, UsedValue) and record.id is None
            for file in self.dump.files
            for record in file.memory.damaged
        )

    @cached_property
    def knows_entries(self) -> bool:
        """True if one of the files has used values."""
        return any(len(file.memory.entries) for file in self.dump.files)
