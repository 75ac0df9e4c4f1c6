"""Tests for symbols, folds, lenses, and reports of out-of-memory messages."""

import os
import re
from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import SHOW_SUMMARY_COMMAND, Client
from hlo_lsp.lsp.oom_answers import (
    assignments_of_module,
    code_lenses,
    definition,
    document_symbols,
    folding_ranges,
    resolve_lens,
    summarize_message,
)
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from lsp.opened import item
from oom_messages import DUMP, LONG, text_of

_PARAMS = cast("Any", None)  # The functions do not use the parameters.
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


def test_client_without_nested_symbols_gets_a_list(session: Session, file: DumpFile) -> None:
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


def _open_log(session: Session, folder: Path) -> DumpFile:
    """Open a log in a workspace that has the dump of its message in another folder."""
    dump, logs = folder / "dump", folder / "logs"
    for directory in (dump, logs):
        directory.mkdir()
    for path in DUMP.iterdir():
        (dump / path.name).write_bytes(path.read_bytes())
    session.index.workspace_folders = lambda: [folder]
    file = session.open(item((logs / "train.log").as_uri(), "step 1\n" + text_of(LONG)))
    file.refresh()
    return file


async def test_dump_elsewhere_in_workspace_is_found(session: Session, tmp_path: Path) -> None:
    file = _open_log(session, tmp_path)
    await session.index.scan()
    line = file.lines.index("  1. Size: 6.75G")
    params = types.TextDocumentPositionParams(
        types.TextDocumentIdentifier(file.uri), types.Position(line, 0)
    )
    locations = definition(session, file, cast("Any", params))
    assert len(locations) == 2
    assert {Path(location.uri).parent.name for location in locations} == {"dump"}


def _unresolved_lenses(session: Session, file: DumpFile) -> list[types.CodeLens]:
    json_lenses = code_lenses(session, file, _PARAMS)
    ranges_and_data = [(lens["range"], lens["data"]) for lens in json_lenses]
    starts = [types.Position(span["start"]["line"], 0) for span, _ in ranges_and_data]
    return [
        types.CodeLens(types.Range(start, start), data=data)
        for start, (_, data) in zip(starts, ranges_and_data, strict=True)
    ]


async def test_lenses_have_headline(session: Session, tmp_path: Path) -> None:
    session.client = Client(can_show_summary=True)
    file = _open_log(session, tmp_path)
    lenses = [await resolve_lens(session, lens) for lens in _unresolved_lenses(session, file)]
    assert [lens.range.start.line for lens in lenses] == [0, 1]
    for lens in lenses:
        assert lens.command is not None
        assert lens.command.command == SHOW_SUMMARY_COMMAND
        assert lens.command.title.startswith("jit_train_step: not enough HBM, needs 15.751 GiB")


async def test_summary_is_report_and_summary_of_dump(session: Session, tmp_path: Path) -> None:
    text = await summarize_message(session, _open_log(session, tmp_path).uri, 0)
    assert text is not None
    assert text.startswith("# Out of memory\n\njit_train_step: not enough HBM")
    assert "\n# Memory of `jit_train_step`" in text


async def test_summary_for_pages_has_links(session: Session, tmp_path: Path) -> None:
    session.client = Client(can_show_summary=True)
    text = await summarize_message(session, _open_log(session, tmp_path).uri, 0)
    assert text is not None
    (row,) = (line for line in text.splitlines() if line.startswith("| [`fusion.4{}`]"))
    assert re.search(r"-buffer-assignment\.txt#L\d+\) \| 6\.75\sGiB \| \[", row)
    assert re.search(r"^## HBM at \[step [\d,]+\]\(file:.*\.txt#L\d+\)$", text, re.MULTILINE)


async def test_summary_without_dump_is_report(session: Session, file: DumpFile) -> None:
    text = await summarize_message(session, file.uri, 0)
    assert text is not None
    assert text.count("\n# ") == 0


async def test_other_text_has_no_message_summary(session: Session) -> None:
    file = session.open(item("untitled:other", "step 1\n"))
    assert await summarize_message(session, file.uri, 0) is None


async def _assignments(session: Session, folder: Path, module: str) -> list[str]:
    session.index.workspace_folders = lambda: [folder]
    folders = await session.index.scan()
    return [path.parent.name for path in assignments_of_module(folders, module)]


def _write_assignment(folder: Path, module: str, *, time: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"module_0001.{module}.after_optimizations-buffer-assignment.txt"
    path.write_text("BufferAssignment:\n", "utf-8")
    os.utime(path, (time, time))


async def test_newest_assignment_of_module_is_first(session: Session, tmp_path: Path) -> None:
    _write_assignment(tmp_path / "old", "jit_f")
    _write_assignment(tmp_path / "new", "jit_f", time=60)
    _write_assignment(tmp_path / "other", "jit_f_and_more")
    (tmp_path / "new" / "module_0001.jit_f.before_optimizations.txt").write_text("HloModule f\n")
    assert await _assignments(session, tmp_path, "jit_f") == ["new", "old"]


async def test_module_name_is_sanitized_like_file_names(session: Session, tmp_path: Path) -> None:
    _write_assignment(tmp_path / "dump", "a_b")
    assert await _assignments(session, tmp_path, "a/b") == ["dump"]
