"""Numbers that should be 0, 1, 2 ...: one damage is one fault, at its row."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.steps.step_numbers import Fault, Trouble, step_numbers

LENGTHS = st.integers(6, 60)


def _row(data: st.DataObject, length: int) -> int:
    return data.draw(st.integers(0, length - 1))


@given(LENGTHS)
def test_right_numbers(length: int) -> None:
    found = step_numbers(range(length), length)
    assert found.faults == ()
    assert found.numbers == tuple(range(length))
    assert found.count == length


@given(LENGTHS, st.data())
def test_a_wrong_number(length: int, data: st.DataObject) -> None:
    row = _row(data, length)
    numbers = list(range(length))
    numbers[row] = data.draw(st.integers(0, 2 * length).filter(lambda number: number != row))
    found = step_numbers(numbers, length)
    assert found.faults == (Fault(Trouble.WRONG, row, row, row),)
    assert found.numbers == tuple(range(length))


@given(LENGTHS, st.data())
def test_a_row_that_is_gone(length: int, data: st.DataObject) -> None:
    row = _row(data, length - 1)  # of the last one only the count tells
    found = step_numbers([number for number in range(length) if number != row], length)
    assert found.faults == (Fault(Trouble.MISSING, row, row, row),)
    assert found.count == length


@given(LENGTHS)
def test_the_last_row_is_gone(length: int) -> None:
    found = step_numbers(range(length - 1), length)
    assert (found.faults, found.count) == ((), length - 1)


@given(LENGTHS, st.data())
def test_a_row_that_is_doubled(length: int, data: st.DataObject) -> None:
    row = _row(data, length)
    numbers = list(range(length))
    numbers.insert(row + 1, row)
    (fault,) = step_numbers(numbers, length).faults
    assert (fault.trouble, fault.row, fault.first) == (Trouble.EXTRA, row + 1, row)


@given(LENGTHS, st.data())
def test_rows_that_changed_places_keep_their_numbers(length: int, data: st.DataObject) -> None:
    one, other = sorted((_row(data, length), _row(data, length)))
    numbers = list(range(length))
    numbers[one], numbers[other] = other, one
    found = step_numbers(numbers, length)
    swapped = (Fault(Trouble.SWAPPED, one, one, one, other),)
    assert found.faults == (() if one == other else swapped)
    assert found.numbers == tuple(numbers)


@given(LENGTHS, st.data())
def test_behind_a_row_that_cannot_be_read_any_number_goes_on(
    length: int, data: st.DataObject
) -> None:
    row, gone = _row(data, length - 3), data.draw(st.integers(0, 2))
    numbers = [*range(row), None, *range(row + 1 + gone, length)]
    assert step_numbers(numbers, length).faults == ()


@given(st.lists(st.none() | st.integers(0, 20), max_size=60), st.none() | st.integers(0, 60))
def test_every_row_gets_an_answer(numbers: list[int | None], count: int | None) -> None:
    found = step_numbers(numbers, count)
    assert len(found.numbers) == len(numbers)
    assert all(fault.row < len(numbers) for fault in found.faults)
    assert all(number is None or number < found.count for number in found.numbers)


@given(st.lists(st.none() | st.integers(0, 9), max_size=12), st.none() | st.integers(0, 14))
def test_rows_that_cannot_be_read_are_not_at_fault(
    numbers: list[int | None], count: int | None
) -> None:
    found = step_numbers(numbers, count)
    assert [fault for fault in found.faults if numbers[fault.row] is None] == []
