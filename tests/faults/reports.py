"""Damage to the memory usage report, and foreign or missing files."""

from random import Random

from faults.digits import copy_field, edit_digit, off_by_one
from faults.dump import Damage, Dump, Lines, Row
from faults.fault import Injection, faults
from faults.injections import (
    are_adjacent,
    change,
    drop,
    duplicate,
    file_damage,
    pick,
    replace_lines,
    swap,
)
from hlo_lsp.syntax.file_kinds import FileKind

_MIN_VALUES = 6  # Files of smaller programs can be equal.


def _change_aligned_number(field: str) -> Injection:
    """Return an injection that changes a number and keeps the alignment of its column."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, "table_row")
        if row is None:
            return None
        new = (random.choice((off_by_one, edit_digit)))(field)(random, dump, row)
        if new is None:
            return None
        start, end = row.match.span(field)
        front = row.text[:start]
        grown = len(new) - (end - start)
        front = front[: len(front) - grown] if grown > 0 else front + " " * -grown
        lines = dump.lines[row.path]
        text = front + new + row.text[end:]
        description = f"{field} `{row[field]}` -> `{new}`"
        return file_damage(
            row.path, replace_lines(lines, row.line, row.line + 1, [text]), [row.line], description
        )

    return inject


def _change_shapes(random: Random, dump: Dump, row: Row) -> str | None:
    for old, new in (("f32[", "s32["), ("bf16[", "f16["), ("s32[", "u32["), ("u32[", "f32[")):
        if old in row["shapes"]:
            return row["shapes"].replace(old, new, 1)
    return None


def _change_size(random: Random, dump: Dump, row: Row) -> str | None:
    others = sorted({other["size"] for other in dump.rows("table_row")} - {row["size"]})
    fits = [other for other in others if len(other) == len(row["size"])]
    return random.choice(fits) if fits else None


def _first_line(lines: Lines) -> int:
    return next(number for number, line in enumerate(lines) if line.strip())


def _value_count(dump: Dump) -> int:
    return len(dump.rows("assigned"))


def _replace_file(kind: FileKind) -> Injection:
    """Return an injection that replaces a file with the same file of another compile."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        path, other = dump.path(kind), random.choice(dump.others)
        other_path = other.path(kind)
        if (
            path is None
            or other_path is None
            or min(_value_count(dump), _value_count(other)) < _MIN_VALUES
        ):
            return None
        if other.lines[other_path] == dump.lines[path]:
            return None
        lines = other.lines[other_path]
        comparable = [one for one in dump.lines if dump.kind(one) is not FileKind.REPORT]
        # If only two files can be compared, either one can be the foreign file.
        also_expected = [(one, 0) for one in comparable] if len(comparable) == 2 else []
        return file_damage(
            path, lines, [_first_line(lines)], f"the file of {other.name}", also_expected
        )

    return inject


def _remove_file(kind: FileKind) -> Injection:
    """Return an injection that removes a file."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        path = dump.path(kind)
        others = [other for other in dump.lines if dump.kind(other).is_memory and other != path]
        if path is None or not dump.path(FileKind.VALUES):
            return None
        expected = {
            (other, number)
            for other in others
            for number in range(2)
            if dump.lines[other][number].strip()
        }
        return Damage({path: None}, frozenset(expected), f"no {path.name}")

    return inject


FAULTS = (
    *faults(
        "report-mismatch",
        a_size=change("table_row", "size", _change_size),
        an_offset=_change_aligned_number("offset"),
        a_count=_change_aligned_number("values"),
        shapes=change("table_row", "shapes", _change_shapes),
        cumulative=change("table_row", "cumulative", copy_field("table_row", "cumulative")),
        a_row_less=drop("table_row"),
        a_row_twice=duplicate("table_row"),
        two_rows_swapped=swap("table_row", are_adjacent),
        total=change("space_total", "total", edit_digit("total")),
    ),
    *faults(
        "sibling-mismatch",
        values=_replace_file(FileKind.VALUES),
        live_ranges=_replace_file(FileKind.LIVE_RANGE),
        module=_replace_file(FileKind.MODULE),
        allocations=_replace_file(FileKind.ASSIGNMENT),
    ),
    *faults(
        "sibling-missing",
        values=_remove_file(FileKind.VALUES),
        live_ranges=_remove_file(FileKind.LIVE_RANGE),
        allocations=_remove_file(FileKind.ASSIGNMENT),
    ),
)
