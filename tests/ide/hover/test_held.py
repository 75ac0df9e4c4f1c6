"""The values in the result of an instruction, whole and leaf by leaf."""

import pytest

from analysis import tiny
from hlo_lsp.ide.hover import computations as held
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.model.card import Fact
from ide.hover.facts import facts

DUMP = tiny.split().dump
LEAVES = {
    "leaf {0}": "allocation 4 at offset 0, 8,192 B (8.0 KiB), live 1-4",
    "leaf {1}": "allocation 4 at offset 8,192, 512 B, live 1-5, at the declared peak",
}


def test_a_tuple_tells_of_its_leaves_the_largest_first() -> None:
    said = facts(instruction_card(DUMP, "fusion"))
    assert {label: said[label] for label in said if label.startswith("leaf")} == LEAVES
    assert said["value"] == "`<4 fusion{} @0>`"


def test_of_one_leaf_only_that_is_told() -> None:
    said = facts(instruction_card(DUMP, "fusion", "{1}"))
    assert said["value"] == "`<6 fusion{1} @1>`"
    assert not [label for label in said if label.startswith("leaf") and label != "leaf {1}"]


def test_of_many_leaves_the_small_ones_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_MAX_LEAVES", 1)
    told = held.result_value_facts(DUMP, "fusion", None)
    assert told[-2:] == [Fact("leaf {0}", LEAVES["leaf {0}"]), Fact("other leaves", "1")]
