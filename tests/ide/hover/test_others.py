"""Cards of allocations and thunks."""

import pytest

from analysis import tiny
from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.hover.allocations import allocation_card, thunk_card
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from ide.hover.facts import card_at, dump_of, facts

DUMP = tiny.split()


def test_an_allocation_says_what_it_is_for_and_what_lies_in_it() -> None:
    allocation = DUMP.dump.allocation(4)
    assert allocation is not None
    card = allocation_card(DUMP.dump, allocation)
    assert card.title == "allocation 4"
    assert facts(card) == {
        "size": "8,704 B (8.5 KiB)",
        "kind": "preallocated-temp",
        "memory space": "1, VMEM on TPU",
        "values": "3",
        "time-sharing": "2 values share offset 0 over time",
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
        ("allocation 1: size 8:", "none"),
    ],
)
def test_the_kind_of_an_allocation_is_in_words_of_xla(line: str, kind: str) -> None:
    assert facts(card_at(line, 0, 0))["kind"] == kind


def test_a_donated_buffer_is_said_to_be_reused() -> None:
    line = "allocation 1: size 8, parameter 3, shape |f32[2]| at ShapeIndex {}, maybe-live-out:"
    said = facts(card_at(line, 0, 0))
    assert said["donation"] == "an output reuses the caller's buffer"
    assert said["parameter shape"] == "`f32[2]`"
    output = "allocation 1: size 8, output shape is |(f32[2], s8[])|, maybe-live-out:"
    said = facts(card_at(output, 0, 0))
    assert said["output shape"] == "`(f32[2], s8[])`"
    assert "donation" not in said


def test_a_thunk_says_its_kernel_and_its_instruction() -> None:
    row = "001: kKernel [source | sink] , kernel = negate_7, profile_annotation = negate.7, launch"
    file = DumpFile.of_text(row, "thunks.txt")
    found = cursor_target_at(file, 0, 0)
    assert found is not None
    card = hover_card(DumpSet([file, *DUMP.dump.files]), found)
    assert card is not None
    assert card.title == "thunk 1 kKernel"
    said = facts(card)
    assert said["kernel"] == "`negate_7`"
    assert said["instruction"] == "`negate.7`"
    assert said["schedule"] == "step 4 of 6"


def test_a_thunk_whose_instruction_is_not_known_says_so() -> None:
    card = card_at("kGemm  \t\nkKernel\t, kernel = a\n", 1, 0)
    assert card is not None
    assert card.title == "thunk kKernel"
    assert facts(card) == {"kernel": "`a`", "instruction": "unknown"}


def test_a_thunk_of_an_instruction_that_no_file_has() -> None:
    file = DumpFile.of_text("kGemm  \t\n")
    found = cursor_target_at(file, 0, 0)
    assert found is not None
    row = found.subject.row  # type: ignore[union-attr]  # the row of a thunk
    assert facts(thunk_card(dump_of(""), row, "gemm.1")) == {"instruction": "`gemm.1`"}
