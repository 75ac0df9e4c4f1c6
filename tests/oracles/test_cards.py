"""Tests for the hover cards of printed values.

A card depends on the kind of its value, so each folder is read for one value of each kind.
"""

import re
from collections.abc import Hashable
from pathlib import Path

import pytest

from hlo_lsp.display.cards import Card
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from oracles.compiles import CorpusCompile, compiles_of, on_typical_folders
from oracles.printed import AssignedValue, Spot

pytestmark = pytest.mark.corpus

_NUMBERS = re.compile(r"\d+(?:,\d+)*")
_OPCODE = re.compile(r"[)}\]] ([a-z][a-z\-]*)\(")
_MAX_PEAK_ROWS = 10


@on_typical_folders
def test_rows_of_values_have_cards(folder: Path) -> None:
    kinds: set[Hashable] = set()
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        spots = [row.spot for row in printed.peak[:_MAX_PEAK_ROWS]]
        for value in printed.assigned.values():
            kind = _kind(compile_, value)
            if kind not in kinds:
                kinds.add(kind)
                spots += _spots(compile_, value)
        for spot in spots:
            assert _card(compile_, spot).facts, compile_.text(spot)


def _kind(compile_: CorpusCompile, value: AssignedValue) -> Hashable:
    """Return what a card depends on: the opcode, the form of the shape, and what is printed."""
    printed = compile_.printed
    entry = printed.entries.get(value.id)
    opcode = None if entry is None else _OPCODE.search(entry.instruction)
    return (
        opcode and opcode[1],
        _NUMBERS.sub("0", value.shape),
        value.color,
        value.phi,
        value.index is None,
        value.key in printed.ranges,
        entry is not None and bool(entry.uses),
    )


def _spots(compile_: CorpusCompile, value: AssignedValue) -> list[Spot]:
    """Return the live range of a value, and its entry with the first position and use."""
    printed = compile_.printed
    spots = [printed.ranges[value.key][2]] if value.key in printed.ranges else []
    entry = printed.entries.get(value.id)
    if entry is not None:
        rows = (*entry.positions[:1], *entry.uses[:1])
        spots += [entry.spot, *(row.spot for row in rows)]
    return spots


def _card(compile_: CorpusCompile, spot: Spot) -> Card:
    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
    assert found is not None, compile_.text(spot)
    card = hover_card(compile_.dump, found)
    assert card is not None, compile_.text(spot)
    return card
