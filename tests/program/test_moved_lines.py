"""Tests for hlo_lsp.program.moved_lines and paired_groups."""

from dataclasses import dataclass

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine, file_name
from hlo_lsp.program.moved_lines import moved_lines, paired_groups

# The function, the line, and the columns of expressions.
Location = tuple[str, int, str]
BEFORE: list[Location] = [("f", 10, "4-9"), ("f", 11, "4-20"), ("f", 12, "4-30"), ("g", 20, "4-9")]


def dump(*locations: Location, file: str = "/x/train.py") -> Compile:
    """Return a module with source location tables."""
    functions = list(dict.fromkeys(function for function, _, _ in locations))
    rows = [
        f"{number} {{file_name_id=1 function_name_id={functions.index(function) + 1} line={line}"
        f" end_line={line} column={columns.split('-')[0]} end_column={columns.split('-')[1]}}}"
        for number, (function, line, columns) in enumerate(locations, 1)
    ]
    tables = [
        *("FileNames", f'1 "{file}"', ""),
        *("FunctionNames", *(f'{number} "{one}"' for number, one in enumerate(functions, 1)), ""),
        *("FileLocations", *rows, ""),
    ]
    body = ["ENTRY %main (a: f32[2]) -> f32[2] {", "  ROOT %a = f32[2]{0} parameter(0)", "}", ""]
    text = "\n".join(["HloModule jit_f, is_scheduled=true", "", *tables, "", *body])
    return Compile([DumpFile.of_text(text, "module_0001.jit_f.after_optimizations.txt")])


def numbers(found: dict[str, str | None]) -> dict[str, str | None]:
    """Return lines without the path of their file."""
    return {
        line.rpartition(":")[2]: None if other is None else other.rpartition(":")[2]
        for line, other in found.items()
    }


def test_lines_below_new_ones_correspond() -> None:
    after = dump(*((function, line + 3, columns) for function, line, columns in BEFORE))
    found = numbers(moved_lines(dump(*BEFORE), after))
    assert found == {"10": "13", "11": "14", "12": "15", "20": "23"}


def test_changed_line_corresponds_by_its_place() -> None:
    after = dump(("f", 11, "4-9"), ("f", 12, "4-77"), ("f", 13, "4-30"), ("g", 21, "4-9"))
    found = numbers(moved_lines(dump(*BEFORE), after))
    assert found == {"10": "11", "11": "12", "12": "13", "20": "21"}


def test_other_line_of_unchanged_file_does_not_correspond() -> None:
    after = dump(("f", 10, "4-9"), ("f", 13, "4-99"), ("g", 20, "4-9"))
    before = dump(("f", 10, "4-9"), ("f", 12, "4-30"), ("g", 20, "4-9"))
    assert numbers(moved_lines(before, after)) == {"10": "10", "12": None, "20": "20"}
    at_end = dump(("f", 10, "4-9"), ("f", 13, "4-99"))
    assert numbers(moved_lines(before, at_end)) == {"10": "10", "12": None, "20": None}


def test_deleted_line_corresponds_to_none() -> None:
    after = dump(("f", 10, "4-9"), ("f", 11, "4-30"), ("g", 19, "4-9"))
    found = numbers(moved_lines(dump(*BEFORE), after))
    assert found == {"10": "10", "11": None, "12": "11", "20": "19"}


def test_lines_of_a_moved_function_correspond() -> None:
    after = dump(("g", 10, "4-9"), ("f", 20, "4-9"), ("f", 21, "4-20"), ("f", 22, "4-30"))
    found = numbers(moved_lines(dump(*BEFORE), after))
    assert found == {"10": "20", "11": "21", "12": "22", "20": "10"}


def test_files_with_one_name_correspond() -> None:
    found = moved_lines(dump(*BEFORE), dump(*BEFORE, file="/y/train.py"))
    assert found["/x/train.py:10"] == "/y/train.py:10"
    assert moved_lines(dump(*BEFORE), None) == {}


def test_renamed_file_corresponds() -> None:
    renamed = [("h", line + 2, columns) for _, line, columns in BEFORE]
    found = moved_lines(dump(*BEFORE), dump(*renamed, file="/y/other.py"))
    assert found["/x/train.py:10"] == "/y/other.py:12"
    assert len(found) == len(BEFORE)


def test_other_file_does_not_correspond() -> None:
    others = [("h", line, f"{line}-{line + 40}") for _, line, _ in BEFORE]
    assert moved_lines(dump(*BEFORE), dump(*others, file="/y/other.py")) == {}
    alike = [("h", 1, "4-9")]  # by chance
    assert moved_lines(dump(("f", 7, "4-9")), dump(*alike, file="/y/other.py")) == {}


@dataclass
class Group:
    """A group of a Python line."""

    source: SourceLine

    @property
    def name(self) -> str:
        """The line."""
        return str(self.source)


def test_deleted_line_has_a_name_of_its_own() -> None:
    before, after = ([Group(SourceLine("/x/a.py", line)) for line in (1, 2, 3)] for _ in "ab")
    lines = {"/x/a.py:1": "/x/a.py:1", "/x/a.py:2": None, "/x/a.py:3": "/x/a.py:2"}
    pairs = {
        file_name(name): tuple(one and one.source.line for one in pair)
        for name, *pair in paired_groups(before, after, lines)
    }
    assert pairs == {
        "a.py:1": (1, 1),
        "a.py:2 (before)": (2, None),
        "a.py:2": (3, 2),
        "a.py:3": (None, 3),
    }
