"""Tests for the schedule and the uses from module text, compared with the printed ones."""

from pathlib import Path

import pytest

from hlo_lsp.checks.values.positions import row_of
from hlo_lsp.checks.values.uses import Users
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.program.transfers import async_operations
from oracles.compiles import CorpusCompile, compiles_of

pytestmark = pytest.mark.corpus

# Memory files without module text, and module text without memory files.
_NOTHING_TO_COMPARE = {"samples", "flags_no_analysis"}


def test_schedule_of_every_compile(folder: Path) -> None:
    count = 0
    for compile_ in compiles_of(folder):
        module = _module(compile_)
        printed = {step: name for name, (step, _) in compile_.printed.schedule.items()}
        if module is None or not printed:
            continue
        found = scheduled_instructions(module)
        assert found is not None, folder
        assert dict(enumerate(each.name for each in found)) == printed
        count += 1
    assert count or folder.name in _NOTHING_TO_COMPARE


def test_uses_of_every_value(folder: Path) -> None:
    count = 0
    for compile_ in compiles_of(folder):
        module = _module(compile_)
        if module is None:
            continue
        users = Users(module)
        assert not any(map(users.is_ambiguous, module.instructions))
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


def _module(compile_: CorpusCompile) -> ModuleIndex | None:
    """Return the module of a compile, or None if only memory files were dumped."""
    spot = next(iter(compile_.printed.instructions.values()), None)
    return None if spot is None else compile_.file(spot.path).module


def test_fused_collectives_are_asynchronous_operations(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        file = module_at_buffer_assignment(compile_.dump)
        found = None if file is None else async_operations(file.module)
        if file is not None and found is not None:
            names = [one.name for one in file.module.instructions.records()]
            starts = [name for name in names if name.startswith("async-collective-start")]
            assert sorted(one.start.name for one in found if one.is_fused) == sorted(starts)
