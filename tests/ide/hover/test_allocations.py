"""Hovers of allocations and thunks."""

import pytest

import marked_dump
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import allocation_card, hover_card, thunk_card
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.scanners import ThunkRow
from ide.hover.facts import card_at, dump_of, facts, value_facts

DUMP = marked_dump.split()


def test_allocation_card_shows_kind_and_values() -> None:
    allocation = DUMP.dump.allocation(4)
    assert allocation is not None
    card = allocation_card(DUMP.dump, allocation)
    assert card.title == "allocation 4"
    assert facts(card) == {
        "size": "8,704 B (8.5 KiB)",
        "kind": "preallocated-temp",
        "memory space": "1, VMEM on TPU",
        "values": "3",
        "shared offset": "2 values have offset 0, at different steps",
        "largest": "`fusion{0}` 8,192 B (8.0 KiB), `negate.7` 8,192 B (8.0 KiB), `fusion{1}` 512 B",
    }


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("allocation 1: size 8, constant:", "constant"),
        ("allocation 1: size 8, thread-local:", "thread-local"),
        ("allocation 1: size 8, parameter 3, shape |f32[2]| at ShapeIndex {}:", "parameter 3"),
        (
            "allocation 1: size 8, parameter 3, shape |s8[]| at ShapeIndex {0,1}, maybe-live-out:",
            "parameter 3 at {0,1} + maybe-live-out",
        ),
        (
            "allocation 1: size 8, output shape is |f32[2]|, maybe-live-out:",
            "output + maybe-live-out",
        ),
        ("allocation 1: size 8:", None),
    ],
)
def test_allocation_kind_uses_terms_of_xla(line: str, kind: str | None) -> None:
    assert facts(card_at(line, 0, 0)).get("kind") == kind


def test_argument_has_the_donation_of_its_buffer() -> None:
    module = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}) }

ENTRY %main (x: f32[2], y: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  %y = f32[2]{0} parameter(1)
  ROOT %r = f32[2]{0} add(%x, %y)
}
"""
    assignment = """\
BufferAssignment:
allocation 0: size 8, parameter 0, shape |f32[2]| at ShapeIndex {}, maybe-live-out:
 value: <0 x @0> (size=8,offset=0): f32[2]{0}
 value: <2 r @0> (size=8,offset=0): f32[2]{0}
allocation 1: size 8, parameter 1, shape |f32[2]| at ShapeIndex {}:
 value: <1 y @0> (size=8,offset=0): f32[2]{0}
"""
    texts = {"m.txt": module, "m-buffer-assignment.txt": assignment}
    dump = Compile([DumpFile.of_text(text, path) for path, text in texts.items()])
    donated, kept = "donated, used by an output: to output {}", "not donated, no output to use it"
    assert value_facts(dump, 0)["donation"] == donated
    assert value_facts(dump, 1)["donation"] == kept
    assert "donation" not in value_facts(dump, 2)
    assert facts(instruction_card(dump, "x"))["donation"] == donated
    blocks = list(dump.allocations())
    assert [facts(allocation_card(dump, one))["donation"] for one in blocks] == [donated, kept]


def test_donated_allocation_shows_reuse() -> None:
    line = "allocation 1: size 8, parameter 3, shape |f32[2]| at ShapeIndex {}, maybe-live-out:"
    shown = facts(card_at(line, 0, 0))
    assert shown["donation"] == "donated, used by an output"
    assert shown["parameter shape"] == "`f32[2]`"
    output = "allocation 1: size 8, output shape is |(f32[2], s8[])|, maybe-live-out:"
    shown = facts(card_at(output, 0, 0))
    assert shown["output shape"] == "`(f32[2], s8[])`"
    assert "donation" not in shown


def test_thunk_card_shows_kernel_and_instruction() -> None:
    row = "001: kKernel [source | sink] , kernel = negate_7, profile_annotation = negate.7, launch"
    file = DumpFile.of_text(row, "thunks.txt")
    found = cursor_target_at(file, 0, 0)
    assert found is not None
    card = hover_card(Compile([file, *DUMP.dump.files]), found)
    assert card is not None
    assert card.title == "thunk 1 kKernel"
    shown = facts(card)
    assert shown["kernel"] == "`negate_7`"
    assert shown["instruction"] == "`negate.7`"
    assert shown["schedule"] == "step 4 of 6"


def test_thunk_with_unknown_instruction() -> None:
    card = card_at("kGemm  \t\nkKernel\t, kernel = a\n", 1, 0)
    assert card is not None
    assert card.title == "thunk kKernel"
    assert facts(card) == {"kernel": "`a`", "instruction": "unknown"}


def test_thunk_of_instruction_outside_the_compile() -> None:
    file = DumpFile.of_text("kGemm  \t\n")
    row = file.records.at(0)
    assert isinstance(row, ThunkRow)
    assert facts(thunk_card(dump_of(""), row, "gemm.1")) == {"instruction": "`gemm.1`"}
