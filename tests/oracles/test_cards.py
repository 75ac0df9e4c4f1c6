"""Tests for the hover cards of printed values."""

from pathlib import Path

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.model.display import Card
from oracles.compiles import Compile, compiles_of, sample
from oracles.printed import Spot

pytestmark = pytest.mark.corpus


def test_rows_of_values_have_cards(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        values = sample(printed.assigned.values())
        spots = [printed.ranges[v.key][2] for v in values if v.key in printed.ranges]
        for value in values:
            entry = printed.entries.get(value.id)
            if entry is not None:
                rows = (*entry.positions[:1], *entry.uses[:1])
                spots += [entry.spot, *(row.spot for row in rows)]
        spots += [row.spot for row in printed.peak[:50]]
        for spot in spots:
            assert _card(compile_, spot).facts, compile_.text(spot)


def _card(compile_: Compile, spot: Spot) -> Card:
    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
    assert found is not None, compile_.text(spot)
    card = hover_card(compile_.dump, found)
    assert card is not None, compile_.text(spot)
    return card
