"""Damage to sections of memory files: removed, duplicated, moved, or truncated text."""

from random import Random

from faults.dump import Damage, Dump, Lines, Row
from faults.fault import Injection, faults
from faults.injections import drop, file_damage, replace_lines
from hlo_lsp.syntax.file_kinds import FileKind


def _section_end(dump: Dump, head: Row) -> int:
    """Return the line after the section of a heading."""
    later = [row.line for row in dump.rows("heading") if row.path == head.path]
    return min((line for line in later if line > head.line), default=len(dump.lines[head.path]))


def _swap_sections(random: Random, dump: Dump) -> Damage | None:
    """Swap two adjacent sections."""
    heads = dump.rows("heading")
    first = random.randrange(max(1, len(heads) - 1))
    if len(heads) < 2 or heads[first].path != heads[first + 1].path:
        return None
    one, other = heads[first], heads[first + 1]
    lines = dump.lines[one.path]
    end = _section_end(dump, other)
    if other.line - one.line < 2 or end - other.line < 2:
        return None  # The heading `HloLiveRange` has no lines of its own.
    tail = end - 1 if end == len(lines) and not lines[-1] else end
    parts = [*lines[other.line : tail], *lines[one.line : other.line]]
    second = one.line + tail - other.line
    return file_damage(
        one.path,
        replace_lines(lines, one.line, tail, parts),
        [one.line, second],
        f"`{one.text.strip()}` and `{other.text.strip()}` swapped",
    )


def _concatenate_dump(random: Random, dump: Dump) -> Damage | None:
    """Append the text of a memory file to itself, as `cat` of two files does."""
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
    return file_damage(path, new, [last + first], "two dumps in one file")


def _truncate(kind: FileKind, *, inside: bool) -> Injection:
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
        kept = _truncated_lines(random, lines, end, inside=inside)
        if kept is None:
            return None
        shown = max(number for number, line in enumerate(kept) if line.strip())
        return file_damage(path, kept, [shown], f"ends on line {shown + 1} of {last + 1}")

    return inject


def _truncated_lines(random: Random, lines: Lines, end: int, *, inside: bool) -> Lines | None:
    if not lines[end - 1].strip() or not lines[end].strip():
        return None  # A dump of an older compiler may end between two sections.
    if not inside:
        return (*lines[:end], "")
    line = lines[end]
    start = len(line) - len(line.lstrip())
    if len(line) - start < 2:
        return None
    return (*lines[:end], line[: random.randrange(start + 1, len(line))])


def _remove_heading(random: Random, dump: Dump) -> Damage | None:
    """Remove the label of a list."""
    return drop(
        "heading", lambda dump, row: row.line > 1 and _section_end(dump, row) > row.line + 1
    )(random, dump)


FAULTS = (
    *faults(
        "section-order",
        two_dumps=_concatenate_dump,
        two_sections_swapped=_swap_sections,
        a_heading_less=_remove_heading,
    ),
    *faults(
        "truncated",
        allocations_inside_a_line=_truncate(FileKind.ASSIGNMENT, inside=True),
        allocations_between_lines=_truncate(FileKind.ASSIGNMENT, inside=False),
        values_inside_a_line=_truncate(FileKind.VALUES, inside=True),
        values_between_lines=_truncate(FileKind.VALUES, inside=False),
        live_ranges_inside_a_line=_truncate(FileKind.LIVE_RANGE, inside=True),
        live_ranges_between_lines=_truncate(FileKind.LIVE_RANGE, inside=False),
        module_between_lines=_truncate(FileKind.MODULE, inside=False),
    ),
)
