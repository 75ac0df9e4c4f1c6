"""The uses in the module text match the printed ones."""

from pathlib import Path

import pytest

from hlo_lsp.checks.values.positions import row_of
from hlo_lsp.checks.values.uses import users_of_module
from oracles.compiles import compiles_of
from oracles.modules import module_of_compile

pytestmark = pytest.mark.corpus

# Memory files without module text, and module text without memory files.
_NOTHING_TO_COMPARE = {"samples", "flags_no_analysis"}


def test_uses_of_every_value(folder: Path) -> None:
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
            # XLA prints users in the order in which its passes created them.
            printed = [
                row_of(f"{row.name}, operand {row.operand}", row.index) for row in entry.uses
            ]
            assert sorted(found) == sorted(printed), entry.key
            count += 1
    assert count or folder.name in _NOTHING_TO_COMPARE
