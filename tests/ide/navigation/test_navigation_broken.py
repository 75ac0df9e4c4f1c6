"""Navigation in damaged and unusual dumps."""

from pathlib import Path

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.navigation.definitions import definitions
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace


def _lines(text: str, *starts: tuple[int, int]) -> list[int | None]:
    """Return the lines of the definitions at positions of a one-file dump."""
    file = DumpFile.of_text(text)
    dump = Compile([file])
    lines = []
    for line, column in starts:
        found = cursor_target_at(file, line, column)
        places = [] if found is None else definitions(dump, found)
        lines.append(places[0].line if places else None)
    return lines


def test_live_range_of_unknown_value_has_no_definition() -> None:
    text = "HloLiveRange (max 1):\n  BufferLiveRange:\n    nobody{}:0-1"
    assert _lines(text, (2, 6)) == [None]


def test_id_takes_precedence_over_name() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 4:\n value: <1 a @0> (size=4,offset=0): f32[]\n"
        "<1 b @0>\n positions:\n  b\n uses:\n from instruction: %b = f32[] add(%c)\n"
        "<2 a @0>\n positions:\n  a\n uses:\n from instruction: %a = f32[] add(%c)"
    )
    assert _lines(text, (2, 12), (3, 2), (8, 2)) == [3, 2, 8]


def test_first_of_two_entries_is_the_definition() -> None:
    entry = "<1 a @0>\n positions:\n  a\n uses:\n from instruction: %a = f32[] add(%c)\n"
    text = "BufferAssignment:\n value: <1 a @0> (size=4,offset=0): f32[]\n" + entry + entry
    assert _lines(text, (1, 10), (7, 1)) == [2, 1]


def test_entry_with_broken_header_is_no_definition() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 4:\n value: <1 a @0> (size=4,offset=0): f32[]\n"
        "<1 a @0\n positions:\n  a\n uses:\n  b, operand 0\n from instruction: %a = f32[] add(%c)"
    )
    assert _lines(text, (2, 10), (5, 3)) == [2, None]


def test_old_peak_row_resolves_to_whole_value() -> None:
    text = (
        "<1 w{} @0>\n positions:\n  w {}\n uses:\n from instruction: %w = (f32[]) while(%c)\n"
        "HloLiveRange (max 1):\n  Live ranges at 0 (peak):\n    w: 8 bytes"
    )
    assert _lines(text, (7, 5)) == [0]


def test_live_range_resolves_to_companion_values_file(tmp_path: Path) -> None:
    stem = "module_0000.jit_f.cpu_after_optimizations"
    values = tmp_path / f"{stem}-buffer-assignment-values.txt"
    values.write_text(
        "\nTotal bytes used: 4 (4B)\n\nUsed values:\n"
        "<1 a @0>\n positions:\n  a\n uses:\n  (none)\n from instruction: %a = f32[] add(%c)\n"
    )
    ranges = tmp_path / f"{stem}-live-range.txt"
    ranges.write_text("HloLiveRange (max 1):\n  BufferLiveRange:\n    a{}:0-1\n")
    library = DumpWorkspace()
    file = library.file(ranges)
    dump = library.compile_of(file)
    found = cursor_target_at(file, 2, 4)
    assert found is not None
    place, *_ = definitions(dump, found)
    assert (place.file.path, place.line, place.start, place.end) == (values, 4, 0, 8)
