"""Tests for open and closed files in a session, and their compiles."""

from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model import workspace
from hlo_lsp.syntax.file_kinds import FileKind
from lsp.opened import DUMP, at, context_in, item, split_dump


async def _request_context(session: Session, uri: str) -> RequestContext | None:
    return await context_in(session, types.TextDocumentIdentifier(uri))


async def test_open_file_has_a_request_context() -> None:
    session = Session()
    file = session.open(item("untitled:1", DUMP, version=3))
    context = await _request_context(session, "untitled:1")
    assert context is not None
    assert context.file is file
    assert file.is_fresh
    assert file.kind is FileKind.ASSIGNMENT
    assert context.dump.files == [file]
    assert session.version("untitled:1") == 3


@pytest.mark.parametrize("text", ["", "\n\n", "--flag=1\n--other=2\n", "int main() {}\n"])
async def test_other_file_has_no_context(text: str) -> None:
    session = Session()
    session.open(item("untitled:1", text))
    assert await _request_context(session, "untitled:1") is None
    assert session.version("untitled:1") == 1


async def test_unopened_file_has_no_context(tmp_path: Path) -> None:
    uri = split_dump(tmp_path)["-live-range"].as_uri()
    session = Session()
    assert await _request_context(session, uri) is None
    assert session.version(uri) is None
    assert session.close(uri) is None


async def test_closed_file_has_no_context() -> None:
    session = Session()
    file = session.open(item("untitled:1", DUMP))
    assert session.close("untitled:1") is file
    assert await _request_context(session, "untitled:1") is None
    assert session.version("untitled:1") is None


async def test_companion_files_are_read_from_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    uri = paths["-live-range"].as_uri()
    session.open(item(uri, paths["-live-range"].read_text("utf-8")))
    context = await _request_context(session, uri)
    assert context is not None
    assert {file.path for file in context.dump.files} == set(paths.values())
    assert context.dump.value(2) is not None


@pytest.mark.parametrize("name", ["with blank", "50%", "a#b?c", "ü", "a+b&c=d", "[x]"])
async def test_folder_name_may_have_symbols(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    paths = split_dump(folder)
    session = Session()
    uri = paths["-live-range"].as_uri()
    session.open(item(uri, paths["-live-range"].read_text("utf-8")))
    context = await _request_context(session, uri)
    assert context is not None
    assert len(context.dump.files) == 3


async def test_reply_waits_for_unread_companions_of_a_file_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = split_dump(tmp_path)
    path = paths["-buffer-assignment"]
    session = Session()
    session.open(item(path.as_uri(), path.read_text("utf-8")))
    document = types.TextDocumentIdentifier(path.as_uri())

    def count(context: RequestContext) -> int:
        return len(context.dump.files)

    assert await session.answer_at(document, 0, None, count) == [3]
    monkeypatch.setattr(workspace, "_LARGE_FILE_BYTES", 0)
    counts: list[int] = []
    for kept in paths.values():
        if kept != path:
            kept.write_text(kept.read_text("utf-8") + "\n", "utf-8")  # not read any more

    def keep_count(context: RequestContext) -> None:
        counts.append(count(context))

    await session.answer_at(document, 0, None, keep_count)
    assert counts == [3]


async def test_open_companion_file_replaces_the_file_on_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    ranges, values = paths["-live-range"], paths["-buffer-assignment-values"]
    session.open(item(ranges.as_uri(), ranges.read_text("utf-8")))
    opened_file = session.open(item(values.as_uri(), values.read_text("utf-8") + "\n"))
    context = await _request_context(session, ranges.as_uri())
    assert context is not None
    assert opened_file in context.dump.files
    session.close(values.as_uri())
    context = await _request_context(session, ranges.as_uri())
    assert context is not None
    assert len(context.dump.files) == 3
    assert opened_file not in context.dump.files


async def test_closed_companion_keeps_the_compile(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    ranges, values = paths["-live-range"], paths["-buffer-assignment-values"]
    session.open(item(ranges.as_uri(), ranges.read_text("utf-8")))
    session.open(item(values.as_uri(), values.read_text("utf-8")))
    before = await _request_context(session, ranges.as_uri())
    session.close(values.as_uri())
    closed = await _request_context(session, ranges.as_uri())
    session.open(item(values.as_uri(), values.read_text("utf-8")))
    reopened = await _request_context(session, ranges.as_uri())
    assert before is not None
    assert closed is not None
    assert reopened is not None
    assert before.dump is closed.dump is reopened.dump


async def test_file_without_a_path_has_no_companions() -> None:
    session = Session()
    first = session.open(item("untitled:1", DUMP))
    second = session.open(item("untitled:2", DUMP))
    assert session.open_companions(first) == [first]
    assert session.open_companions(second) == [second]


async def test_cursor_target_is_found_at_the_position() -> None:
    session = Session()
    session.open(item("untitled:1", DUMP))
    context = await _request_context(session, "untitled:1")
    assert context is not None
    found = context.at(at(DUMP, "    add{}:1-2"))
    assert found is not None
    assert (found.place.start, found.place.end) == (4, 9)
    assert context.at(types.Position(10**6, 0)) is None


async def test_closed_file_is_read_from_disk(tmp_path: Path) -> None:
    path = split_dump(tmp_path)["-live-range"]
    session = Session()
    document = types.TextDocumentIdentifier(path.as_uri())
    context = await context_in(session, document, closed=True)
    assert context is not None
    assert context.file.kind is FileKind.LIVE_RANGE
    assert len(context.dump.files) == 3
    again = await context_in(session, document, closed=True)
    assert again is not None
    assert again.file is context.file
    path.write_text("int main() {}\n")
    assert await context_in(session, document, closed=True) is None


async def test_last_close_discards_all_closed_files(
    tmp_path: Path,
) -> None:
    path = split_dump(tmp_path)["-live-range"]
    session = Session()
    await context_in(session, types.TextDocumentIdentifier(path.as_uri()), closed=True)
    assert not session.workspace.is_unread(path)
    session.open(item("untitled:1", DUMP))
    session.close("untitled:1")
    assert session.workspace.is_unread(path)
