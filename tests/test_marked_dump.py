"""Validity of the small dump that these tests use."""

import pytest

import marked_dump
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.records import BrokenRecord


@pytest.mark.parametrize(
    "dump", [marked_dump.split().dump, marked_dump.one_file().dump], ids=["split", "one"]
)
def test_marked_dump_has_no_findings(dump: Compile) -> None:
    for file in dump.files:
        assert {one.code for one in check(dump, file)} <= {"sibling-missing"}  # no report
        assert [record.text for record in file.records if isinstance(record, BrokenRecord)] == []


def test_marked_dump_has_all_file_kinds() -> None:
    assert [file.kind for file in marked_dump.split().dump.files] == [
        FileKind.ASSIGNMENT,
        FileKind.VALUES,
        FileKind.LIVE_RANGE,
        FileKind.MODULE,
    ]
    assert [file.kind for file in marked_dump.one_file().dump.files] == [FileKind.ASSIGNMENT]
