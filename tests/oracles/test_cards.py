"""Hover cards of values show the printed numbers."""

from pathlib import Path

import pytest

from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.model.display import Card
from oracles.compiles import Compile, compiles_of, sample
from oracles.printed import Assigned, Printed, Spot

pytestmark = pytest.mark.corpus


def test_value_cards_match_printed_facts(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for value in sample(compile_.printed.assigned.values()):
            card = _card(compile_, value.spot)
            facts = {fact.label: fact.text for fact in card.facts}
            for label, beginning in _expected(compile_.printed, value).items():
                shown = facts.get(label)
                is_right = (
                    shown is None if beginning is None else (shown or "").startswith(beginning)
                )
                assert is_right, (value.key, label, shown)
            end = value.offset + value.size
            assert facts["allocation"].endswith(f", bytes {value.offset:,} to {end:,}")


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


def _expected(printed: Printed, value: Assigned) -> dict[str, str | None]:
    """Return the beginnings of facts by label; None for those that must not be shown."""
    end = value.offset + value.size
    sharers = sum(
        other.allocation == value.allocation
        and other.offset < end
        and value.offset < other.offset + other.size
        and other.id != value.id
        for other in printed.assigned.values()
    )
    beginnings: dict[str, str | None] = {
        "value": f"{value.id}, ",
        "padded size": f"{value.size:,} B",
        "allocation": f"{value.allocation}, ",
        "memory space": f"{value.color}",
        "shares memory with": f"{sharers:,} value" if sharers else None,
    }
    if value.key in printed.ranges:
        start, last, _ = printed.ranges[value.key]
        steps = "1 step)" if last - start == 1 else f"{last - start:,} steps)"
        beginnings["live range"] = f"{start:,}-{last:,} ({steps}: "
    if value.id in printed.entries:
        uses = len(printed.entries[value.id].uses)
        beginnings["uses"] = f"{uses:,}: " if uses else None
    return beginnings
