"""Scanners read all lines of the corpus."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dumps import FOLDERS, files_of, kind_by_name
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.syntax.record_sequence import Scanner
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner, thunk_scanner
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text import disk

pytestmark = pytest.mark.corpus


def _scanner(kind: FileKind) -> Scanner | None:
    if kind.is_memory:
        return memory_scanner()
    if kind is FileKind.MODULE:
        return module_scanner()
    return thunk_scanner() if kind is FileKind.THUNKS else None


def _read(scanner: Scanner, lines: list[str]) -> Iterator[tuple[int, Record]]:
    at = 0
    while at < len(lines):
        record = scanner.read(lines, at)
        yield at, record
        at += record.line_count
    assert at == len(lines)


def _left_over(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        lines = disk.read_document(path).lines
        scanner = _scanner(detect_file_kind(lines))
        for at, record in () if scanner is None else _read(scanner, lines):
            if isinstance(record, BrokenRecord) or (
                isinstance(record, UsedValue) and not record.whole
            ):
                yield f"{path.name}:{at + 1}: {lines[at][:120]}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_line_is_a_record(folder: str, corpus_small: Path) -> None:
    assert list(islice(_left_over(files_of(corpus_small / folder)), 5)) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_detected_kind_matches_file_name(folder: str, corpus_small: Path) -> None:
    files = files_of(corpus_small / folder)
    wrong = {
        path.name: found
        for path in files
        if (found := detect_file_kind(disk.read_document(path).lines)) is not kind_by_name(path)
    }
    assert wrong == {}


def test_every_line_of_each_generation_is_a_record(corpus_generations: Path) -> None:
    assert list(islice(_left_over(files_of(corpus_generations)), 5)) == []


def test_train_step_has_no_broken_lines(train_l24: Path) -> None:
    assert list(islice(_left_over(files_of(train_l24)), 5)) == []


def test_large_train_step_has_no_broken_lines(train_l96: Path) -> None:
    assert list(islice(_left_over(files_of(train_l96)), 5)) == []


def test_train_step_record_counts(train_l24: Path) -> None:
    [values] = files_of(train_l24, FileKind.VALUES)
    counts = Counter(
        type(r).__name__ for _, r in _read(memory_scanner(), disk.read_document(values).lines)
    )
    heads = sum(line.startswith("<") for line in disk.read_document(values).lines)
    assert counts["UsedValue"] == heads
    [module] = files_of(train_l24, FileKind.MODULE)[:1]
    lines = disk.read_document(module).lines
    counts = Counter(type(r).__name__ for _, r in _read(module_scanner(), lines))
    assert counts["InstructionLine"] == sum(" = " in line and line[0] == " " for line in lines)
