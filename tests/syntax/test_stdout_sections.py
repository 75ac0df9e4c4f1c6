"""Sections of the output of ``--xla_dump_to=-``."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Tree

from hlo_lsp.model.compile_files import FolderListing
from hlo_lsp.model.file_names import FileRole, split_suffix
from hlo_lsp.syntax.file_kinds import FileKind, SectionRange, detect_file_kind, split_sections
from hlo_lsp.syntax.grammar import load_grammar

# Printed by jaxlib 0.10.2 for a small program, with other output around it.
_REAL = (Path(__file__).parent / "stdout_dump.txt").read_text("utf-8").split("\n")

_KINDS = {
    FileRole.ASSIGNMENT: FileKind.ASSIGNMENT,
    FileRole.VALUES: FileKind.VALUES,
    FileRole.LIVE_RANGE: FileKind.LIVE_RANGE,
    FileRole.REPORT: FileKind.REPORT,
    FileRole.OTHER: FileKind.OTHER,
}


def _told(text: str) -> list[tuple[str, str, bool]]:
    lines = text.split("\n")
    return [
        (found.name, "|".join(lines[found.first : found.first + found.count]), found.is_whole)
        for found in split_sections(lines)
    ]


def test_real_output() -> None:
    found = split_sections(_REAL)
    assert len(found) == 13
    assert all(section.is_whole for section in found)
    for section in found:
        text = _REAL[section.first : section.first + section.count]
        role = split_suffix(section.name)[1].role
        assert detect_file_kind(text) is _KINDS.get(role, FileKind.MODULE), section.name
    assert _REAL[: found[0].first] == ["compiling double", f"*** Begin {found[0].name} ***"]


def test_section_text_equals_file_text() -> None:
    """Check that the line end that XLA adds before the end marker is removed."""
    report = next(found for found in split_sections(_REAL) if found.name.endswith("report.txt"))
    text = "\n".join(_REAL[report.first : report.first + report.count])
    assert text.startswith("Memory Space: default (color=0)\n")
    assert text.endswith("f32[4]\n\n\n")
    assert _told("*** Begin a ***\nx\n\n*** End a ***\n") == [("a", "x|", True)]
    assert _told("*** Begin a ***\n\n*** End a ***") == [("a", "", True)]


def test_sections_of_real_output_form_one_compile() -> None:
    names = [found.name for found in split_sections(_REAL)]
    listing = FolderListing(Path(), names)
    assert len(listing.modules()) == 1
    compile_ = listing.compile_files(
        "module_0000.jit_double.cpu_after_optimizations-live-range.txt"
    )
    assert len(compile_.memory) == 4
    assert [path.name for path in compile_.texts] == [
        name for name in names if split_suffix(name)[1].role.is_module_text
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", []),
        ("HloModule m\n", []),
        ("*** End a ***\n", []),
        ("*** Begin  ***\n", []),
        ("*** Begin a.txt ***", [("a.txt", "", False)]),
        ("*** Begin a ***\nx\ny", [("a", "x|y", False)]),
        (
            "*** Begin a ***\nx\n*** Begin b ***\ny\n*** End b ***",
            [("a", "x", False), ("b", "y", True)],
        ),
        (
            "*** Begin a ***\n1\n*** Begin b ***\n2\n*** End b ***\n3\n*** End a ***\n4\n"
            "*** Begin c ***\n5\n*** End c ***",
            [("a", "1", False), ("b", "2", True), ("c", "5", True)],
        ),
        (
            "*** Begin a ***\n1\n*** Begin b ***\n2\n*** End a ***\n3\n*** End b ***",
            [("a", "1", False), ("b", "2", False)],
        ),
        ("*** Begin a ***\n*** End b ***\n*** End a ***", [("a", "*** End b ***", True)]),
        ("*** Begin a ***\n x *** End a ***\n*** End a ***", [("a", " x *** End a ***", True)]),
        ("50% done*** Begin a ***\nx\n*** End a ***", [("a", "x", True)]),
        (
            "*** Begin a ***\n1\n*** Begin a ***\n2\n*** End a ***\n*** Begin b ***\n*** End b ***",
            [("a", "1", False), ("a", "2", True), ("b", "", True)],
        ),
        ("*** Begin a b [c] ***.txt ***\nx\n*** End a b [c] ***.txt ***",
         [("a b [c] ***.txt", "x", True)]),
    ],
)  # fmt: skip
def test_damage_affects_only_its_section(text: str, told: list[tuple[str, str, bool]]) -> None:
    assert _told(text) == told


_LINE = st.text(alphabet="ab *", max_size=8)
_NAME = st.from_regex(r"[a-c][a-c. *]{0,5}[a-c]", fullmatch=True)
_TEXTS = st.lists(st.tuples(_NAME, st.lists(_LINE, max_size=4), st.lists(_LINE, max_size=2)))


@given(_TEXTS)
def test_every_text_comes_back(printed: list[tuple[str, list[str], list[str]]]) -> None:
    lines: list[str] = []
    expected: list[SectionRange] = []
    for name, text, log in printed:
        lines.append(f"*** Begin {name} ***")
        expected.append(SectionRange(name, len(lines), len(text), is_whole=True))
        lines += [*text, f"*** End {name} ***", *log]
    assert split_sections(lines) == expected


@given(st.integers(0, len(_REAL) - 1), st.integers(0, len(_REAL) - 1))
def test_moved_line_affects_only_touched_sections(old: int, new: int) -> None:
    before = {found.name for found in split_sections(_REAL) if found.is_whole}
    lines = list(_REAL)
    lines.insert(new, lines.pop(old))
    whole = {found.name for found in split_sections(lines) if found.is_whole}
    assert len(before - whole) <= 2


@pytest.mark.parametrize("rule", ["section_begin", "section_end"])
def test_both_readers_find_the_same_name(rule: str) -> None:
    grammar = load_grammar("stdout_dump")
    marker = "*** Begin " if rule == "section_begin" else "*** End "
    lines = [line for line in _REAL if line.startswith(marker)]
    assert len(lines) == 13
    for line in [*lines, f"{marker}a *** b.txt ***"]:
        match = grammar.expression(rule).fullmatch(line)
        assert match is not None
        tree = grammar.parse(rule, line)
        assert isinstance(tree, Tree)
        assert tree.children == [match["FILE"]]
    assert grammar.parse_failure(rule, f"{marker} ***") is not None
