"""Sections of memory files that are gone, doubled or moved, and texts that end too early."""

from random import Random

from faults.dump import Damage, Dump, Lines, Row
from faults.fault import Injection, faults
from faults.injections import damage, drop, replaced
from hlo_lsp.syntax.file_kinds import FileKind


def _section(dump: Dump, head: Row) -> int:
    """Where the section of a heading ends."""
    later = [row.line for row in dump.rows("heading") if row.path == head.path]
    return min((line for line in later if line > head.line), default=len(dump.lines[head.path]))


def _moved(random: Random, dump: Dump) -> Damage | None:
    """Two sections that follow each other change places."""
    heads = dump.rows("heading")
    first = random.randrange(max(1, len(heads) - 1))
    if len(heads) < 2 or heads[first].path != heads[first + 1].path:
        return None
    one, other = heads[first], heads[first + 1]
    lines = dump.lines[one.path]
    end = _section(dump, other)
    if other.line - one.line < 2 or end - other.line < 2:
        return None  # `HloLiveRange` and its first section are one
    tail = end - 1 if end == len(lines) and not lines[-1] else end
    parts = [*lines[other.line : tail], *lines[one.line : other.line]]
    second = one.line + tail - other.line
    return damage(
        one.path,
        replaced(lines, one.line, tail, parts),
        [one.line, second],
        f"`{one.text.strip()}` and `{other.text.strip()}` have changed places",
    )


def _two_dumps(random: Random, dump: Dump) -> Damage | None:
    """Duplicate the text of a memory file, as `cat` of two files does."""
    paths = [
        path
        for path in dump.lines
        if dump.kind(path) in {FileKind.ASSIGNMENT, FileKind.VALUES, FileKind.LIVE_RANGE}
    ]
    path = random.choice(paths)
    lines = dump.lines[path]
    last = len(lines) - (not lines[-1])
    first = next(number for number, line in enumerate(lines) if line.strip())
    new = (*lines[:last], *lines)
    return damage(path, new, [last + first], "two dumps in one file")


def _cut(kind: FileKind, *, inside: bool) -> Injection:
    """Remove the end of a file, from the middle or the end of a line."""

    def inject(random: Random, dump: Dump) -> Damage | None:
        path = dump.path(kind)
        if path is None:
            return None
        lines = dump.lines[path]
        last = max(number for number, line in enumerate(lines) if line.strip())
        if last < 4:
            return None
        end = random.randrange(3, last)
        kept = _kept(random, lines, end, inside=inside)
        if kept is None:
            return None
        shown = max(number for number, line in enumerate(kept) if line.strip())
        return damage(path, kept, [shown], f"ends on line {shown + 1} of {last + 1}")

    return inject


def _kept(random: Random, lines: Lines, end: int, *, inside: bool) -> Lines | None:
    if not lines[end - 1].strip() or not lines[end].strip():
        return None  # between two sections: a dump of an older compiler may end there
    if not inside:
        return (*lines[:end], "")
    line = lines[end]
    start = len(line) - len(line.lstrip())
    if len(line) - start < 2:
        return None
    return (*lines[:end], line[: random.randrange(start + 1, len(line))])


def _head_less(random: Random, dump: Dump) -> Damage | None:
    """Remove the label of a list."""
    return drop("heading", lambda dump, row: row.line > 1 and _section(dump, row) > row.line + 1)(
        random, dump
    )


FAULTS = (
    *faults(
        "section-order",
        two_dumps=_two_dumps,
        two_sections_swapped=_moved,
        a_heading_less=_head_less,
    ),
    *faults(
        "truncated",
        allocations_inside_a_line=_cut(FileKind.ASSIGNMENT, inside=True),
        allocations_between_lines=_cut(FileKind.ASSIGNMENT, inside=False),
        values_inside_a_line=_cut(FileKind.VALUES, inside=True),
        values_between_lines=_cut(FileKind.VALUES, inside=False),
        live_ranges_inside_a_line=_cut(FileKind.LIVE_RANGE, inside=True),
        live_ranges_between_lines=_cut(FileKind.LIVE_RANGE, inside=False),
        module_between_lines=_cut(FileKind.MODULE, inside=False),
    ),
)
