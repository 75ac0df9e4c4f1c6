"""Files that come and go: what is open, what it is, and to which compile it belongs."""

from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.syntax.file_kinds import FileKind
from lsp.opened import DUMP, at, item, split_dump


async def _ask(session: Session, uri: str) -> RequestContext | None:
    return await session.context(types.TextDocumentIdentifier(uri))


async def test_an_open_file_is_asked_as_it_is() -> None:
    session = Session()
    file = session.open(item("untitled:1", DUMP, version=3))
    context = await _ask(session, "untitled:1")
    assert context is not None
    assert context.file is file
    assert file.is_fresh
    assert file.kind is FileKind.ASSIGNMENT
    assert context.dump.files == [file]
    assert session.version("untitled:1") == 3


@pytest.mark.parametrize("text", ["", "\n\n", "--flag=1\n--other=2\n", "int main() {}\n"])
async def test_other_file_has_no_answers(text: str) -> None:
    session = Session()
    session.open(item("untitled:1", text))
    assert await _ask(session, "untitled:1") is None
    assert session.version("untitled:1") == 1


async def test_unopened_file_has_no_answers(tmp_path: Path) -> None:
    uri = split_dump(tmp_path)["-live-range"].as_uri()
    session = Session()
    assert await _ask(session, uri) is None
    assert session.version(uri) is None
    assert session.close(uri) is None


async def test_a_closed_file_has_no_answers() -> None:
    session = Session()
    file = session.open(item("untitled:1", DUMP))
    assert session.close("untitled:1") is file
    assert await _ask(session, "untitled:1") is None
    assert session.version("untitled:1") is None


async def test_companion_files_are_read_from_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    uri = paths["-live-range"].as_uri()
    session.open(item(uri, paths["-live-range"].read_text("utf-8")))
    context = await _ask(session, uri)
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
    context = await _ask(session, uri)
    assert context is not None
    assert len(context.dump.files) == 3


async def test_open_companion_file_replaces_the_file_on_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    ranges, values = paths["-live-range"], paths["-buffer-assignment-values"]
    session.open(item(ranges.as_uri(), ranges.read_text("utf-8")))
    opened = session.open(item(values.as_uri(), values.read_text("utf-8")))
    context = await _ask(session, ranges.as_uri())
    assert context is not None
    assert opened in context.dump.files
    session.close(values.as_uri())
    context = await _ask(session, ranges.as_uri())
    assert context is not None
    assert len(context.dump.files) == 3
    assert opened not in context.dump.files


async def test_file_without_a_path_has_no_companions() -> None:
    session = Session()
    first = session.open(item("untitled:1", DUMP))
    second = session.open(item("untitled:2", DUMP))
    assert session.open_companions(first) == [first]
    assert session.open_companions(second) == [second]


async def test_cursor_is_read_in_the_client_encoding() -> None:
    session = Session()
    session.open(item("untitled:1", DUMP))
    context = await _ask(session, "untitled:1")
    assert context is not None
    found = context.at(at(DUMP, "    add{}:1-2"))
    assert found is not None
    assert (found.place.start, found.place.end) == (4, 9)
    assert context.at(types.Position(10**6, 0)) is None


async def test_closed_file_is_read_from_disk(tmp_path: Path) -> None:
    path = split_dump(tmp_path)["-live-range"]
    session = Session()
    document = types.TextDocumentIdentifier(path.as_uri())
    context = await session.context(document, closed=True)
    assert context is not None
    assert context.file.kind is FileKind.LIVE_RANGE
    assert len(context.dump.files) == 3
    again = await session.context(document, closed=True)
    assert again is not None
    assert again.file is context.file
    path.write_text("int main() {}\n")
    assert await session.context(document, closed=True) is None


async def test_last_close_discards_all_closed_files(
    tmp_path: Path,
) -> None:
    path = split_dump(tmp_path)["-live-range"]
    session = Session()
    await session.context(types.TextDocumentIdentifier(path.as_uri()), closed=True)
    assert not session.workspace.is_unread(path)
    session.open(item("untitled:1", DUMP))
    session.close("untitled:1")
    assert session.workspace.is_unread(path)
