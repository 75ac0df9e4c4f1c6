"""Report rows: the allocation of their table, and the values that they count."""

from pathlib import Path

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.navigation.definitions import declaration, definitions
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace

ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <0 x @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 96, preallocated-temp:
 value: <1 a @0> (size=32,offset=64): f32[8]{0}
 value: <2 b @0> (size=16,offset=64): f32[4]{0}
 value: <3 c @0> (size=64,offset=0): f32[16]{0}
allocation 2: size 32, color 1, preallocated-temp:
 value: <4 d @1> (size=32,offset=0): f32[8]{0}
"""
HEAD = """\
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
"""
REPORT = f"""\
Memory Space: default (color=0)
Total bytes: 128 (128B)
{HEAD}        64B( 67%);        64B;            0;                1; f32[16]
        96B(100%);        32B;           64;                2; f32[4], f32[8]

{HEAD}        32B(100%);        32B;            0;                1; f32[8]


Memory Space: vmem (color=1)
Total bytes: 32 (32B)
{HEAD}        32B(100%);        32B;            0;                1; f32[8]

"""
STEM = "module_0000.f.cpu_after_optimizations"


class Read:
    """A folder with an assignment and a report, and the lines of the report rows."""

    def __init__(self, folder: Path, report: str) -> None:
        (folder / f"{STEM}-buffer-assignment.txt").write_text(ASSIGNMENT, "utf-8")
        path = folder / f"{STEM}-memory-usage-report.txt"
        path.write_text(report, "utf-8")
        library = DumpWorkspace()
        self.report = library.file(path)
        self.dump: Compile = library.compile_of(self.report)
        self.rows = [n for n, line in enumerate(self.report.lines) if "%);" in line]

    def led(self, row: int) -> tuple[list[str], str | None]:
        """Return the lines of the definitions, and the allocation of the declaration."""
        found = cursor_target_at(self.report, self.rows[row], 12)
        assert found is not None
        allocation = declaration(self.dump, found)
        places = definitions(self.dump, found)
        return (
            [place.file.lines[place.line].split(" (")[0].strip() for place in places],
            None if allocation is None else allocation.file.lines[allocation.line].split(":")[0],
        )


def test_row_resolves_to_values_and_allocation(tmp_path: Path) -> None:
    read = Read(tmp_path, REPORT)
    assert [read.led(row) for row in range(4)] == [
        (["value: <3 c @0>"], "allocation 1"),
        (["value: <1 a @0>", "value: <2 b @0>"], "allocation 1"),
        (["value: <0 x @0>"], "allocation 0"),
        (["value: <4 d @1>"], "allocation 2"),
    ]


def test_hover_on_row_lists_values(tmp_path: Path) -> None:
    read = Read(tmp_path, REPORT)
    found = cursor_target_at(read.report, read.rows[1], 12)
    assert found is not None
    card = hover_card(read.dump, found)
    assert card is not None
    assert card.title == "report row: offset 64 of allocation 1"
    assert {fact.label: fact.text for fact in card.facts} == {
        "allocation": "1, preallocated-temp, 96 B",
        "values": "2: `a` 32 B, `b` 16 B",
    }


def test_headline_of_row_is_of_the_value_at_the_peak(tmp_path: Path) -> None:
    text = "HloLiveRange (max 4):\n  InstructionSequence:\n    0:a\n    1:b\n    2:c\n    3:d\n"
    text += "  BufferLiveRange:\n    x{}:0-4\n    a{}:0-1\n    b{}:2-3\n    c{}:2-3\n    d{}:0-1\n"
    (tmp_path / f"{STEM}-live-range.txt").write_text(text, "utf-8")
    read = Read(tmp_path, REPORT)
    found = cursor_target_at(read.report, read.rows[1], 12)
    assert found is not None
    card = hover_card(read.dump, found)
    assert card is not None
    assert card.headline.startswith("16 B in main memory · steps 2-3, at the peak")


def test_references_include_report_rows(tmp_path: Path) -> None:
    read = Read(tmp_path, REPORT)
    (assignment,) = (file for file in read.dump.files if file is not read.report)

    def rows(line: int) -> list[int]:
        found = cursor_target_at(assignment, line, 10)
        assert found is not None
        _, mentioned = declarations_and_references(read.dump, found)
        lines = [place.line for place in mentioned if place.file is read.report]
        return [read.rows.index(number) for number in lines]

    assert rows(5) == [1]
    assert rows(6) == [0]
    assert rows(3) == [0, 1]


@pytest.mark.parametrize(
    ("old", "new"), [("2; f32[4], f32[8]", "3; f32[4], f32[8]"), ("         64;", "         60;")]
)
def test_mismatched_table_has_no_definition(tmp_path: Path, old: str, new: str) -> None:
    assert old in REPORT
    read = Read(tmp_path, REPORT.replace(old, new))
    assert read.led(0) == read.led(1) == ([], None)
    assert read.led(2) == (["value: <0 x @0>"], "allocation 0")
