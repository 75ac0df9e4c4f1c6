"""The first lines of hovers."""

import pytest

import marked_dump
from hlo_lsp.ide.hover.hover import allocation_card
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.values import value_card, value_headline
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from ide.hover.facts import dump_of

ONE_FILE = marked_dump.one_file().dump
SPLIT = marked_dump.split().dump
COPIES = """\
HloModule m, is_scheduled=true

ENTRY %e (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0), metadata={op_name="w['a']"}
  %copy-start = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(%p)
  %copy-done = f32[4]{0} copy-done(%copy-start)
  %mul = f32[4]{0} multiply(%copy-done, %copy-done), metadata={op_name="jit(f)/mul" \
source_file="/a/train.py" source_line=25}
  ROOT %copy = f32[4]{0} copy(%mul)
}
"""


def _headline(dump: Compile, value_id: int) -> str:
    value = dump.value(value_id)
    assert value is not None
    return value_headline(dump, value)


@pytest.mark.parametrize(
    ("value_id", "headline"),
    [
        (0, "512 B, thread-local"),
        (3, "8.0 KiB in HBM · whole program · x"),
        (5, "8.0 KiB in VMEM · steps 1-4, at the peak · model.py:7 mul"),
        (7, "8.0 KiB in VMEM · steps 4-5, not at the peak · neg"),
    ],
)
def test_value_headline_has_size_steps_and_source(value_id: int, headline: str) -> None:
    assert _headline(ONE_FILE, value_id) == headline


def test_argument_is_the_origin() -> None:
    assert _headline(SPLIT, 3) == "8.0 KiB in HBM · whole program · argument `x`"


def test_missing_files_shorten_the_headline() -> None:
    assert _headline(marked_dump.split(marked_dump.ASSIGNMENT).dump, 5) == "8.0 KiB in VMEM"
    assert _headline(marked_dump.split(marked_dump.VALUES).dump, 7) == "neg"


def test_tuple_headline_adds_its_leaves() -> None:
    card = instruction_card(ONE_FILE, "fusion")
    assert card is not None
    assert card.headline == "8.5 KiB in VMEM in 2 values · model.py:7 mul"


def test_allocation_headline_has_kind_and_values() -> None:
    headlines = {}
    for number in (1, 4):
        allocation = SPLIT.allocation(number)
        assert allocation is not None
        headlines[number] = allocation_card(SPLIT, allocation).headline
    assert headlines == {
        1: "8.0 KiB in HBM · parameter 0 · argument `x`",
        4: "8.5 KiB in VMEM · preallocated-temp · 3 values",
    }


@pytest.mark.parametrize(
    ("name", "headline", "origin"),
    [
        ("mul", "train.py:25 mul", None),
        ("copy", "train.py:25 mul", "`mul` multiply; /a/train.py:25"),
        ("copy-done", "argument `w['a']`", "argument `w['a']`, `p` parameter, via `copy-start`"),
        ("p", "argument `w['a']`", "argument `w['a']`"),
    ],
)
def test_origin_is_followed_through_copies(name: str, headline: str, origin: str | None) -> None:
    card = instruction_card(dump_of(COPIES), name)
    assert card is not None
    assert card.headline == headline
    facts = {fact.label: fact.text for fact in card.facts}
    assert facts.get("origin") == origin


_COPIED = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 p @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 16, preallocated-temp:
 value: <2 mul @0> (size=16,offset=0): f32[4]{0}

HloLiveRange (max 5):
  InstructionSequence:
    0:p
    1:copy-start
    2:copy-done
    3:mul
    4:copy
  BufferLiveRange:
    p{}:0-5
    mul{}:3-4
"""


def test_copied_value_is_kept_for_the_reader_of_the_copy() -> None:
    dump = Compile([DumpFile.of_text(COPIES), DumpFile.of_text(_COPIED)])
    kept = {}
    for value_id in (1, 2):
        value = dump.value(value_id)
        assert value is not None
        facts = {fact.label: fact.text for fact in value_card(dump, value).facts}
        kept[value.name] = facts.get("kept for")
    assert kept == {"p": "step 3, `mul`, train.py:25 mul, reads copy `copy-start`", "mul": None}
