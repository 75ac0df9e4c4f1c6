"""Entries up to jax 0.4.35, whose header is on the line of the previous instruction."""

import pytest

from dumps import SMALL_DUMPS
from hlo_lsp.checks.run import check
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.inlay_hints import hints
from hlo_lsp.ide.navigation.source_links import source_line_at, source_links
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import name_columns
from hlo_lsp.model.symbol_reading import read_symbols
from joined_entries import join_entries, joined_line_starts

TEXT = """\
BufferAssignment:
allocation 0: size 8, output shape is |f32[2]|, maybe-live-out:
 value: <2 add @0> (size=8,offset=0): f32[2]{0}
allocation 1: size 8, parameter 0, shape |f32[2]| at ShapeIndex {}:
 value: <0 x.1 @0> (size=8,offset=0): f32[2]{0}
allocation 2: size 8, preallocated-temp:
 value: <1 k @0> (size=8,offset=0): f32[2]{0}

Total bytes used: 24 (24B)

Used values:
<0 x.1 @0>
 positions:
  x.1
 uses:
  k, operand 0
 from instruction: %x.1 = f32[2]{0} parameter(0), metadata={op_name="x" source_file="m.py" source_line=3}
<1 k @0>
 positions:
  k
 uses:
  add, operand 0
  add, operand 1
 from instruction: %k = f32[2]{0} custom-call(%x.1), custom_call_target="t", frontend_attributes={kernel_metadata={
"axes":"[]",
}}, metadata={op_name="k" source_file="m.py" source_line=4}
<2 add @0>
 positions:
  add
 uses:
 from instruction: %add = f32[2]{0} add(%k, %k), metadata={op_name="add" source_file="m.py" source_line=5}
"""  # noqa: E501


@pytest.fixture
def plain() -> DumpFile:
    return DumpFile.of_text(TEXT)


@pytest.fixture
def file() -> DumpFile:
    return DumpFile.of_text(join_entries(TEXT))


STARTS = joined_line_starts(TEXT)


def _place(line: int, column: int) -> tuple[int, int]:
    """Return the position in the joined text of a position in the plain text."""
    return STARTS[line][0], STARTS[line][1] + column


def test_entries_are_the_same(plain: DumpFile, file: DumpFile) -> None:
    assert len(file.lines) == len(plain.lines) - 2
    one, other = ([*each.memory.entries.records()] for each in (plain, file))
    assert [list(entry.lines) for entry in other] == [list(entry.lines) for entry in one]
    assert [(entry.id, entry.key, entry.whole) for entry in other] == [
        (0, "x.1{}", True),
        (1, "k{}", True),
        (2, "add{}", True),
    ]
    assert [(entry.line, entry.column) for entry in other] == [
        _place(entry.line, 0) for entry in one
    ]


def test_nothing_is_wrong(file: DumpFile) -> None:
    assert check(Compile([file]), file) == []


def test_every_column_has_the_same_target(plain: DumpFile, file: DumpFile) -> None:
    first = plain.lines.index("Used values:") + 1
    for line in range(first, len(plain.lines)):
        for column in range(len(plain.lines[line])):
            one, other = (
                cursor_target_at(plain, line, column),
                cursor_target_at(file, *_place(line, column)),
            )
            if one is None or plain.lines[line].startswith(('"', "}")):
                continue
            assert other is not None
            assert other.entity == one.entity
            place = other.place
            assert (place.line, place.start) == _place(line, one.place.start)


def test_tokens_are_the_same(plain: DumpFile, file: DumpFile) -> None:
    def of(each: DumpFile) -> list[tuple[int, int, str, int]]:
        return [
            (token.line, token.start, token.type.name, token.modifiers)
            for some in semantic_tokens(Compile([each]), each)
            for token in some
        ]

    first = plain.lines.index("Used values:")
    want = [(*_place(line, start), name, modifiers) for line, start, name, modifiers in of(plain)]
    # The lines of a kernel have no tokens before the next header.
    skipped = {STARTS[n][0] for n, line in enumerate(plain.lines) if line.startswith("}")}
    assert [each for each in of(file) if each[0] not in skipped] == [
        each for each in want if each[0] not in skipped
    ]
    assert any(each[0] > first for each in want)


def test_source_links_and_hints_are_the_same(plain: DumpFile, file: DumpFile) -> None:
    links = [source_links(Compile([each]), each) for each in (plain, file)]
    assert len(links[0]) == 3
    assert [(link.line, link.start, link.source) for link in links[1]] == [
        (*_place(link.line, link.start), link.source) for link in links[0]
    ]
    for link in links[1]:
        assert source_line_at(Compile([file]), file, link.line, link.start) == link.source
    found = [
        [
            (hint.line, hint.column, hint.label)
            for part in hints(Compile([each]), each)
            for hint in part
        ]
        for each in (plain, file)
    ]
    assert found[1] == [(*_place(line, column), label) for line, column, label in found[0]]


def test_name_of_a_value_is_its_header(file: DumpFile) -> None:
    names = ["<0 x.1 @0>", "<1 k @0>", "<2 add @0>"]
    for entry, name in zip(file.memory.entries.records(), names, strict=True):
        text = file.lines[entry.line]
        start, end = name_columns(entry, text)
        assert text[start:end] == name
    values = DumpFile.of_text(join_entries(TEXT)[join_entries(TEXT).index("Used values:") :])
    (symbols,) = read_symbols("file:///v.txt", "v.txt", values.lines)
    found = [symbols.symbol(number) for number in (1, 2, 3)]
    assert [values.lines[each.line][each.start : each.end] for each in found] == names


def test_entry_on_a_shared_line_is_kept() -> None:
    start, end = TEXT.index("<1 k @0>\n"), TEXT.index("<2 add @0>\n")
    twice = TEXT[:end] + TEXT[start:end] + TEXT[end:]
    for text, fixes in ((twice, 1), (join_entries(twice), 0)):
        file = DumpFile.of_text(text)
        (finding,) = [
            one for one in check(Compile([file]), file) if one.code == "duplicate-value-id"
        ]
        assert len(finding.fixes) == fixes


def test_header_without_rows_reports_its_column() -> None:
    file = DumpFile.of_text(join_entries(TEXT).replace(" positions:\n  add\n uses:\n", ""))
    (finding,) = [one for one in check(Compile([file]), file) if one.code == "syntax"]
    place = finding.place
    assert file.lines[place.line][place.start :].startswith("<2 add @0>")


def test_real_dump() -> None:
    file = DumpFile.of_text((SMALL_DUMPS / "jax_0.4.35_cpu.txt").read_text("utf-8"))
    assert [entry.key for entry in file.memory.entries.records()] == ["Arg_0.1{}", "copy{}"]
    assert check(Compile([file]), file) == []
