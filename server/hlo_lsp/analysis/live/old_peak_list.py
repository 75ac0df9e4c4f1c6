"""The list at the peak in the form of jax 0.4 and 0.5: names without index and without sums."""

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
    """Flaws of the rows; ``expected`` are the values that live then, in the order of their ranges.

    The bytes are those of the whole instruction, for each of its values again. ``names`` are all
    instructions that define a value; ``is_whole`` is whether no row is one nobody can read.
    """
    printed, due = [row.name for row in rows], [live.row.name for live in expected]
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
    return _moved(found, printed)


def _flaw_of(name: str, names: Container[str], due: list[str]) -> Flaw:
    if name not in names:
        return Flaw.UNKNOWN
    return Flaw.DOUBLED if name in due else Flaw.EXTRA


def _bytes(
    rows: Sequence[PeakRow], expected: Sequence[Live], without: Container[int]
) -> list[PeakFlaw]:
    """Rows with a wrong size; each stands for the value at its place."""
    return [
        PeakFlaw(Flaw.BYTES, row, right=live.weight)
        for row, (printed, live) in enumerate(zip(rows, expected, strict=True))
        if row not in without and printed.bytes != live.weight
    ]


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


def _moved(found: list[PeakFlaw], printed: list[str]) -> list[PeakFlaw]:
    """The flaws, with one for a row that is gone at one place and too much at another."""
    gaps = {
        flaw.keys[0].partition("{")[0]: flaw
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
