"""Results of queries are cached, and are never outdated."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import Input, Query, Result, current_result, query


@dataclass(eq=False)
class Cell:
    """A number that queries read."""

    number: int = 0
    size: int = 0
    part: Input = field(default_factory=Input)
    query_results: dict[Query[..., Any], Result] = field(default_factory=dict)

    def read(self) -> int:
        self.part.read()
        return self.number

    def read_size(self) -> int:
        self.part.read()
        return self.size

    def write(self, number: int) -> None:
        self.number = number
        self.part.change(is_empty=number < 0)

    def resize(self, size: int) -> None:
        self.size = size
        self.part.change(sizes_only=True, is_empty=self.part.is_empty)

    def copy(self) -> "Cell":
        part = Input(*self.part.owners)
        part.is_empty = self.part.is_empty
        return Cell(self.number, self.size, part)


@dataclass(eq=False)
class Sheet:
    """Cells, and the queries that ran."""

    cells: list[Cell]
    runs: list[str] = field(default_factory=list)
    query_results: dict[Query[..., Any], Result] = field(default_factory=dict)


def sheet_of(*numbers: int) -> Sheet:
    return Sheet([Cell(number) for number in numbers])


@query
def first(sheet: Sheet) -> int:
    sheet.runs.append("first")
    return sheet.cells[0].read()


@query
def is_positive(sheet: Sheet) -> bool:
    sheet.runs.append("is_positive")
    return first(sheet) > 0


@query
def chosen(sheet: Sheet, factor: int) -> int:
    sheet.runs.append("chosen")
    return factor * sheet.cells[1].read() if is_positive(sheet) else 0


@query(ignores_sizes=True)
def numbers(sheet: Sheet) -> tuple[int, ...]:
    sheet.runs.append("numbers")
    return tuple(cell.read() for cell in sheet.cells)


def test_results_are_cached_until_an_input_changes() -> None:
    sheet = sheet_of(1, 2)
    assert [first(sheet) for _ in range(3)] == [1, 1, 1]
    sheet.cells[1].write(3)
    assert first(sheet) == 1
    sheet.cells[0].write(4)
    assert first(sheet) == 4
    assert sheet.runs == ["first", "first"]


def test_equal_results_of_called_queries_keep_a_result() -> None:
    sheet = sheet_of(1, 2)
    assert chosen(sheet, 3) == 6
    sheet.cells[0].write(5)
    assert chosen(sheet, 3) == 6
    assert sheet.runs == ["chosen", "is_positive", "first", "first", "is_positive"]


def test_inputs_no_longer_read_are_ignored() -> None:
    sheet = sheet_of(0, 2)
    assert chosen(sheet, 3) == 0
    sheet.runs.clear()
    sheet.cells[1].write(9)
    assert chosen(sheet, 3) == 0
    assert sheet.runs == []


def test_other_arguments_replace_the_result() -> None:
    sheet = sheet_of(1, 2)
    assert [chosen(sheet, factor) for factor in (1, 2, 2, 1)] == [2, 4, 4, 2]
    assert sheet.runs.count("chosen") == 3


def test_changes_of_sizes_keep_results_that_ignore_them() -> None:
    sheet = sheet_of(1, 2)
    assert numbers(sheet) == (1, 2)
    sheet.cells[0].resize(7)
    assert numbers(sheet) == (1, 2)
    sheet.cells[1].write(7)
    assert numbers(sheet) == (1, 7)
    assert sheet.runs == ["numbers", "numbers"]


def test_last_result_may_be_outdated() -> None:
    sheet = sheet_of(1)
    assert first.last(sheet) is None
    first(sheet)
    sheet.cells[0].write(2)
    assert first.last(sheet) == 1
    assert sheet.runs == ["first"]


def test_failed_queries_run_again() -> None:
    @query
    def inverse(sheet: Sheet) -> float:
        return 1 / sheet.cells[0].read()

    sheet = sheet_of(0)
    with pytest.raises(ZeroDivisionError):
        inverse(sheet)
    sheet.cells[0].write(2)
    assert inverse(sheet) == 0.5


def test_change_while_a_query_runs_invalidates_its_result() -> None:
    @query
    def interrupted(sheet: Sheet) -> int:
        sheet.runs.append("interrupted")
        number = sheet.cells[0].read()
        if len(sheet.runs) == 1:
            sheet.cells[0].write(2)  # as an edit during a checkpoint does
        return number

    sheet = sheet_of(1)
    assert interrupted(sheet) == 1
    assert interrupted(sheet) == 2


@query
def owners(sheet: Sheet) -> frozenset[object]:
    is_positive(sheet)
    return current_result().owners


def test_owners_include_those_of_called_queries() -> None:
    sheet = Sheet([Cell(part=Input("file"))])
    sheet.cells[0].write(1)
    assert owners(sheet) == {"file"}
    with pytest.raises(LookupError):
        current_result()


def test_equal_result_from_other_owners_is_not_equal() -> None:
    sheet = Sheet([Cell(part=Input("file"))])
    assert owners(sheet) == set()
    sheet.cells[0].write(0)
    assert owners(sheet) == {"file"}
    sheet.cells[0].write(-1)
    assert owners(sheet) == set()


_CHANGES = st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2), st.booleans()), max_size=12)


@given(_CHANGES, st.data())
@settings(deadline=None)
def test_results_equal_those_of_fresh_queries(
    changes: list[tuple[int, int, bool]], data: st.DataObject
) -> None:
    @query
    def sizes(cell: Cell) -> int:
        return cell.read_size()

    @query
    def sign(cell: Cell) -> bool:
        return cell.read() > 0

    @query(ignores_sizes=True)
    def total(sheet: Sheet) -> int:
        return sum(cell.read() for cell in sheet.cells if sign(cell))

    @query
    def everything(sheet: Sheet) -> tuple[int, ...]:
        first = sheet.cells[total(sheet) % 3]
        return total(sheet), sizes(first), *(sizes(cell) for cell in sheet.cells if sign(cell))

    @query
    def files(sheet: Sheet) -> frozenset[object]:
        total(sheet)
        return current_result().owners

    sheet = Sheet([Cell(number, part=Input(number)) for number in (1, 0, 2)])
    for index, number, is_size in changes:
        cell = sheet.cells[index]
        (cell.resize if is_size else cell.write)(number)
        if data.draw(st.booleans()):
            copy = Sheet([cell.copy() for cell in sheet.cells])
            assert everything(sheet) == everything(copy)
            assert total(sheet) == total(copy)
            assert files(sheet) == files(copy)


_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 12, maybe-live-out:
 value: <1 a @0> (size=4,offset=0): f32[]{:T(256)}
 value: <2 b @0> (size=4,offset=4): f32[]{:T(256)}

Total bytes used: 12 (12B)
"""
_LIVE = """\
HloLiveRange (max 2):
  InstructionSequence:
    0:a
    1:b
  BufferLiveRange:
    a{}:0-2
    b{}:1-2
"""


@pytest.mark.parametrize(
    ("reads", "valid"),
    [
        ("assigned", ["live", "total"]),
        ("allocations", ["size", "name", "live", "total"]),
        ("ranges", ["size", "name", "total"]),
        ("kind", ["size", "name", "live", "total"]),
        ("records", ["live"]),
    ],
)
def test_parts_of_a_file_are_inputs(reads: str, valid: list[str]) -> None:
    edits = {"size": (0, "size=4", "size=8"), "name": (0, "1 a", "1 c"), "live": (1, "0-2", "0-1")}
    edits["total"] = (0, "12 (12B)", "13 (13B)")

    @query
    def of_part(dump: Compile) -> list[object]:
        for file in dump.files[: 1 if reads == "records" else 2]:
            bool(getattr(file if reads in {"kind", "records"} else file.memory, reads))
        return []

    kept = []
    for name, (index, old, new) in edits.items():
        dump = Compile([DumpFile.of_text(_ASSIGNMENT), DumpFile.of_text(_LIVE)])
        before = of_part(dump)
        file = dump.files[index]
        line = next(number for number, text in enumerate(file.lines) if old in text)
        column = file.lines[line].index(old)
        file.changed(file.document.edit((line, column), (line, column + len(old)), new))
        file.refresh()
        if of_part(dump) is before:
            kept.append(name)
    assert kept == valid


def test_current_result_is_not_computed() -> None:
    sheet = sheet_of(1, 2)
    assert chosen.current(sheet, 3) is None
    assert sheet.runs == []
    chosen(sheet, 3)
    sheet.runs.clear()
    assert chosen.current(sheet, 3) == 6
    assert chosen.current(sheet, 4) is None
    sheet.cells[0].write(5)
    assert chosen.current(sheet, 3) is None
    assert sheet.runs == []
    chosen(sheet, 3)
    sheet.cells[1].write(2)
    assert chosen.current(sheet, 3) is None
    chosen(sheet, 3)
    Input().change()
    assert chosen.current(sheet, 3) == 6  # with an equal result of another run of `first`
