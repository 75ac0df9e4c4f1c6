"""The symbols of one text."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.symbol_reading import read_symbols
from hlo_lsp.model.symbol_search import FileSymbols, Symbol, search_symbols
from hlo_lsp.text.document import Document

MODULE = """\
HloModule jit_step, is_scheduled=true

FileNames
1 "/home/user/train.py"
2 "/home/user/model.py"

FunctionNames
1 "step"
2 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=212 end_line=212 column=1 end_column=9}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%add_them (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%p, %q), metadata={op_name="stack_frame_id=1" stack_frame_id=2}
}

ENTRY %main (x: f32[8]) -> f32[] {
  %x = f32[8]{0} parameter(0)
  %zero = f32[] constant(0), metadata={op_name="z" stack_frame_id=1}
  ROOT %R = f32[] reduce(%x, %zero), dimensions={0},
    to_apply=%add_them, metadata={source_file="old.py" source_line=3}
}
"""


def symbols(text: str, title: str = "sub/module_0001.txt") -> FileSymbols:
    (read,) = read_symbols("file:///x", title, Document(text).lines)
    return read


def found(text: str, typed: str) -> list[Symbol]:
    return search_symbols([symbols(text)], typed, 50)


def selected(text: str, typed: str) -> list[tuple[str, str, str]]:
    """Return name, text at its position, and description."""
    lines = Document(text).lines
    return [(s.name, lines[s.line][s.start : s.end], s.about) for s in found(text, typed)]


def test_names_are_selected_where_they_are_defined() -> None:
    place = "sub/module_0001.txt"
    assert selected(MODULE, "jit_step") == [("jit_step", "jit_step", place)]
    assert selected(MODULE, "main") == [("main", "main", place)]
    assert selected(MODULE, "add_them") == [("add_them", "add_them", place)]
    assert selected(MODULE, "add.1") == [("add.1", "add.1", f"add_them · {place}")]
    assert selected(MODULE, "zero") == [("zero", "zero", f"main · {place}")]
    assert selected(MODULE, "module_0001") == [("module_0001.txt", "", place)]


def test_name_that_is_part_of_the_previous_word() -> None:
    (symbol,) = found(MODULE, "R")
    assert MODULE.split("\n")[symbol.line][symbol.start - 1 : symbol.end + 2] == "%R ="
    (entry,) = found("HloModule m\n\nENTRY E {\n  ROOT a = f32[] constant(0)\n}\n", "E")
    assert (entry.line, entry.start, entry.end) == (2, 6, 7)


def test_metadata_and_stack_frames_give_python_lines() -> None:
    place = "sub/module_0001.txt"
    assert selected(MODULE, "old.py:3") == [("old.py:3", "R", f"R · {place}")]
    assert selected(MODULE, "model.py:7") == [("model.py:7", "add.1", f"add.1 · {place}")]
    assert selected(MODULE, "train.py:212") == [
        ("train.py:212", "zero", f"zero · {place}"), ("train.py:212", "add.1", f"add.1 · {place}")
    ]  # fmt: skip


def test_computations_in_place_of_a_name() -> None:
    text = """\
HloModule m

ENTRY main {
  x = f32[8]{0} parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply={
    left = f32[] parameter(0)
    right = f32[] parameter(1)
    ROOT both = f32[] add(left, right)
  }
}
whole { ROOT one = f32[] constant(1) }
"""
    for name, line, about in [
        ("both", 8, "sum.to_apply · "), ("sum", 5, "main · "), ("one", 11, "whole · ")
    ]:  # fmt: skip
        (symbol,) = (symbol for symbol in found(text, name) if symbol.name == name)
        assert (symbol.line, symbol.about) == (line, about + "sub/module_0001.txt")
        assert text.split("\n")[line][symbol.start : symbol.end] == name


def test_columns_after_wide_characters_are_omitted() -> None:
    first = 'w { c = s8[] constant(0), metadata={op_name="é"}'
    text = f"HloModule m\n\n{first}\n ROOT d = s8[] negate(c) }}"
    (symbol,) = (symbol for symbol in found(text, "d") if symbol.name == "d")
    assert (symbol.line, symbol.start, symbol.end) == (3, 6, 7)
    (symbol,) = (s for s in found(text.replace("\n ROOT", " ROOT"), "d") if s.name == "d")
    assert (symbol.line, symbol.start, symbol.end) == (2, 0, 0)


def test_instructions_after_a_broken_head_have_no_computation() -> None:
    text = MODULE.replace("ENTRY %main (x: f32[8]) -> f32[] {", "ENTRY ((")
    assert selected(text, "zero") == [("zero", "zero", "sub/module_0001.txt")]


def test_values_of_an_assignment_each_once() -> None:
    text = """\
BufferAssignment:
allocation 0: size 512, thread-local:
 value: <1 add @0> (size=512,offset=0): f32[4]
 value: <2 fusion.3{0} @1> (size=512,offset=0): f32[4]

Total bytes used: 512 (512B)

Used values:
<1 add @0>
 positions:
  add
 uses:
 from instruction: %add = f32[4] add(%x, %x)
<7 later (phi) @0>
 positions:
  later
 uses:
 from instruction: %later = f32[4] while(%x)
"""
    place = "sub/module_0001.txt"
    sized = f"512 B · {place}"
    assert selected(text, "fusion.3{0}") == [("fusion.3{0}", "<2 fusion.3{0} @1>", sized)]
    assert selected(text, "add{}") == [("add{}", "<1 add @0>", sized)]
    assert selected(text, "later{}") == [("later{}", "<7 later (phi) @0>", place)]


def test_other_texts_have_no_names() -> None:
    assert len(symbols("HloLiveRange (max 3):\n  InstructionSequence:\n    0:x\n").names) == 0
    assert len(symbols("nothing of ours\n").names) == 0


@given(st.data())
def test_deleted_lines_remove_only_their_symbols(data: st.DataObject) -> None:
    lines = MODULE.split("\n")
    first = data.draw(st.integers(1, len(lines)))
    count = data.draw(st.integers(0, 4))
    text = "\n".join(lines[:first] + lines[first + count :])
    for symbol in found(text, "e") + found(text, "a") + found(text, ":"):
        assert 0 <= symbol.line < len(text.split("\n"))
        assert 0 <= symbol.start <= symbol.end <= len(text.split("\n")[symbol.line])
