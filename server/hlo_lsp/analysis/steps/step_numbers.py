"""The steps of a schedule, numbered 0, 1, 2 ...: which rows are wrong when the numbers are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.ordering import misplaced

_FEW = 3  # neighbouring rows whose numbers may all be wrong
_MOST = 30  # faults; in a list with more nobody looks at each


class Trouble(Enum):
    """What is wrong with a row."""

    WRONG = "it has another number"
    SWAPPED = "it changed places with another row"
    MOVED = "it stands in another place"
    MISSING = "a row is gone in front of it"
    EXTRA = "it should not be there"


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that breaks the numbering.

    ``row`` counts the rows of the list; it may be one behind the last where rows are missing.
    ``first`` and ``last`` are the numbers that the row should have, that are missing, or that stand
    there again. ``other`` is the row it changed places with, or the last of several.
    """

    trouble: Trouble
    row: int
    first: int
    last: int
    other: int | None = None


@dataclass(frozen=True, slots=True)
class StepNumbers:
    """The faults, the true number of each row, and how many rows there should be.

    The number is None where no row should be.
    """

    faults: tuple[Fault, ...]
    numbers: tuple[int | None, ...]
    count: int


def step_numbers(numbers: Sequence[int | None], count: int | None = None) -> StepNumbers:
    """Find the rows at fault, so that one damage is told once.

    ``numbers`` are those printed, None where a row cannot be read; ``count`` is the number of rows
    as it is printed elsewhere. It decides about the last row only, and may be wrong itself.
    """
    walk = _Walk(numbers, count)
    walk.to_the_end()
    return StepNumbers(tuple(walk.faults), tuple(walk.right), walk.due)


class _Walk:
    """Goes through the rows with the number that is due."""

    def __init__(self, numbers: Sequence[int | None], count: int | None) -> None:
        self.numbers = numbers
        self.count = count
        self.right: list[int | None] = []
        self.faults: list[Fault] = []
        self.due = 0

    def to_the_end(self) -> None:
        while len(self.right) < len(self.numbers):
            row = len(self.right)
            printed = self.numbers[row]
            if printed is None or printed == self.due or len(self.faults) >= _MOST:
                self._take(1)
            elif row and self.numbers[row - 1] is None and printed >= self.due - 1:
                self.due = printed  # the line that cannot be read was any number of rows, or none
                self._take(1)
            else:
                self._resume(row, printed)
        self._pair()

    def _take(self, rows: int) -> None:
        self.right += range(self.due, self.due + rows)
        self.due += rows

    def _resume(self, row: int, printed: int) -> None:
        in_place, again = self._in_place(row), self._again(row)
        if in_place is not None and self._is_shuffled(row, in_place):
            self._shuffled(row, in_place)
        elif in_place is not None and (again is None or in_place <= _FEW):
            for offset in range(in_place):
                number = self.due + offset
                if self.numbers[row + offset] is not None:  # else it cannot be read, which is told
                    self.faults.append(Fault(Trouble.WRONG, row + offset, number, number))
            self._take(in_place)
        elif again is not None:
            self._extra(row, again)
        elif printed > self.due:
            self.faults.append(Fault(Trouble.MISSING, row, self.due, printed - 1))
            self.due = printed
            self._take(1)
        else:
            self._extra(row, 1)

    def _in_place(self, row: int) -> int | None:
        """How many rows from this one on have wrong numbers until one has its own again."""
        for offset in range(1, len(self.numbers) - row):
            if self.numbers[row + offset] == self.due + offset:
                return offset
        left = len(self.numbers) - row
        is_last = left == 1 if self.count is None else self.count == self.due + left
        return left if is_last and left <= _FEW else None

    def _again(self, row: int) -> int | None:
        """How many rows stand in front of the one that is due."""
        for offset in range(1, len(self.numbers) - row):
            if self.numbers[row + offset] == self.due:
                return offset
        return None

    def _is_shuffled(self, row: int, rows: int) -> bool:
        numbers = set(self.numbers[row : row + rows])
        return rows > 1 and numbers == set(range(self.due, self.due + rows))

    def _shuffled(self, row: int, rows: int) -> None:
        numbers = [number or 0 for number in self.numbers[row : row + rows]]
        for found in misplaced(numbers):
            if found.swapped_with is None:
                number = numbers[found.at]
                self.faults.append(Fault(Trouble.MOVED, row + found.at, number, number))
            else:
                due, other = self.due + found.at, row + found.swapped_with
                self.faults.append(Fault(Trouble.SWAPPED, row + found.at, due, due, other))
        self.right += numbers
        self.due += rows

    def _extra(self, row: int, rows: int) -> None:
        there = [number for number in self.numbers[row : row + rows] if number is not None]
        last_row = row + rows - 1
        self.faults.append(Fault(Trouble.EXTRA, row, min(there), max(there), last_row))
        self.right += [None] * rows

    def _pair(self) -> None:
        """Two rows that each have the number of the other have changed places."""
        wrong = {fault.first: fault for fault in self.faults if fault.trouble is Trouble.WRONG}
        for fault in wrong.values():
            printed = self.numbers[fault.row]
            other = None if printed is None else wrong.get(printed)
            if other is None or other.row <= fault.row or self.numbers[other.row] != fault.first:
                continue
            swapped = Fault(Trouble.SWAPPED, fault.row, fault.first, fault.first, other.row)
            self.faults[self.faults.index(fault)] = swapped
            self.faults.remove(other)
            self.right[fault.row], self.right[other.row] = other.first, fault.first
