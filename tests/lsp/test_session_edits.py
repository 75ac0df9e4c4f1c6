"""Tests for text edits as clients send them."""

import pytest
from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp import scheduling
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, context_in, item

Change = types.TextDocumentContentChangeEvent
URI = "untitled:1"


def part(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    span = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(span, text)


def whole_document(text: str) -> Change:
    return types.TextDocumentContentChangeWholeDocument(text)


def edit(session: Session, *changes: Change, version: int = 2, uri: str = URI) -> DumpFile | None:
    document = types.VersionedTextDocumentIdentifier(version, uri)
    return session.edit(types.DidChangeTextDocumentParams(document, list(changes)))


@pytest.fixture
def session() -> Session:
    return Session()


def open_document(session: Session, text: str) -> DumpFile:
    return session.open(item(URI, text))


def test_several_changes_apply_in_order(session: Session) -> None:
    file = open_document(session, "abc\n")
    edit(
        session,
        part((0, 0), (0, 0), "new\n"),
        part((1, 0), (1, 1), "A"),
        part((1, 1), (1, 2), ""),
        part((2, 0), (2, 0), "end"),
    )
    assert file.document.text == "new\nAc\nend"


def test_full_text_replaces_the_document(session: Session) -> None:
    file = open_document(session, DUMP)
    edit(session, whole_document("HloModule m\n"))
    assert file.document.text == "HloModule m\n"


def test_edit_of_unopened_file_is_ignored(session: Session) -> None:
    assert edit(session, whole_document("x"), uri="untitled:other") is None
    assert session.version("untitled:other") is None


def test_edit_of_closed_file_is_ignored(session: Session) -> None:
    file = open_document(session, "a")
    session.close(URI)
    assert edit(session, whole_document("x")) is None
    assert file.document.text == "a"


@pytest.mark.parametrize(
    ("encoding", "column"), [(Encoding.UTF8, 10), (Encoding.UTF16, 4), (Encoding.UTF32, 3)]
)
def test_edit_columns_use_client_encoding(
    session: Session, encoding: Encoding, column: int
) -> None:
    session.client = Client(encoding=encoding)
    file = open_document(session, "├─𝔸xy")
    edit(session, part((0, column), (0, column + 1), "X"))
    assert file.document.text == "├─𝔸Xy"


async def test_edit_can_create_and_remove_a_dump(session: Session) -> None:
    file = open_document(session, "")
    document = types.TextDocumentIdentifier(URI)
    assert await context_in(session, document) is None
    edit(session, whole_document(DUMP))
    context = await context_in(session, document)
    assert context is not None
    assert context.file is file
    assert file.kind is FileKind.ASSIGNMENT
    edit(session, whole_document("no dump"))
    assert await context_in(session, document) is None


async def test_reply_has_sections_of_the_latest_text(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "_SLICE_SECONDS", 0)

    def section(name: str) -> str:
        return f"*** Begin {name}.txt ***\n{DUMP}*** End {name}.txt ***\n"

    open_document(session, section("module_0001.a") + section("module_0002.b"))
    texts: list[list[str]] = []

    def names(contexts: list[RequestContext]) -> list[str]:
        texts.append([context.file.title for context in contexts])
        checkpoint()
        return texts[-1]

    waiting = [section("module_0003.c")]

    async def edit_once() -> None:
        if texts and waiting:
            edit(session, whole_document(waiting.pop()))

    document = types.TextDocumentIdentifier(URI)
    found = await session.answer_text(document, names, give_way=edit_once)
    assert found == ["module_0003.c.txt"]
    assert len(texts) == 2
