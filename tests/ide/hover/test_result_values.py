"""Values in the result of an instruction and in its leaves."""

import pytest

import marked_dump
from hlo_lsp.ide.hover import instructions
from hlo_lsp.ide.hover.instructions import instruction_card
from ide.hover.facts import facts

DUMP = marked_dump.split().dump
LEAVES = {
    "leaf {0}": "allocation 4 at offset 0, 8,192 B (8.0 KiB), live 1-4",
    "leaf {1}": "allocation 4 at offset 8,192, 512 B, live 1-5, at the declared peak",
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
