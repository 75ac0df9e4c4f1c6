"""The symbols of a dump and of a stdout dump."""

from hlo_lsp.model.symbol_reading import read_symbols
from hlo_lsp.model.symbol_search import search_symbols
from hlo_lsp.text.document import Document

MODULE = """\
HloModule jit_f

ENTRY %main (x: f32[8]) -> f32[8] {
  ROOT %x = f32[8]{0} parameter(0), metadata={source_file="train.py" source_line=3}
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0:
 value: <0 x @0> (size=32,offset=0): f32[8]{0}
"""
VALUES = "Used values:\n<0 x @0>\n positions:\n  x\n"


def printed(**files: str) -> str:
    """Return what XLA prints instead of writing these files."""
    return "some log\n" + "".join(
        f"*** Begin {name} ***\n{text}\n*** End {name} ***\nmore log\n"
        for name, text in files.items()
    )


def found(text: str, typed: str) -> list[tuple[str, str, str]]:
    """Return name, text at its position, and container."""
    lines = Document(text).lines
    read = read_symbols("file:///log.txt", "runs/log.txt", lines)
    symbols = search_symbols(read, typed, 50)
    assert {symbol.uri for symbol in symbols} <= {"file:///log.txt"}
    return [(s.name, lines[s.line][s.start : s.end], s.about) for s in symbols]


def test_a_single_dump_is_read_as_such() -> None:
    assert found(MODULE, "main") == [("main", "main", "runs/log.txt")]


def test_sections_have_the_symbols_of_separate_files() -> None:
    text = printed(**{"m.before_optimizations.txt": MODULE, "m.after_optimizations.txt": MODULE})
    assert found(text, "x")[:2] == [
        ("x", "x", "main · m.after_optimizations.txt"),
        ("x", "x", "main · m.before_optimizations.txt"),
    ]
    assert found(text, "train.py:3") == [
        ("train.py:3", "x", "x · m.after_optimizations.txt"),
        ("train.py:3", "x", "x · m.before_optimizations.txt"),
    ]
    assert [about for _, _, about in found(text, "")] == [
        "m.before_optimizations.txt", "m.after_optimizations.txt"
    ]  # fmt: skip


def test_stdout_dump_and_section_names_are_found() -> None:
    text = printed(**{"m.before_optimizations.txt": MODULE})
    assert [name for name, *_ in found(text, "log.txt")] == ["log.txt"]
    assert [name for name, *_ in found(text, "before")] == ["m.before_optimizations.txt"]


def test_values_are_found_once() -> None:
    both = {"m-buffer-assignment-values.txt": VALUES, "m-buffer-assignment.txt": ASSIGNMENT}
    assert found(printed(**both), "x{}") == [("x{}", "<0 x @0>", "32 B · m-buffer-assignment.txt")]
    alone = {"m-buffer-assignment-values.txt": VALUES}
    assert found(printed(**alone), "x{}") == [("x{}", "<0 x @0>", "m-buffer-assignment-values.txt")]
