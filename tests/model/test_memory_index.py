from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.syntax.records import BlankLine, Record, RecordBlock


def _records(count: int) -> list[Record]:
    records: list[Record] = [BlankLine() for _ in range(count)]
    RecordBlock(records)
    return records


def test_key_without_records_is_absent() -> None:
    [record] = _records(1)
    records: MultiMap[str, Record] = MultiMap()
    assert records.first("a") is None
    assert records.all("a") == []
    records.add("a", record)
    records.remove("a", record)
    assert "a" not in records
    assert list(records) == []
    assert len(records) == 0


_MOVES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), max_size=30)


@given(_MOVES)
def test_records_come_and_go(moves: list[tuple[int, int]]) -> None:
    """Add a record under a key, or remove it if it is present."""
    known = _records(6)
    records: MultiMap[int, Record] = MultiMap()
    expected: dict[int, set[int]] = {}
    for key, number in moves:
        entered = expected.setdefault(key, set())
        if number in entered:
            records.remove(key, known[number])
            entered.remove(number)
        else:
            records.add(key, known[number])
            entered.add(number)
        for each in range(3):
            numbers = sorted(expected.get(each, ()))
            assert records.all(each) == [known[n] for n in numbers]
            assert (each in records) == bool(numbers)
            assert records.first(each) is (known[numbers[0]] if numbers else None)
    assert len(records) == sum(map(bool, expected.values()))
