"""Tests for report rows, which count the values whose shapes they print."""

from collections import Counter
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.memory.memory_usage_report import reported_row, rows_of_allocation, rows_of_value
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import TableRow
from oracles.report_shapes import count_shapes, without_layout

pytestmark = pytest.mark.corpus


def test_rows_match_values_with_printed_shapes(folder: Path) -> None:
    for path in files_of(folder, FileKind.REPORT):
        workspace = DumpWorkspace()
        file = workspace.file(path)
        dump = workspace.compile_of(file)
        for record in file.records:
            if isinstance(record, TableRow):
                where = f"{path.name}:{record.line + 1}"
                found = reported_row(dump, file, record)
                assert found is not None, where
                shapes = Counter(without_layout(value.record.shape) for value in found.values)
                assert shapes == count_shapes(record.shapes), where
                row = LocatedRecord(file, record)
                assert row in rows_of_allocation(dump, found.allocation.record.number)
                assert all(row in rows_of_value(dump, value) for value in found.values[:2])
