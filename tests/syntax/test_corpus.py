"""Scanners read every entry and instruction of a train step.

``check`` of the corpus (``oracles/test_check.py``) shows that they read all lines.
"""

from collections import Counter
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.record_sequence import Scanner
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner
from hlo_lsp.text import disk


def _counts(scanner: Scanner, lines: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    at = 0
    while at < len(lines):
        record = scanner.read(lines, at)
        counts[type(record).__name__] += 1
        at += record.line_count
    assert at == len(lines)
    return counts


@pytest.mark.corpus
def test_train_step_record_counts(train_l24: Path) -> None:
    [values] = files_of(train_l24, FileKind.VALUES)
    lines = disk.read_document(values).lines
    heads = sum(line.startswith("<") for line in lines)
    assert _counts(memory_scanner(), lines)["UsedValue"] == heads
    [module] = files_of(train_l24, FileKind.MODULE)[:1]
    lines = disk.read_document(module).lines
    instructions = sum(" = " in line and line[0] == " " for line in lines)
    assert _counts(module_scanner(), lines)["InstructionLine"] == instructions
