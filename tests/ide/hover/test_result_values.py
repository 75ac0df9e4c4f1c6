"""Values in the result of an instruction and in its leaves."""

import pytest

import marked_dump
from hlo_lsp.display.cards import Card
from hlo_lsp.ide.hover import instructions
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from ide.hover.facts import facts

DUMP = marked_dump.split().dump
LEAVES = {
    "leaf {0}": "allocation 4 at offset 0, 8,192 B (8.0 KiB), live 1-4",
    "leaf {1}": "allocation 4 at offset 8,192, 512 B, live 1-5",
}


def test_tuple_lists_leaves_by_size() -> None:
    shown = facts(instruction_card(DUMP, "fusion"))
    assert {label: shown[label] for label in shown if label.startswith("leaf")} == LEAVES
    assert shown["value"] == "`<4 fusion{} @0>`"


def test_shape_index_selects_one_leaf() -> None:
    shown = facts(instruction_card(DUMP, "fusion", "{1}"))
    assert shown["value"] == "`<6 fusion{1} @1>`"
    assert not [label for label in shown if label.startswith("leaf") and label != "leaf {1}"]


def test_small_leaves_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "_MAX_LEAVES", 1)
    shown = facts(instruction_card(DUMP, "fusion"))
    assert (shown["leaf {0}"], shown["other leaves"]) == (LEAVES["leaf {0}"], "1")
    assert "leaf {1}" not in shown


ASYNC = """\
HloModule m, is_scheduled=true

ENTRY %e (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %mul = f32[4]{0:S(1)} multiply(%p, %p), metadata={source_file="/a/train.py" source_line=25}
  %copy-start = (f32[4]{0}, f32[4]{0:S(1)}, u32[]{:S(2)}) copy-start(%mul)
  %copy-done = f32[4]{0} copy-done(%copy-start)
  %pair = (f32[4]{0}, f32[4]{0}) fusion(%copy-done), kind=kLoop, calls=%f
  ROOT %all = (f32[4]{0}, f32[4]{0}) tuple(%p, %copy-done)
}
"""
ASYNC_VALUES = """\
BufferAssignment:
allocation 0: size 1048576, preallocated-temp:
 value: <2 copy-start{} @0> (size=512,offset=512): (f32[4]{0}, f32[4]{0:S(1)}, u32[]{:S(2)})
 value: <3 copy-start{0} @0> (size=16,offset=1040): f32[4]{0}
 value: <5 pair{} @0> (size=512,offset=2048): (f32[4]{0}, f32[4]{0})
 value: <6 pair{0} @0> (size=16,offset=1056): f32[4]{0}
 value: <7 pair{1} @0> (size=32,offset=1072): f32[4]{0}
allocation 1: size 16, color 1, preallocated-temp:
 value: <1 mul @1> (size=16,offset=0): f32[4]{0:S(1)}
allocation 2: size 4, color 2, preallocated-temp:
 value: <4 copy-start{2} @2> (size=4,offset=0): u32[]{:S(2)}

HloLiveRange (max 5):
  InstructionSequence:
    0:p
    1:mul
    2:copy-start
    3:copy-done
    4:pair
    5:all
  BufferLiveRange:
    mul{}:1-3
    copy-start{}:2-3
    copy-start{0}:2-1500
    copy-start{2}:2-3
    pair{}:4-5
    pair{0}:4-5
    pair{1}:4-5
"""
ASYNC_USES = """\
Used values:
<1 mul @1>
 positions:
  mul
  copy-start {1}
 uses:
  copy-start, operand 0
 from instruction: %mul = f32[4]{0:S(1)} multiply(%p, %p)
<2 copy-start{} @0>
 positions:
  copy-start {}
 uses:
  copy-done, operand 0 {}
 from instruction: %copy-start = (f32[4]{0}, f32[4]{0:S(1)}, u32[]{:S(2)}) copy-start(%mul)
<3 copy-start{0} @0>
 positions:
  copy-start {0}
  copy-done
  all {1}
 uses:
  copy-done, operand 0 {0}
 from instruction: %copy-start = (f32[4]{0}, f32[4]{0:S(1)}, u32[]{:S(2)}) copy-start(%mul)
<4 copy-start{2} @2>
 positions:
  copy-start {2}
 uses:
  copy-done, operand 0 {2}
 from instruction: %copy-start = (f32[4]{0}, f32[4]{0:S(1)}, u32[]{:S(2)}) copy-start(%mul)
"""
TEXTS = (ASYNC, ASYNC_VALUES, ASYNC_USES)


def _card(name: str, *texts: str) -> Card:
    card = instruction_card(Compile([DumpFile.of_text(text) for text in texts]), name)
    assert card is not None
    return card


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:2]], ids=["uses", "no uses"])
def test_async_copy_shows_the_copy(texts: tuple[str, ...]) -> None:
    card = _card("copy-start", *texts)
    assert card.headline.startswith("16 B in memory space 0 · steps 2-1,500")
    assert card.headline.endswith(" · train.py:25")
    shown = facts(card)
    assert shown["live range"].startswith("2-1,500 (1,498 steps): ")
    assert shown["value"] == "`<3 copy-start{0} @0>`"
    assert shown["origin"].startswith("`mul` multiply; /a/train.py:25")


def test_async_copy_has_an_origin_without_values() -> None:
    assert _card("copy-start", ASYNC).headline == "train.py:25"


def test_parts_of_a_tuple_have_no_common_live_range() -> None:
    card = _card("pair", *TEXTS)
    assert card.headline == "48 B in memory space 0 in 2 values"
    assert "live range" not in facts(card)


def test_forwarded_values_belong_to_a_tuple_without_others() -> None:
    assert _card("all", *TEXTS).headline.startswith("16 B in memory space 0 · steps 2-1,500")
