"""What can be done to lines: change, swap, drop, double, move. Each gives a `Injection`."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from faults.dump import Damage, Dump, Lines, Row, Spot
from faults.fault import Injection

Filter = Callable[[Dump, Row], bool]
New = Callable[[Random, Dump, Row], str | None]
Pair = Callable[[Dump, Row, Row], bool]


def anywhere(dump: Dump, row: Row) -> bool:
    """Every line will do."""
    return True


def damage(
    path: Path,
    lines: Iterable[str],
    right: Iterable[int],
    description: str,
    also: Iterable[Spot] = (),
) -> Damage:
    """Return the damage of one file that has these lines now."""
    return Damage(
        {path: tuple(lines)}, frozenset({(path, line) for line in right} | {*also}), description
    )


def put(
    dump: Dump, row: Row, line: str, description: str, also: Iterable[Spot] = ()
) -> Damage | None:
    """Another text for one line."""
    if line == row.text:
        return None
    lines = dump.lines[row.path]
    new = (*lines[: row.line], line, *lines[row.line + 1 :])
    return damage(row.path, new, [row.line], description, also)


def pick(random: Random, dump: Dump, kind: str, where: Filter = anywhere) -> Row | None:
    """Return a random line of a kind."""
    rows = dump.rows(kind)
    drawn = random.sample(rows, len(rows))
    return next((row for row in drawn if where(dump, row)), None)


def change(kind: str, field: str, new: New, where: Filter = anywhere) -> Injection:
    """Another text in a field that is there."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, lambda dump, row: row.has(field) and where(dump, row))
        text = None if row is None else new(random, dump, row)
        if row is None or text is None:
            return None
        description = f"{kind} {field} `{row[field]}` -> `{text}`"
        return put(dump, row, row.put(field, text), description)

    return inject


def rewrite(kind: str, new: New, where: Filter = anywhere) -> Injection:
    """Another text for a line."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        text = None if row is None else new(random, dump, row)
        if row is None or text is None:
            return None
        return put(dump, row, text, f"{kind} `{text.strip()}`")

    return inject


def replaced(lines: Lines, start: int, end: int, new: Sequence[str] = ()) -> Lines:
    """Lines with others in place of those from ``start`` to ``end`` (exclusive)."""
    return (*lines[:start], *new, *lines[end:])


def around(line: int, lines: Lines) -> set[int]:
    """Where what was dropped in front of a line of the new text is missed."""
    return {max(0, line - 1), min(line, len(lines) - 1)}


def missed(lines: Lines, start: int, end: int) -> set[int]:
    """Where lines are missed that were dropped from ``start`` to ``end``.

    Of several alike nobody can tell which are gone: then at the sides of each of them.
    """
    new = replaced(lines, start, end)
    found = around(start, new)
    up, down = (start, end), (start, end)
    while up[0] and lines[up[0] - 1] == lines[up[1] - 1]:
        up = up[0] - 1, up[1] - 1
        found |= around(up[0], new)
    while down[1] < len(lines) and lines[down[0]] == lines[down[1]]:
        down = down[0] + 1, down[1] + 1
        found |= around(down[0], new)
    return found


def drop(kind: str, where: Filter = anywhere, most: int = 1) -> Injection:
    """Remove a line, or up to ``most`` adjacent ones."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        if row is None:
            return None
        same = {other.spot for other in dump.rows(kind) if where(dump, other)}
        end = row.line + 1
        for _ in range(random.randrange(most)):
            end += (row.path, end) in same
        lines = dump.lines[row.path]
        description = f"{end - row.line} lines less, from `{row.text.strip()}` on"
        right = missed(lines, row.line, end)
        return damage(row.path, replaced(lines, row.line, end), right, description)

    return inject


def double(kind: str, where: Filter = anywhere) -> Injection:
    """Duplicate a line directly after itself."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        if row is None:
            return None
        new = replaced(dump.lines[row.path], row.line, row.line, [row.text])
        return damage(row.path, new, [row.line, row.line + 1], f"twice `{row.text.strip()}`")

    return inject


def copy(kind: str, fits: Pair, where: Filter = anywhere) -> Injection:
    """Duplicate a line before another of its kind, where ``fits(dump, line, other)``."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        to = row and pick(random, dump, kind, lambda dump, to: fits(dump, row, to))
        if row is None or to is None:
            return None
        new = replaced(dump.lines[to.path], to.line, to.line, [row.text])
        description = f"`{row.text.strip()}` once more in front of `{to.text.strip()}`"
        return damage(to.path, new, [to.line], description)

    return inject


def move(kind: str, fits: Pair, where: Filter = anywhere) -> Injection:
    """Move a line before another of its kind, across more than one."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        row = pick(random, dump, kind, where)
        to = row and pick(random, dump, kind, lambda dump, to: fits(dump, row, to))
        if row is None or to is None or to.path != row.path or -2 < to.line - row.line < 3:
            return None
        lines = list(dump.lines[row.path])
        lines.insert(to.line, row.text)
        del lines[row.line + (to.line < row.line)]
        at = to.line - (to.line > row.line)
        description = f"`{row.text.strip()}` moved in front of `{to.text.strip()}`"
        return damage(row.path, lines, [at], description)

    return inject


def swap(kind: str, fits: Pair, fields: Sequence[str] = ()) -> Injection:
    """Two lines of a kind change places, or only some of their fields; both are reported."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        one = pick(random, dump, kind)
        other = one and pick(
            random, dump, kind, lambda dump, row: row.spot != one.spot and fits(dump, one, row)
        )
        if one is None or other is None or one.path != other.path:
            return None
        texts = (other.text, one.text)
        if fields:
            texts = (_with(one, other, fields), _with(other, one, fields))
        if texts == (one.text, other.text):
            return None
        lines = list(dump.lines[one.path])
        lines[one.line], lines[other.line] = texts
        description = (
            f"swapped {' and '.join(fields)} of `{one.text.strip()}` and `{other.text.strip()}`"
        )
        return damage(one.path, lines, [one.line, other.line], description)

    return inject


def _with(row: Row, other: Row, fields: Sequence[str]) -> str:
    text = row.text
    for field in sorted(fields, key=lambda field: -row.match.start(field)):
        start, end = row.match.span(field)
        text = text[:start] + other[field] + text[end:]
    return text


def beside(dump: Dump, one: Row, other: Row) -> bool:
    """Two lines, one right below the other."""
    return one.path == other.path and abs(one.line - other.line) == 1


def in_one_file(dump: Dump, one: Row, other: Row) -> bool:
    """Two lines of the same file."""
    return one.path == other.path
