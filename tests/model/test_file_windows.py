"""Windows of files cover all lines and end at record ends."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model import file_windows as windows
from hlo_lsp.model.file_windows import FileWindow, FileWindows
from hlo_lsp.text import disk
from hlo_lsp.text.disk import BinaryFileError, UnreadableError
from jobs import count_checkpoints

LABEL = "Used values:\n"
ENTRY = "<{0} x @0>\n positions:\n  x\n uses:\n  add, operand 0\n from instruction: %x = f32[]\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a file with small windows."""
    for name, size in (
        ("_MIN_WINDOW_BYTES", 200),
        ("_SEARCH_BYTES", 200),
        ("_FALLBACK_SEARCH_BYTES", 50),
    ):
        monkeypatch.setattr(windows, name, size)
    return tmp_path / "dump.txt"


def at(path: Path, line: int) -> FileWindow | None:
    return FileWindows().at(path, line)


def tiles(path: Path) -> list[FileWindow]:
    """Return all windows of a file in order."""
    cutter = FileWindows()
    found: list[FileWindow] = []
    line = 0
    while (window := cutter.at(path, line)) is not None:
        assert window.first_line == line
        found.append(window)
        line += window.line_count
    return found


def test_windows_end_before_records(file: Path) -> None:
    file.write_text(LABEL + "".join(ENTRY.format(number) for number in range(50)))
    found = tiles(file)
    assert len(found) > 10
    assert all(window.text.startswith("<") for window in found[1:])
    assert all(len(window.text) <= 400 for window in found)


def test_small_file_is_one_window(file: Path) -> None:
    file.write_text(LABEL + ENTRY)
    assert tiles(file) == [FileWindow(LABEL + ENTRY, 0, 8)]


def test_instructions_of_a_long_computation_are_records(file: Path) -> None:
    row = "  %a.{0} = f32[2,2] constant({{\n    {{ 1, 2 }},\n    {{ 3, 4 }} }})\n"
    body = "".join(row.format(number) for number in range(100))
    file.write_text(f"HloModule m\n\nENTRY %e (p: f32[]) -> f32[] {{\n{body}}}\n")
    found = tiles(file)
    assert len(found) > 10
    assert all(window.text.startswith("  %a.") for window in found[1:])


def test_no_window_after_the_end(file: Path) -> None:
    file.write_text(LABEL + ENTRY)
    assert at(file, 7) is not None  # the empty line after the last line end
    assert at(file, 8) is None
    assert at(file, 2**31) is None
    assert at(file, -1) is None


def test_other_files_have_no_windows(file: Path, tmp_path: Path) -> None:
    file.write_text("int main() {}\n")
    assert at(file, 0) is None
    file.write_bytes(b"\0\1")
    with pytest.raises(BinaryFileError):
        at(file, 0)
    for nothing in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(UnreadableError):
            at(nothing, 0)


def test_rewritten_file_has_new_windows(file: Path) -> None:
    cutter = FileWindows()
    file.write_text(LABEL + ENTRY.format(1))
    before = cutter.at(file, 0)
    assert cutter.at(file, 0) == before
    file.write_text(LABEL + ENTRY.format(22))
    after = cutter.at(file, 0)
    assert before is not None
    assert after is not None
    assert (before.text, after.text) == (LABEL + ENTRY.format(1), LABEL + ENTRY.format(22))


def test_lines_after_the_window_are_not_read(file: Path) -> None:
    file.write_text(LABEL + ENTRY * 1000)
    assert count_checkpoints(lambda: FileWindows().at(file, 0)) == 1


LINES = st.lists(
    st.sampled_from(["", "<1 x>", "  y", "}", "    { 1 }", "é𝔸" * 40, " " + "z" * 900, "\ufeff"]),
    max_size=120,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_windows_tile_every_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, is_marked: bool
) -> None:
    path = tmp_path_factory.mktemp("dump") / "dump.txt"
    text = end.join([LABEL.strip(), *lines])
    path.write_bytes(("\ufeff" * is_marked + text).encode())
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (
            ("_MIN_WINDOW_BYTES", 100),
            ("_SEARCH_BYTES", 60),
            ("_FALLBACK_SEARCH_BYTES", 30),
        ):
            patch.setattr(windows, name, size)
        found = tiles(path)
        middles = [at(path, one.first_line + one.line_count // 2) for one in found]
    assert "".join(window.text for window in found) == text
    assert sum(window.line_count for window in found) == len(disk.read_document(path).lines)
    assert middles == found
