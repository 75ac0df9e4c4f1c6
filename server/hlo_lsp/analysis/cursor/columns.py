"""Where in its line the name stands that a record is about."""

from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, SequenceRow
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue


def name_columns(record: Record, text: str) -> tuple[int, int]:
    """The columns of the name in the first line of a record: of ``<2 add.14 @0>`` for a value.

    By the fixed parts of the line, without reading it again: outlines ask this for every record.
    """
    if isinstance(record, UsedValue):
        start, end = text.find("<", record.column), text.rfind(">") + 1
    elif isinstance(record, AssignedValue):
        start, end = text.find("<"), text.find(">") + 1
    elif isinstance(record, RangeRow | PeakRow):
        start = 4
        end = start + len(record.name) + len(record.index or "")
    elif isinstance(record, SequenceRow):
        start, end = text.find(":") + 1, len(text)
    elif isinstance(record, InlineComputation):  # has no name; the attribute says what it is
        start = text.find(f"{record.attribute}=")
        end = start + len(record.attribute)
    elif isinstance(record, InstructionLine | ComputationLine):
        start = text.find(record.name, _name_begins(record, text))
        end = start + len(record.name)
    else:
        start = end = -1
    if start < 0 or end <= start:
        return len(text) - len(text.lstrip()), len(text.rstrip())
    return start, end


def _name_begins(record: InstructionLine | ComputationLine, text: str) -> int:
    """A column behind everything that may stand in front of the name."""
    if isinstance(record, ComputationLine):
        return text.find("ENTRY") + 5 if record.is_entry else 0
    begin = record.column
    return text.find("ROOT", begin) + 4 if record.is_root else begin
