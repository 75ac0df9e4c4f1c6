"""Peak lists of jax 0.4 and 0.5, which name instructions instead of values."""

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.memory_records import PeakLabel, PeakRow, RangeRow


def peak_row_key(file: DumpFile, row: PeakRow) -> str | None:
    """Return the key of the value of a row without an index, or None if rows are damaged.

    The rows have the order of ``BufferLiveRange``, restricted to values that are live at the peak.
    """
    label = file.records.head_of(row)
    if not isinstance(label, PeakLabel):
        return None
    rows = [record for record in file.records.members(label) if isinstance(record, PeakRow)]
    ranges = sorted(file.memory.ranges.records(), key=_line)
    live = [live for live in ranges if live.start_step <= label.moment <= live.end_step]
    if [peak.name for peak in rows] != [live.name for live in live]:
        return None
    return live[rows.index(row)].key


def _line(record: RangeRow) -> int:
    return record.line
