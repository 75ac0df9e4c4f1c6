"""Glossary entries of format terms."""

import pytest

from hlo_lsp.hlo.vocabulary import read_toml
from ide.hover.facts import card_at

# A line of each kind and a column in it; the word that is explained there.
PLACES = {
    "constant": ("allocation 0: size 512, constant:", 25),
    "thread-local": ("allocation 0: size 512, thread-local:", 25),
    "maybe-live-out": ("allocation 0: size 512, maybe-live-out:", 25),
    "preallocated-temp": ("allocation 0: size 512, preallocated-temp:", 25),
    "page": ("allocation 0: size 512, page 0:", 29),
    "phi": (" value: <1 a (phi) @0> (size=4,offset=0): f32[]", 15),
    "assignment_label": ("BufferAssignment:", 0),
    "total_line": ("Total bytes used: 4 (4B)", 0),
    "used_values_label": ("Used values:", 0),
    "positions_label": (" positions:", 1),
    "uses_label": (" uses:", 1),
    "no_uses_row": ("  (none)", 2),
    "instruction_label": (" from instruction: %a = f32[] add(%b)", 1),
    "live_range_label": ("HloLiveRange (max 4):", 0),
    "live_range_missing": (
        "HloLiveRange not available (finalized or constructed from proto)",
        5,
    ),
    "sequence_label": ("  InstructionSequence:", 2),
    "ranges_label": ("  BufferLiveRange:", 2),
    "peak_label": ("  Live ranges at 4 (peak):", 2),
    "breakdown_label": ("  Stack trace breakdown for peak usage: 4 bytes", 2),
    "breakdown_row": ("    main (100.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)", 4),
    "table_row": ("       512B(100%);       512B;            0;                1; f32[128]", 7),
    "table_header": (
        "  cumulative_size;       size;       offset; used_by_n_values; shapes_list",
        2,
    ),
    "space_total_line": ("Total bytes: 4 (4B)", 0),
    "by_size_header": ("cumulative_size; total_size - cumulative_size; allocation", 0),
    "by_size_label": ("Allocations sorted by size:", 0),
    "with_values_label": ("Allocations sorted by size with their values:", 0),
}


@pytest.mark.parametrize("word", PLACES)
def test_term_has_glossary_entry(word: str) -> None:
    line, column = PLACES[word]
    card = card_at(f"HloLiveRange (max 4):\n{line}", 1, column)
    assert card is not None
    assert {"title": card.title, "text": card.text} == read_toml("glossary")[word]
    assert card.text.endswith(".")
    assert card.facts == ()


def test_every_glossary_entry_is_reachable() -> None:
    assert set(PLACES) == set(read_toml("glossary"))


def test_self_explanatory_term_has_no_card() -> None:
    assert card_at("HloLiveRange (max 4):\n  " + "-" * 60, 1, 5) is None
