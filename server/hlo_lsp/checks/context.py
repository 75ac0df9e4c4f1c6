"""What all rules of one run share: facts of the compile that are worth looking up once."""

from functools import cached_property

from hlo_lsp.checks.config.options import DEFAULTS, Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import Target, target_of
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.program.computations import ComputationScopes, LocationTables
from hlo_lsp.syntax.memory_records import LiveRangeLabel
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.used_value import UsedValue


class Context:
    """A compile as the rules of one run see it."""

    def __init__(
        self, dump: DumpSet, thresholds: Thresholds = DEFAULTS, whole: DumpSet | None = None
    ) -> None:
        self.dump = dump
        # With the files of other compiles that lie beside it.
        self.whole = dump if whole is None else whole
        self.thresholds = thresholds
        self._scopes: dict[DumpFile, ComputationScopes] = {}
        self._tables: dict[DumpFile, LocationTables] = {}

    def scopes(self, file: DumpFile) -> ComputationScopes:
        """The computations of a module text."""
        known = self._scopes.get(file)
        if known is None:
            known = self._scopes[file] = ComputationScopes(file)
        return known

    def tables(self, file: DumpFile) -> LocationTables:
        """The tables of source locations of a module text."""
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
        """The line that says how long the schedule is."""
        return self.dump.label(LiveRangeLabel)

    @cached_property
    def knows_assignment(self) -> bool:
        """Whether the allocations are among the files."""
        return any(len(file.memory.assigned) for file in self.dump.files)

    @cached_property
    def misses_assigned(self) -> bool:
        """Whether a line is broken that may have been an allocation or a value in one."""
        return any(
            isinstance(record, BrokenRecord) and not record.text.startswith("  ")
            for file in self.dump.files
            if len(file.memory.assigned)
            for record in file.memory.damaged
        )

    @cached_property
    def misses_entries(self) -> bool:
        """Whether the header of an entry is broken or gone."""
        return any(
            isinstance(record, UsedValue) and record.id is None
            for file in self.dump.files
            for record in file.memory.damaged
        )

    @cached_property
    def knows_entries(self) -> bool:
        """Whether the used values are among the files."""
        return any(len(file.memory.entries) for file in self.dump.files)
