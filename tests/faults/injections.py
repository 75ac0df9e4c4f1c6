"""Injections that change, swap, drop, duplicate, or move lines."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from faults.dump import Damage, Dump, Lines, Row, Spot
from faults.fault import Injection

RowFilter = Callable[[Dump, Row], bool]
NewText = Callable[[Random, Dump, Row], str | None]
PairFilter = Callable[[Dump, Row, Row], bool]


def any_row(dump: Dump, row: Row) -> bool:
    """Return true for every line."""
    return True


def file_damage(
    path: Path,
    lines: Iterable[str],
    expected: Iterable[int],
    description: str,
    also_expected: Iterable[Spot] = (),
) -> Damage:
    """Return the damage of one file, given its new lines and the expected lines of a finding."""
    return Damage(
        {path: tuple(lines)},
        frozenset({(path, line) for line in expected} | {*also_expected}),
        description,
    )


def replace_line(
    dump: Dump, row: Row, line: str, description: str, also_expected: Iterable[Spot] = ()
) -> Damage | None:
    """Return the damage that replaces one line, or None if the text is the same."""
    if line == row.text:
        return None
    lines = dump.lines[row.path]
    new = (*lines[: row.line], line, *lines[row.line + 1 :])
    return file_damage(row.path, new, [row.line], description, also_expected)


def pick(random: Random, dump: Dump, kind: str, where: RowFilter = any_row) -> Row | None:
    """Return a random line of a kind, or None if no line fits."""
    rows = dump.rows(kind)
    drawn = random.sample(rows, len(rows))
    return next((row for row in drawn if where(dump, row)), None)


def change(kind: str, field: str, new: NewText, where: RowFilter = any_row) -> Injection:
    """Return an injection that changes a field of a line that has it."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, lambda dump, row: row.has(field) and where(dump, row))
        text = None if row is None else new(random, dump, row)
        if row is None or text is None:
            return None
        description = f"{kind} {field} `{row[field]}` -> `{text}`"
        return replace_line(dump, row, row.with_field(field, text), description)

    return inject


def rewrite(kind: str, new: NewText, where: RowFilter = any_row) -> Injection:
    """Return an injection that changes a whole line."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        text = None if row is None else new(random, dump, row)
        if row is None or text is None:
            return None
        return replace_line(dump, row, text, f"{kind} `{text.strip()}`")

    return inject


def replace_lines(lines: Lines, start: int, end: int, new: Sequence[str] = ()) -> Lines:
    """Return the lines with those from ``start`` to ``end`` (exclusive) replaced."""
    return (*lines[:start], *new, *lines[end:])


def adjacent_lines(line: int, lines: Lines) -> set[int]:
    """Return the lines next to the place before a line of the new text where lines were dropped."""
    return {max(0, line - 1), min(line, len(lines) - 1)}


def lines_at_gap(lines: Lines, start: int, end: int) -> set[int]:
    """Return the lines next to the gap after lines are dropped from ``start`` to ``end``.

    If equal lines precede or follow, the position of the gap is ambiguous, and the result includes
    the lines next to each possible gap.
    """
    new = replace_lines(lines, start, end)
    found = adjacent_lines(start, new)
    up, down = (start, end), (start, end)
    while up[0] and lines[up[0] - 1] == lines[up[1] - 1]:
        up = up[0] - 1, up[1] - 1
        found |= adjacent_lines(up[0], new)
    while down[1] < len(lines) and lines[down[0]] == lines[down[1]]:
        down = down[0] + 1, down[1] + 1
        found |= adjacent_lines(down[0], new)
    return found


def drop(kind: str, where: RowFilter = any_row, max_lines: int = 1) -> Injection:
    """Return an injection that removes a line, or up to ``most`` adjacent ones."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        if row is None:
            return None
        same = {other.spot for other in dump.rows(kind) if where(dump, other)}
        end = row.line + 1
        for _ in range(random.randrange(max_lines)):
            end += (row.path, end) in same
        lines = dump.lines[row.path]
        description = f"{end - row.line} lines removed, starting with `{row.text.strip()}`"
        expected = lines_at_gap(lines, row.line, end)
        return file_damage(row.path, replace_lines(lines, row.line, end), expected, description)

    return inject


def duplicate(kind: str, where: RowFilter = any_row) -> Injection:
    """Return an injection that duplicates a line directly after itself."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        if row is None:
            return None
        new = replace_lines(dump.lines[row.path], row.line, row.line, [row.text])
        return file_damage(
            row.path, new, [row.line, row.line + 1], f"`{row.text.strip()}` duplicated"
        )

    return inject


def copy(kind: str, fits: PairFilter, where: RowFilter = any_row) -> Injection:
    """Return an injection that copies a line before another line of its kind that ``fits`` it."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        to = row and pick(random, dump, kind, lambda dump, to: fits(dump, row, to))
        if row is None or to is None:
            return None
        new = replace_lines(dump.lines[to.path], to.line, to.line, [row.text])
        description = f"`{row.text.strip()}` copied before `{to.text.strip()}`"
        return file_damage(to.path, new, [to.line], description)

    return inject


def move(kind: str, fits: PairFilter, where: RowFilter = any_row) -> Injection:
    """Return an injection that moves a line across several lines, before another of its kind."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        to = row and pick(random, dump, kind, lambda dump, to: fits(dump, row, to))
        if row is None or to is None or to.path != row.path or -2 < to.line - row.line < 3:
            return None
        lines = list(dump.lines[row.path])
        lines.insert(to.line, row.text)
        del lines[row.line + (to.line < row.line)]
        at = to.line - (to.line > row.line)
        description = f"`{row.text.strip()}` moved before `{to.text.strip()}`"
        return file_damage(row.path, lines, [at], description)

    return inject


def swap(kind: str, fits: PairFilter, fields: Sequence[str] = ()) -> Injection:
    """Return an injection that swaps two lines of a kind, or some of their fields."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        one = pick(random, dump, kind)
        other = one and pick(
            random, dump, kind, lambda dump, row: row.spot != one.spot and fits(dump, one, row)
        )
        if one is None or other is None or one.path != other.path:
            return None
        texts = (other.text, one.text)
        if fields:
            texts = (_with_fields_of(one, other, fields), _with_fields_of(other, one, fields))
        if texts == (one.text, other.text):
            return None
        lines = list(dump.lines[one.path])
        lines[one.line], lines[other.line] = texts
        description = (
            f"swapped {' and '.join(fields)} of `{one.text.strip()}` and `{other.text.strip()}`"
        )
        return file_damage(one.path, lines, [one.line, other.line], description)

    return inject


def _with_fields_of(row: Row, other: Row, fields: Sequence[str]) -> str:
    text = row.text
    for field in sorted(fields, key=lambda field: -row.match.start(field)):
        start, end = row.match.span(field)
        text = text[:start] + other[field] + text[end:]
    return text


def are_adjacent(dump: Dump, one: Row, other: Row) -> bool:
    """Return whether two lines are adjacent."""
    return one.path == other.path and abs(one.line - other.line) == 1


def are_in_same_file(dump: Dump, one: Row, other: Row) -> bool:
    """Return whether two lines are in the same file."""
    return one.path == other.path
