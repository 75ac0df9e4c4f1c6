"""Costs and measured times as HTML files."""

from html.parser import HTMLParser
from pathlib import Path

from hlo_lsp.cost.chips import chips
from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.reports.stats_page import cost_page, profile_page
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.stats.measured_programs import join
from reports.example import ASSIGNMENT, MODULE, RANGES, example


class _Tables(HTMLParser):
    """The texts in the cells of tables, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self._is_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.add(tag)
        self._is_cell = tag in {"td", "th"}
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self._is_cell and data.strip():
            self.rows[-1].append(data)


def test_costs_are_listed_by_line_and_by_instruction() -> None:
    table = cost_table(example(), chips()["v5e"])
    assert table is not None
    titles, *rows = _Tables(cost_page([table])).rows
    assert titles == ["least time", "share", "FLOPs", "off chip", "bound", "Python line"]
    names = [row[-1] for row in rows]
    assert names[:3] == ["model.py:7", "model.py:3", "Instruction"]
    assert set(names[3:]) == {"a", "b", "c", "r"}


def test_names_are_shown_literally() -> None:
    module = MODULE.replace("/home/user/model.py", "/home/user/<script>&.py")
    table = cost_table(example(ASSIGNMENT, RANGES, module), None)
    assert table is not None
    tables = _Tables(cost_page([table]))
    assert "script" not in tables.tags
    assert "<script>&.py:7" in {row[-1] for row in tables.rows}


def test_measured_times_are_listed() -> None:
    profile = Profile()
    event = InstructionEvent("a", 1, 0, 4_000_000, 1, "a")
    profile.of(Program("jit_f", 1), "GPU 0").events.append(event)
    tables = _Tables(profile_page(join(profile, {1: example()}), None))
    names = [row[-1] for row in tables.rows]
    assert names == ["Python line", "model.py:3", "Instruction", "a"]
    assert tables.rows[1][0] == "4.00 µs"


def test_lines_on_this_machine_are_beside_their_numbers(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text("\n" * 6 + "y = f(x) < 1\n", "utf-8")
    module = MODULE.replace("/home/user/model.py", program.as_posix())
    tables = [
        cost_table(example(ASSIGNMENT, RANGES, text), chips()["v5e"])
        for text in (module, module.replace("jit_f", "jit_g"))
    ]
    page = cost_page([table for table in tables if table is not None])
    assert [row[-1] for row in _Tables(page).rows][:2] == ["Source", "y = f(x) < 1"]
    assert 'style="--share: ' in page
    assert "TPU v5e: 197 TFLOP/s with 16 bits" in page
    assert page.count('href="#program-') == page.count('id="program-') == 2
