"""What the records of a module text say, by name."""

from hlo_lsp.model.multimap import MultiMap
from hlo_lsp.model.source import SourceTables
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    FrameRow,
    InstructionLine,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.sequence import RecordSequence

_TABLES = (FrameRow, LocationRow, NameRow, TableLabel)


class ModuleIndex:
    """Instructions and computations by name, and the tables of source locations."""

    def __init__(self, records: RecordSequence) -> None:
        self._records = records
        self._tables: SourceTables | None = None
        self.computations: MultiMap[str, ComputationLine] = MultiMap()
        self.instructions: MultiMap[str, InstructionLine] = MultiMap()

    def enter(self, record: Record) -> None:
        """Take a new record in."""
        if isinstance(record, InstructionLine):
            self.instructions.add(record.name, record)
        elif isinstance(record, ComputationLine):
            self.computations.add(record.name, record)
            self._tables = None  # they end at the first computation
        elif isinstance(record, _TABLES):
            self._tables = None

    def leave(self, record: Record) -> None:
        """Take an old record out."""
        if isinstance(record, InstructionLine):
            self.instructions.remove(record.name, record)
        elif isinstance(record, ComputationLine):
            self.computations.remove(record.name, record)
            self._tables = None
        elif isinstance(record, _TABLES):
            self._tables = None

    @property
    def tables(self) -> SourceTables:
        """The location tables; read again after an edit of them."""
        if self._tables is None:
            self._tables = SourceTables.of(self._records)
        return self._tables
