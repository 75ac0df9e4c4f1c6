"""Selection ranges around the cursor."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marked_dump
from edits import Texts
from hlo_lsp.ide.navigation.selection import TextExtent, selection_extents
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text import disk
from lsp.opened import DUMP


def steps(text: str) -> list[str]:
    """Return the texts of the extents around the cursor ``¦``: the first and last line of each."""
    file, line, column = _cursor(text)
    return [_text(file, extent) for extent in selection_extents(file, line, column)]


def around(text: str, part: str) -> list[str]:
    """Return the extents at a part of a text that contains the cursor mark."""
    assert part.replace("¦", "") in text
    return steps(text.replace(part.replace("¦", ""), part, 1))


def _cursor(text: str) -> tuple[DumpFile, int, int]:
    before, _, after = text.partition(
        "¦"
    )  # The mark is not a plain bar, which allocation lines contain.
    return DumpFile.of_text(before + after), before.count("\n"), len(before.rpartition("\n")[2])


def _text(file: DumpFile, extent: TextExtent) -> str:
    (first, start), (last, end) = extent
    if first == last:
        return file.lines[first][start:end]
    return f"{file.lines[first][start:].strip()} ... {file.lines[last][:end].strip()}"


NEGATE = "negate(%get-tuple-element)"
LINE = f"%negate.7 = f32[16,64]{{1,0:T(8,128)S(1)}} {NEGATE}"
WHOLE = f"{LINE}, control-predecessors={{%fusion}}"
MAIN = "ENTRY %main (x.1: f32[16,64]) -> f32[16,64] { ... }"
FILE = "HloModule jit_f, is_scheduled=true ... "


def test_operand_expands_to_file() -> None:
    operation = "fusion(%negate.7, %get-tuple-element.1)"
    assert around(marked_dump.MODULE.text, "fusion(%nega¦te.7, %get") == [
        "negate.7",
        "%negate.7",
        "%negate.7, %get-tuple-element.1",
        "(%negate.7, %get-tuple-element.1)",
        operation,
        f"ROOT %fusion.2 = f32[16,64]{{1,0:T(8,128)}} {operation}",
        f"ROOT %fusion.2 = f32[16,64]{{1,0:T(8,128)}} {operation}, kind=kLoop, calls=%fused.1",
        MAIN,
        FILE,
    ]


def test_element_of_tuple_expands_to_operand() -> None:
    line = "  %n = f32[] add(%s.1#0¦, %s.1#1)"
    text = f"HloModule m\n\nENTRY %e {{\n{line}\n}}\n"
    assert steps(text)[:3] == ["0", "%s.1#0", "%s.1#0, %s.1#1"]


def test_attributes_and_their_values() -> None:
    assert around(marked_dump.MODULE.text, "control-predecessors={%fu¦sion}") == [
        "fusion", "%fusion", "{%fusion}", "control-predecessors={%fusion}", WHOLE, MAIN, FILE
    ]  # fmt: skip


def test_dimensions_and_layouts() -> None:
    assert around(marked_dump.MODULE.text, "%negate.7 = f32[16,6¦4]") == [
        "64", "16,64", "[16,64]", "f32[16,64]", "f32[16,64]{1,0:T(8,128)S(1)}", LINE, WHOLE, MAIN,
        FILE,
    ]  # fmt: skip


def test_metadata_strings_and_fields() -> None:
    text = 'HloModule m\n\nENTRY %e {\n  ROOT %x = f32[] add(%a), metadata={op_name="j¦it(f)/a" line=3}\n}\n'  # noqa: E501
    assert steps(text)[:4] == ["jit", "jit(f)/a", '"jit(f)/a"', 'op_name="jit(f)/a" line=3']
    assert steps(text)[4:7] == [
        '{op_name="jit(f)/a" line=3}',
        'metadata={op_name="jit(f)/a" line=3}',
        'ROOT %x = f32[] add(%a), metadata={op_name="jit(f)/a" line=3}',
    ]


def test_multiline_and_inline_instructions() -> None:
    text = "HloModule m\n\nENTRY %e {\n  ROOT %r = f32[] reduce(%a, %b),\n    to_apply={ %p = f32[] parameter(0)\n      ROOT %s = f32[] add(%p, ¦%p) }\n}\n"  # noqa: E501
    found = steps(text)
    assert found[:6] == [
        "%p", "%p, %p", "(%p, %p)", "add(%p, %p)", "ROOT %s = f32[] add(%p, %p)",
        "%p = f32[] parameter(0) ... ROOT %s = f32[] add(%p, %p)",
    ]  # fmt: skip
    assert "{ %p = f32[] parameter(0) ... ROOT %s = f32[] add(%p, %p) }" in found
    assert "ROOT %r = f32[] reduce(%a, %b), ... ROOT %s = f32[] add(%p, %p) }" in found


def test_value_number_expands_to_section() -> None:
    assert around(DUMP, "<3 mul @0> (size=5¦12,offset=0)") == [
        "512", "size=512", "size=512,offset=0", "(size=512,offset=0)",
        "value: <3 mul @0> (size=512,offset=0): f32[4]{0:T(128)}",
        "allocation 1: size 512, output shape is |f32[4]|, maybe-live-out: ... "
        "value: <3 mul @0> (size=512,offset=0): f32[4]{0:T(128)}",
        "BufferAssignment: ... value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}",
        "BufferAssignment: ... ",
    ]  # fmt: skip


def test_entry_row() -> None:
    assert around(DUMP, "  mul, operand ¦1") == [
        "1", "operand 1", "mul, operand 1",
        '<2 add @1> ... from instruction: %add = f32[4]{0:T(128)S(1)} add(%x, %x), metadata={op_name="jit(f)/add"}',  # noqa: E501
        "Used values: ... from instruction: %mul = f32[4]{0:T(128)} multiply(%add, %add)",
        "BufferAssignment: ... ",
    ]  # fmt: skip


def test_continuation_line_in_entry() -> None:
    mul = "%mul = f32[4]{0:T(128)} multiply(%add, %add)"
    text = DUMP.replace(mul, f'{mul}, frontend_attributes={{kernel_metadata={{\n"a":"b"\n}}}}')
    attribute = "frontend_attributes={kernel_metadata={ ... }}"
    instruction = f"{mul}, frontend_attributes={{kernel_metadata={{ ... }}}}"
    found = around(text, '"a":"¦b"')
    assert found[:3] == ["b", '"b"', '"a":"b"']
    assert attribute in found
    assert found[found.index(attribute) + 1 : -2] == [
        instruction,
        f" from instruction: {instruction}".strip(),
        "<3 mul @0> ... }}",
    ]


def test_live_range_expands_to_sections() -> None:
    assert around(DUMP, "    x{}:0-¦3") == [
        "3", "0-3", "x{}:0-3", "BufferLiveRange: ... mul{}:2-3",
        "HloLiveRange (max 3): ... └── x (33.3%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)",  # noqa: E501
        "BufferAssignment: ... ",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["¦", "¦\n", "HloModule m¦", "no dump ¦at all", "BufferAssignment:\n¦\n"]
)
def test_nearly_empty_texts(text: str) -> None:
    assert steps(text)[-1].split() == text.replace("¦", "").split() or "..." in steps(text)[-1]


@pytest.fixture(scope="module")
def texts(corpus_small: Path) -> Texts:
    return Texts(corpus_small)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_each_extent_contains_the_previous_one(texts: Texts, data: st.DataObject) -> None:
    text = texts[data.draw(st.sampled_from(sorted(texts)))]
    cut = data.draw(st.integers(0, 3)) and data.draw(st.integers(0, len(text)))
    file = DumpFile.of_text(text[: cut or None])
    line = data.draw(st.integers(0, len(file.lines) - 1))
    column = data.draw(st.integers(0, len(file.lines[line])))
    found = selection_extents(file, line, column)
    assert all(extent.start < extent.end for extent in found)
    assert found[0].start <= (line, column) <= found[0].end
    for inner, outer in pairwise(found):
        assert outer != inner
        assert outer.start <= inner.start <= inner.end <= outer.end
    assert found[-1] == TextExtent((0, 0), (len(file.lines) - 1, len(file.lines[-1])))


@pytest.mark.corpus
def test_line_of_100000_characters(train_l24: Path) -> None:
    (path,) = train_l24.glob("*.before_optimizations.txt")
    file = DumpFile(path.as_uri(), path, disk.read_document(path))
    file.refresh()
    found = selection_extents(file, 0, len(file.lines[0]) // 2)
    assert len(found) > 5
