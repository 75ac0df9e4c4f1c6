"""Damage to the memory usage report, and files that are of other compiles or gone."""

from random import Random

from faults.digits import near, of_another, typed
from faults.dump import Damage, Dump, Lines, Row
from faults.fault import Injection, faults
from faults.injections import beside, change, damage, double, drop, pick, replaced, swap
from hlo_lsp.syntax.file_kinds import FileKind

_TELLING = 6  # values: two smaller programs may be reported apart by nothing


def _wider(field: str) -> Injection:
    """Another number in its column, its width kept."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, "table_row")
        if row is None:
            return None
        new = (random.choice((near, typed)))(field)(random, dump, row)
        if new is None:
            return None
        start, end = row.match.span(field)
        front = row.text[:start]
        grown = len(new) - (end - start)
        front = front[: len(front) - grown] if grown > 0 else front + " " * -grown
        lines = dump.lines[row.path]
        text = front + new + row.text[end:]
        reported = f"{field} `{row[field]}` -> `{new}`"
        return damage(
            row.path, replaced(lines, row.line, row.line + 1, [text]), [row.line], reported
        )

    return inject


def _shapes(random: Random, dump: Dump, row: Row) -> str | None:
    for old, new in (("f32[", "s32["), ("bf16[", "f16["), ("s32[", "u32["), ("u32[", "f32[")):
        if old in row["shapes"]:
            return row["shapes"].replace(old, new, 1)
    return None


def _size(random: Random, dump: Dump, row: Row) -> str | None:
    others = sorted({other["size"] for other in dump.rows("table_row")} - {row["size"]})
    fits = [other for other in others if len(other) == len(row["size"])]
    return random.choice(fits) if fits else None


def _first(lines: Lines) -> int:
    return next(number for number, line in enumerate(lines) if line.strip())


def _length(dump: Dump) -> int:
    return len(dump.rows("assigned"))


def _of_another(kind: FileKind) -> Injection:
    """Replace a file by that of another compile."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        path, other = dump.path(kind), random.choice(dump.others)
        its = other.path(kind)
        if path is None or its is None or min(_length(dump), _length(other)) < _TELLING:
            return None
        if other.lines[its] == dump.lines[path]:
            return None
        lines = other.lines[its]
        comparable = [one for one in dump.lines if dump.kind(one) is not FileKind.REPORT]
        also = [(one, 0) for one in comparable] if len(comparable) == 2 else []  # either is right
        return damage(path, lines, [_first(lines)], f"the file of {other.name}", also)

    return inject


def _gone(kind: FileKind) -> Injection:
    """Remove a file."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        path = dump.path(kind)
        others = [other for other in dump.lines if dump.kind(other).is_memory and other != path]
        if path is None or not dump.path(FileKind.VALUES):
            return None
        right = {
            (other, number)
            for other in others
            for number in range(2)
            if dump.lines[other][number].strip()
        }
        return Damage({path: None}, frozenset(right), f"no {path.name}")

    return inject


FAULTS = (
    *faults(
        "report-mismatch",
        a_size=change("table_row", "size", _size),
        an_offset=_wider("offset"),
        a_count=_wider("values"),
        shapes=change("table_row", "shapes", _shapes),
        cumulative=change("table_row", "cumulative", of_another("table_row", "cumulative")),
        a_row_less=drop("table_row"),
        a_row_twice=double("table_row"),
        two_rows_swapped=swap("table_row", beside),
        total=change("space_total", "total", typed("total")),
    ),
    *faults(
        "sibling-mismatch",
        values=_of_another(FileKind.VALUES),
        live_ranges=_of_another(FileKind.LIVE_RANGE),
        module=_of_another(FileKind.MODULE),
        allocations=_of_another(FileKind.ASSIGNMENT),
    ),
    *faults(
        "sibling-missing",
        values=_gone(FileKind.VALUES),
        live_ranges=_gone(FileKind.LIVE_RANGE),
        allocations=_gone(FileKind.ASSIGNMENT),
    ),
)
