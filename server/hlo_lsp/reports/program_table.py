"""One row for each program: its memory, its least time, and what of the network is exposed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlo_lsp.cost.utilization import network_transfers
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost
from hlo_lsp.text.amounts import format_short_bytes, format_time, in_seconds
from hlo_lsp.text.inert import Json


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """The numbers of a program; each is None if it is unknown.

    Attributes:
        label: What distinguishes the program from others, such as ``BATCH=8``.
        name: The module, None without a dump.
        peak_bytes: The peak of the largest memory space off the chip.
        needed_bytes: What is allocated in it, or, of a program that does not fit, what it needs.
        capacity_bytes: What the chip has of this memory.
        least_ps: The least time of a run.
        exposed_ps: The least time of collectives that no work covers.
        problem: Why the program has no numbers, or is of no use; empty otherwise.
    """

    label: str
    name: str | None = None
    peak_bytes: int | None = None
    needed_bytes: int | None = None
    capacity_bytes: int | None = None
    least_ps: float | None = None
    exposed_ps: float | None = None
    problem: str = ""

    @property
    def headroom_bytes(self) -> int | None:
        """The bytes that the memory has more than the program needs; negative if it has less."""
        if self.capacity_bytes is None or self.needed_bytes is None:
            return None
        return self.capacity_bytes - self.needed_bytes


def program_row(label: str, dumps: Iterable[Compile], chip: str | None = None) -> ProgramRow:
    """Return the row of the compile with the largest peak.

    Args:
        label: What distinguishes the program from others.
        dumps: The compiles of a program.
        chip: The name of the chip, by default that of the dumps.
    """
    dump = max(dumps, key=largest_peak_bytes, default=None)
    if dump is None:
        return ProgramRow(label)
    summary = summarize_with_cost(dump, SummaryOptions(count=1), chip)
    main, cost = summary.main, summary.cost
    network = None if cost is None else network_transfers(cost)
    return ProgramRow(
        label,
        dump.module_name,
        None if main is None else main.bytes,
        None if main is None else main.scheduled_bytes,
        summary.capacity_bytes,
        None if cost is None else cost.total.least_ps,
        sum((one.uncovered_ps for one in network), 0.0) if network else None,
    )


def program_table(rows: Sequence[ProgramRow]) -> Content:
    """Yield the table; columns without a known number are left out."""
    numbers = {
        ">peak": [_size(row.peak_bytes) for row in rows],
        ">allocated": [_size(row.needed_bytes) for row in rows],
        ">headroom": [_size(row.headroom_bytes) for row in rows],
        ">least time": [_time(row.least_ps) for row in rows],
        ">exposed network": [_time(row.exposed_ps) for row in rows],
        "module": [f"`{row.name}`" if row.name else "" for row in rows],
        "problem": [row.problem for row in rows],
    }
    columns = {title: cells for title, cells in numbers.items() if any(cells)}
    cells = zip([row.label for row in rows], *columns.values(), strict=True)
    yield Table(("program", *columns), list(cells))


def row_change(rows: Sequence[ProgramRow]) -> str:
    """Return how the numbers of a program change over rows; an equal or only number stands once.

    For example ``peak 705.10 MiB -> 677.10 MiB, least time 1.90 ms``.
    """
    numbers = {
        "peak": [_size(row.peak_bytes) for row in rows],
        "allocated": [_size(row.needed_bytes) for row in rows],
        "least time": [_time(row.least_ps) for row in rows],
    }
    if any(numbers["peak"]):
        del numbers["allocated"]
    return ", ".join(
        f"{title} {' -> '.join(dict.fromkeys(each or 'unknown' for each in cells))}"
        for title, cells in numbers.items()
        if any(cells)
    )


def _size(count: int | None) -> str:
    if count is None:
        return ""
    return format_short_bytes(count) if count >= 0 else f"-{format_short_bytes(-count)}"


def _time(picoseconds: float | None) -> str:
    return "" if picoseconds is None else format_time(picoseconds)


def program_json(row: ProgramRow) -> Json:
    """Return a row as JSON; see docs/json_schema.md."""
    return {
        "program": row.label,
        "name": row.name,
        "peak_bytes": row.peak_bytes,
        "allocated_bytes": row.needed_bytes,
        "capacity_bytes": row.capacity_bytes,
        "headroom_bytes": row.headroom_bytes,
        "least_seconds": in_seconds(row.least_ps),
        "exposed_network_seconds": in_seconds(row.exposed_ps),
        "problem": row.problem or None,
    }
