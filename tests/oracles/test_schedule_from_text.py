"""The schedule from the module text matches the printed one."""

from pathlib import Path

import pytest

from hlo_lsp.program.schedule import scheduled_instructions
from oracles.compiles import compiles_of
from oracles.modules import module_of_compile

pytestmark = pytest.mark.corpus

# Memory files without module text, and module text without memory files.
_NOTHING_TO_COMPARE = {"samples", "flags_no_analysis"}


def test_schedule_of_every_compile(folder: Path) -> None:
    count = 0
    for compile_ in compiles_of(folder):
        module = module_of_compile(compile_)
        printed = {step: name for name, (step, _) in compile_.printed.schedule.items()}
        if module is None or not printed:
            continue
        found = scheduled_instructions(module)
        assert found is not None, folder
        assert dict(enumerate(each.name for each in found)) == printed
        count += 1
    assert count or folder.name in _NOTHING_TO_COMPARE
