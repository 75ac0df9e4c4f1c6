"""Compare the list at the peak up to jaxlib 0.6.0 and libtpu 0.0.15 with the values live then.

The list has no running sums and the order of the value ids. Up to jax 0.5.3 a row has the name and
the size of an instruction; later it has the name, the index, and the size of a value.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from hlo_lsp.analysis.live.lives import Live
from hlo_lsp.analysis.live.peak_list import Flaw, PeakFlaw
from hlo_lsp.syntax.memory_records import PeakRow

_FEW = 3  # rows in a list of the right length that have a wrong name


def flaws_of_old_list(
    rows: Sequence[PeakRow], expected: Sequence[Live], names: Container[str], *, is_whole: bool
) -> list[PeakFlaw]:
    """Return the flaws of the rows.

    Args:
        rows: The printed rows, either all with an index or all without one.
        expected: The values that are live at the peak, in the order of their ids.
        names: The names of all values, as a row prints them (see :func:`row_name`).
        is_whole: Whether every line of the list is readable.
    """
    has_index = any(row.index is not None for row in rows)
    printed = [row.key or row.name for row in rows]
    due = [row_name(live.row.key, has_index=has_index) for live in expected]
    pair = _exchanged(printed, due)
    if pair is not None:
        return [PeakFlaw(Flaw.ORDER, pair[0], other=pair[1])]
    differing = _differing(printed, due)
    if differing is not None and len(differing) <= _FEW:
        renamed = [
            PeakFlaw(_flaw_of(printed[row], names, due), row, (expected[row].row.key,))
            for row in differing
        ]
        return renamed + _bytes(rows, expected, set(differing))
    found: list[PeakFlaw] = []
    matcher = SequenceMatcher(None, printed, due, autojunk=False)
    for tag, first, last, due_first, due_last in matcher.get_opcodes():
        lives = expected[due_first:due_last]
        if tag == "equal":
            equal = _bytes(rows[first:last], lives, set())
            found += [replace(flaw, row=first + flaw.row) for flaw in equal]
            continue
        keys = [live.row.key for live in lives]
        for row in range(first, last):
            own = (keys.pop(0),) if keys else ()
            found.append(PeakFlaw(_flaw_of(printed[row], names, due), row, own))
        if keys and is_whole:
            found.append(PeakFlaw(Flaw.MISSING, last, tuple(keys)))
    return _moved(found, printed, has_index=has_index)


def row_name(key: str, *, has_index: bool) -> str:
    """Return what a row prints for the value ``key``: the key, or the instruction alone."""
    return key if has_index else key.partition("{")[0]


def _flaw_of(name: str, names: Container[str], due: list[str]) -> Flaw:
    if name not in names:
        return Flaw.UNKNOWN
    return Flaw.DOUBLED if name in due else Flaw.EXTRA


def _bytes(
    rows: Sequence[PeakRow], expected: Sequence[Live], without: Container[int]
) -> list[PeakFlaw]:
    """Rows with a wrong size; each stands for the value at its place."""
    found = []
    for row, (printed, live) in enumerate(zip(rows, expected, strict=True)):
        right = live.weight if printed.index is None else live.bytes
        if row not in without and printed.bytes != right:
            found.append(PeakFlaw(Flaw.BYTES, row, right=right))
    return found


def _differing(printed: list[str], due: list[str]) -> list[int] | None:
    """The rows with another name; None if there are more or fewer of them than values."""
    if len(printed) != len(due):
        return None
    pairs = zip(printed, due, strict=True)
    return [row for row, (name, right) in enumerate(pairs) if name != right]


def _exchanged(printed: list[str], due: list[str]) -> tuple[int, int] | None:
    """The only two rows that differ, if each has the name of the other."""
    differing = _differing(printed, due)
    if differing is None or len(differing) != 2:
        return None
    one, other = differing
    crossed = printed[one] == due[other] and printed[other] == due[one]
    return (one, other) if crossed else None


def _moved(found: list[PeakFlaw], printed: list[str], *, has_index: bool) -> list[PeakFlaw]:
    """The flaws, with one for a row that is gone at one place and too much at another."""
    gaps = {
        row_name(flaw.keys[0], has_index=has_index): flaw
        for flaw in found
        if flaw.flaw is Flaw.MISSING and len(flaw.keys) == 1
    }
    rest: list[PeakFlaw] = []
    closed: list[PeakFlaw] = []
    for flaw in found:
        is_extra = flaw.flaw is Flaw.DOUBLED and not flaw.keys
        gap = gaps.pop(printed[flaw.row], None) if is_extra else None
        if gap is None:
            rest.append(flaw)
        else:
            rest.append(PeakFlaw(Flaw.ORDER, flaw.row))
            closed.append(gap)
    return [flaw for flaw in rest if flaw not in closed]
