"""Answers for modules as XLA dumps them, and as it prints them everywhere else.

``to_string`` spells asynchronous operations as ``slice-start``, and omits their computations.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dumps import module_files
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.run import check
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.instruction_matching import match_instructions
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.program.transfers import async_operations, host_transfers, synchronous_collectives
from hlo_lsp.stats.instruction_table import cost_table
from oracles.compiles import on_typical_folders
from oracles.xla_parser import is_readable, xla_hlo

pytestmark = pytest.mark.corpus

_MAX_TEXT_BYTES = 400_000
_MODULES = 4  # of a folder, spread over it


@on_typical_folders
def test_answers_are_equal_for_both_spellings(folder: Path) -> None:
    hlo = xla_hlo()
    for text in _texts(folder):
        module = hlo.hlo_module_from_text(text)
        dumped = DumpFile.of_text(text)
        printed = DumpFile.of_text(module.to_string())
        assert _answers(printed, with_lines=True) == _answers(dumped, with_lines=True)
        short = DumpFile.of_text(module.to_string(hlo.HloPrintOptions.short_parsable()))
        assert _answers(short, with_lines=False) == _answers(dumped, with_lines=False)
        matching = match_instructions(printed.module, dumped.module)
        assert matching.share == 1
        assert not [node.record.name for node in matching.before.values() if node.is_changed]


def test_canonical_print_runs_the_same_operations(folder: Path) -> None:
    hlo = xla_hlo()
    for text in _texts(folder):
        # This form has the computations inline, after the attributes of their operations.
        printed = hlo.hlo_module_from_text(text).to_string(hlo.HloPrintOptions.canonical())
        found, expected = DumpFile.of_text(printed).module, DumpFile.of_text(text).module
        assert _scheduled(found) == _scheduled(expected)


def _texts(folder: Path) -> list[str]:
    paths = [path for path in module_files(folder) if path.stat().st_size < _MAX_TEXT_BYTES]
    texts = (path.read_text("utf-8") for path in paths)
    found = [text for text in texts if "async-start(" in text and _is_parsed(text)]
    return found[:: len(found) // _MODULES + 1]


def _is_parsed(text: str) -> bool:
    try:
        xla_hlo().hlo_module_from_text(text)
    except RuntimeError:
        return False
    return is_readable(text)


def _answers(file: DumpFile, *, with_lines: bool) -> dict[str, Any]:
    dump, module = Compile([file]), file.module
    table = cost_table(dump, chip_of(dump, "v5e"))
    assert table is not None
    program = table.cost
    findings = check(dump, file)
    return {
        "instructions": module.instruction_count,
        "scheduled": _scheduled(module),
        "overlap": sorted(_operations(module)),
        "synchronous": sorted(one[1:] for one in synchronous_collectives(module)),
        "host": [(one.to_host, one.bytes) for one in host_transfers(module)],
        "costs": (program.xla, program.libtpu, program.executed.unknown_calls),
        "rows": Counter(
            (
                *(module.opcode(one.instruction), one.instruction.shape, one.cost),
                *(one.memory_bytes, one.wire_bytes, one.host_bytes, one.executions),
            )
            for one in program.executed.instructions
        ),
        "lines": with_lines
        and [(group.name, group.cost) for group in table.cost_groups(InstructionKey.LINE)],
        "errors": [one.message for one in findings if one.severity is Severity.ERROR],
    }


def _scheduled(module: ModuleIndex) -> "Counter[tuple[str, str]]":
    scheduled = scheduled_instructions(module) or ()
    return Counter((module.opcode(one), one.shape) for one in scheduled)


def _operations(module: ModuleIndex) -> Iterator[tuple[str, str, str, int, int, int, int]]:
    for one in async_operations(module) or ():
        names = one.start.name, one.done.name
        yield one.kind, *names, one.bytes, one.source_space, one.target_space, one.work
