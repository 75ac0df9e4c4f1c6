"""Symbols and folds in texts with out-of-memory messages."""

from typing import Any, cast

import pytest

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.out_of_memory import document_symbols, folding_ranges
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from lsp.opened import item
from oom_messages import LONG, text_of

_PARAMS = cast("Any", None)  # the functions use the file only
_LINES = text_of(LONG).split("\n")


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def file(session: Session) -> DumpFile:
    file = session.open(item("untitled:log", text_of(LONG)))
    file.refresh()
    return file


def test_buffers_are_symbols_of_their_list(session: Session, file: DumpFile) -> None:
    (message,) = document_symbols(session, file, _PARAMS)
    assert message["range"]["start"] == {"line": 0, "character": 0}
    allocations, _ = message["children"]
    first = allocations["children"][0]
    assert first["name"] == "1. 6.75G"
    assert _LINES[first["selectionRange"]["start"]["line"]] == "  1. Size: 6.75G"


def test_client_without_trees_receives_list(session: Session, file: DumpFile) -> None:
    session.client = Client(can_nest_symbols=False)
    names = [symbol["name"] for symbol in document_symbols(session, file, _PARAMS)]
    assert names[:3] == ["hbm: 15.75G of 15.75G", "program allocations", "1. 6.75G"]


def test_message_lists_and_buffers_fold(session: Session, file: DumpFile) -> None:
    folds = [
        (fold["startLine"], fold["endLine"]) for fold in folding_ranges(session, file, _PARAMS)
    ]
    starts = [_LINES[start].strip() for start, _ in folds]
    assert starts[0].startswith("RESOURCE_EXHAUSTED")
    assert "Largest program allocations in hbm:" in starts
    assert starts.count("1. Size: 6.75G") == 2


def test_number_of_folds_is_limited(session: Session, file: DumpFile) -> None:
    session.client = Client(max_folding_ranges=1)
    assert len(folding_ranges(session, file, _PARAMS)) == 1
