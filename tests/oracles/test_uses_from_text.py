"""The uses that the module text shows are those that XLA printed, for every value."""

from pathlib import Path

import pytest

from hlo_lsp.checks.values.positions import row_of
from hlo_lsp.checks.values.uses import users_of_module
from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.navigation.references import declarations_and_references
from oracles.compiles import Compile, compiles_of
from oracles.modules import module_of_compile
from oracles.printed import Entry, Spot

pytestmark = pytest.mark.corpus

# Memory files without module text, and module text without memory files.
_NOTHING_TO_COMPARE = {"samples", "flags_no_analysis"}


def test_uses_of_every_value(folder: Path) -> None:
    assert _count(folder) > 0 or folder.name in _NOTHING_TO_COMPARE


def test_uses_of_every_value_of_96_layers(train_l96: Path) -> None:
    assert _count(train_l96) == 28_778


def test_references_of_a_value_hold_its_printed_uses_and_no_other(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        entries = compile_.printed.entries.values()
        rows = {row.spot for entry in entries for row in entry.uses}
        for entry in entries:
            expected = {row.spot for row in entry.uses}
            assert _references(compile_, entry) & rows == expected, entry.key


def _count(folder: Path) -> int:
    """Compare all values of a folder; returns how many there were."""
    count = 0
    for compile_ in compiles_of(folder):
        module = module_of_compile(compile_)
        if module is None:
            continue
        users = users_of_module(module)
        assert not users.doubled
        for entry in compile_.printed.entries.values():
            assert all(row.name in users for row in entry.positions), entry.key
            found = users.rows([row_of(row.name, row.index) for row in entry.positions])
            # XLA prints users in the order in which its passes made them; no text tells that.
            printed = [
                row_of(f"{row.name}, operand {row.operand}", row.index) for row in entry.uses
            ]
            assert sorted(found) == sorted(printed), entry.key
            count += 1
    return count


def _references(compile_: Compile, entry: Entry) -> set[Spot]:
    file = compile_.file(entry.spot.path)
    found = cursor_target_at(file, entry.spot.line, entry.spot.column)
    assert found is not None
    spots = set()
    for places in declarations_and_references(compile_.dump, found):
        for place in places:
            assert place.file.path is not None
            spots.add(Spot(place.file.path, place.line, place.start))
    return spots
