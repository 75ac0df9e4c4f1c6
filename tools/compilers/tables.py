"""The line of a release, and the tables of ``docs/dump_formats.md``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compilers.compilation import BACKENDS
from compilers.generations import NOT_PRINTED, PARTS, DumpTexts, detect
from compilers.records import (
    COMPARISONS,
    Count,
    Record,
    by_release,
    dump_files,
    read_record,
    version_numbers,
)

FORMS_MARKS = ("<!-- table: begin -->", "<!-- table: end -->")
WATCH_MARKS = ("<!-- watch: begin -->", "<!-- watch: end -->")
_KEY_CELLS = 2  # A row replaces another with the same first cells.


@dataclass
class Table:
    """A Markdown table: its header and its rows, as cells."""

    header: list[str]
    rows: list[list[str]]

    def merged(self, older: "Table | None") -> "Table":
        """Return this table with the rows of an older one that it lacks, newest release first."""
        rows = {tuple(row[:_KEY_CELLS]): row for row in self.rows}
        if older is not None and older.header == self.header:
            rows = {tuple(row[:_KEY_CELLS]): row for row in older.rows} | rows
        ordered = sorted(rows.values(), key=_row_order, reverse=True)
        return Table(self.header, ordered)

    def __str__(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _row_order(row: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    return tuple(version_numbers(cell) for cell in row[:_KEY_CELLS])


Tables = dict[str, Table]  # by their heading, which may be empty


def forms_tables(folders: Sequence[Path]) -> Tables:
    """Return a table with the forms of the dumps for each backend, a row per folder."""
    header = ["jax", "compiler", *PARTS]
    tables = {}
    for name, backend in BACKENDS.items():
        records = [(folder, read_record(folder)) for folder in folders]
        rows = [_forms_row(folder, one) for folder, one in records if one.backend == name]
        if rows:
            tables[backend.title] = Table(header, rows)
    return tables


def _forms_row(folder: Path, record: Record) -> list[str]:
    if not record.compiled:
        problem = record.problem or "no program compiles"
        return [record.version, problem, *[NOT_PRINTED] * len(PARTS)]
    forms = detect(DumpTexts.read(dump_files(folder)))
    return [record.version, record.compiler, *forms.values()]


def watch_table(records: Sequence[Record]) -> Tables:
    """Return the table with what the checker and the comparisons found, a row per release."""
    titles = (backend.title for backend in BACKENDS.values())
    header = ["jax", "libtpu", "Python", *titles, "errors", "warnings", *COMPARISONS]
    return {"": Table(header, [_watch_row(release) for release in by_release(records)])}


def _watch_row(release: Sequence[Record]) -> list[str]:
    by_backend = {record.backend: record for record in release}
    backends = (by_backend.get(name) for name in BACKENDS)
    return [
        release[0].version,
        _libtpu(release),
        ", ".join(sorted({record.python for record in release} - {""})) or NOT_PRINTED,
        *(NOT_PRINTED if record is None else _made(record) for record in backends),
        _sum([record.errors for record in release]),
        _sum([record.warnings for record in release]),
        *(_counted(_total(release, name)) for name in COMPARISONS),
    ]


def _libtpu(release: Sequence[Record]) -> str:
    names = (record.compiler.split() for record in release if record.backend == "tpu")
    return next((words[1] for words in names if len(words) > 1), NOT_PRINTED)


def _made(record: Record) -> str:
    if not record.compiled:
        return NOT_PRINTED
    failed = len(record.programs) - record.compiled
    return f"{record.compiles} compiles, {record.files} files{f', {failed} fail' if failed else ''}"


def _sum(numbers: Sequence[int | None]) -> str:
    known = [number for number in numbers if number is not None]
    return str(sum(known)) if known else NOT_PRINTED


def _total(release: Sequence[Record], name: str) -> Count:
    return sum((record.counts.get(name, Count()) for record in release), Count())


def _counted(count: Count) -> str:
    words = [f"{count.agree:,}"]
    if count.differ:
        words.append(f"**{count.differ:,} differ**")
    if count.unknown:
        words.append(f"{count.unknown:,} unknown")
    return ", ".join(words)


def release_line(release: Sequence[Record]) -> str:
    """Return one line with all numbers of a release."""
    python = ", ".join(sorted({record.python for record in release} - {""})) or "none"
    parts = [f"jax {release[0].version}: Python {python}, libtpu {_libtpu(release)}"]
    for record in release:
        made = _made(record) if record.compiled else record.problem or "no program compiles"
        parts.append(f"{record.backend} {made}")
    errors, warnings = (
        _sum([getattr(record, name) for record in release]) for name in ("errors", "warnings")
    )
    parts.append(f"{errors} errors, {warnings} warnings")
    for name in COMPARISONS:
        count = _total(release, name)
        unknown = f" {count.unknown:,} unknown" if count.unknown else ""
        parts.append(f"{name} {count.agree:,} agree {count.differ:,} differ{unknown}")
    again = [one for record in release for one in record.recompiled.values()]
    if again:
        parts.append(f"{sum(not one for one in again)} of {len(again)} reproduced")
    return "; ".join(parts)


def problem_lines(release: Sequence[Record]) -> list[str]:
    """Return a line for each program that fails and each difference."""
    lines = []
    for record in release:
        failures = ((name, reason) for name, reason in record.programs.items() if reason)
        lines += [f"{record.backend}: {name} fails: {reason[:160]}" for name, reason in failures]
        lines += [f"{record.backend}: {difference}" for difference in record.differences]
        again = ((name, one) for name, one in record.recompiled.items() if one)
        lines += [f"{record.backend}: compiled again: {name}: {one[:160]}" for name, one in again]
        if record.oracles not in {"", "pass"}:
            lines.append(f"{record.backend}: oracles: {record.oracles}")
    return lines


def update_document(document: Path, marks: tuple[str, str], tables: Tables) -> None:
    """Merge tables into those between two marks of a Markdown document."""
    begin, end = marks
    text = document.read_text("utf-8")
    if begin not in text or end not in text:
        raise SystemExit(f"{document} has no {begin} and {end}")
    before, _, rest = text.partition(begin)
    old, _, after = rest.partition(end)
    older = parse_tables(old)
    merged = {title: table.merged(older.get(title)) for title, table in tables.items()}
    between = markdown({title: (older | merged)[title] for title in _titles(older, merged)})
    document.write_text(f"{before}{begin}\n\n{between}\n{end}{after}", "utf-8")


def _titles(older: Mapping[str, Table], newer: Mapping[str, Table]) -> list[str]:
    return [*older, *(title for title in newer if title not in older)]


def markdown(tables: Tables) -> str:
    """Return tables with their headings as Markdown."""
    return "\n".join(
        f"### {title}\n\n{table}\n" if title else f"{table}\n" for title, table in tables.items()
    )


def parse_tables(text: str) -> Tables:
    """Return the tables of a Markdown text by their headings."""
    tables: Tables = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("### "):
            title = line.removeprefix("### ")
        elif line.startswith("|"):
            cells = line[2:-2].split(" | ")
            if title not in tables:
                tables[title] = Table(cells, [])
            elif cells[0] != "---":
                tables[title].rows.append(cells)
    return tables
