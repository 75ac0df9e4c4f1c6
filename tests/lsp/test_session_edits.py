"""Edits as clients send them."""

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, item

Change = types.TextDocumentContentChangeEvent
URI = "untitled:1"


def part(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    span = types.Range(types.Position(*start), types.Position(*end))
    return types.TextDocumentContentChangePartial(span, text)


def whole(text: str) -> Change:
    return types.TextDocumentContentChangeWholeDocument(text)


def edit(session: Session, *changes: Change, version: int = 2, uri: str = URI) -> DumpFile | None:
    document = types.VersionedTextDocumentIdentifier(version, uri)
    return session.edit(types.DidChangeTextDocumentParams(document, list(changes)))


@pytest.fixture
def session() -> Session:
    return Session()


def opened(session: Session, text: str) -> DumpFile:
    return session.open(item(URI, text))


def test_a_part_of_a_line_is_replaced(session: Session) -> None:
    file = opened(session, "one\ntwo\nthree")
    assert edit(session, part((1, 1), (1, 2), "W!")) is file
    assert file.document.text == "one\ntW!o\nthree"
    assert session.version(URI) == 2


def test_change_may_span_and_add_lines(session: Session) -> None:
    file = opened(session, "one\ntwo\nthree")
    edit(session, part((0, 2), (2, 1), "E\n\nT"))
    assert file.document.text == "onE\n\nThree"


def test_several_changes_apply_one_after_the_other(session: Session) -> None:
    file = opened(session, "abc\n")
    edit(
        session,
        part((0, 0), (0, 0), "new\n"),
        part((1, 0), (1, 1), "A"),
        part((1, 1), (1, 2), ""),
        part((2, 0), (2, 0), "end"),
    )
    assert file.document.text == "new\nAc\nend"


def test_a_full_text_replaces_all(session: Session) -> None:
    file = opened(session, DUMP)
    edit(session, whole("HloModule m\n"))
    assert file.document.text == "HloModule m\n"


def test_changes_after_a_full_text_apply_to_it(session: Session) -> None:
    file = opened(session, "old")
    edit(session, part((0, 0), (0, 1), "c"), whole("a\nb"), part((1, 0), (1, 1), "B"))
    assert file.document.text == "a\nB"


def test_no_change_at_all_is_a_new_version(session: Session) -> None:
    file = opened(session, "a")
    assert edit(session, version=9) is file
    assert (file.document.text, session.version(URI)) == ("a", 9)


def test_edit_of_unopened_file_is_ignored(session: Session) -> None:
    assert edit(session, whole("x"), uri="untitled:other") is None
    assert session.version("untitled:other") is None


def test_a_file_that_was_closed_is_left_alone(session: Session) -> None:
    file = opened(session, "a")
    session.close(URI)
    assert edit(session, whole("x")) is None
    assert file.document.text == "a"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_kinds_stay(session: Session, end: str) -> None:
    file = opened(session, f"one{end}two{end}")
    edit(session, part((1, 0), (1, 3), "2"), part((2, 0), (2, 0), f"three{end}"))
    assert file.document.text == f"one{end}2{end}three{end}"


def test_edit_may_split_a_line_end(session: Session) -> None:
    file = opened(session, "one\r\ntwo")
    edit(session, part((0, 3), (1, 0), "\r"), part((1, 0), (1, 0), "\n"))
    assert file.document.lines == ["one", "two"]
    assert file.document.text == "one\r\ntwo"


@pytest.mark.parametrize(
    ("encoding", "column"), [(Encoding.UTF8, 10), (Encoding.UTF16, 4), (Encoding.UTF32, 3)]
)
def test_columns_count_in_the_encoding_of_the_client(
    session: Session, encoding: Encoding, column: int
) -> None:
    session.client = Client(encoding=encoding)
    file = opened(session, "├─𝔸xy")
    edit(session, part((0, column), (0, column + 1), "X"))
    assert file.document.text == "├─𝔸Xy"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0, 99), (0, 99), "one+\ntwo"),
        ((9, 0), (9, 9), "one\ntwo+"),
        ((0, 1), (99, 99), "o+"),
        ((1, 2), (1, 1), "one\ntw+o"),
        ((2**31 - 1, 2**31 - 1), (2**31 - 1, 2**31 - 1), "one\ntwo+"),
    ],
)
def test_positions_outside_the_text_become_the_nearest_inside(
    session: Session, start: tuple[int, int], end: tuple[int, int], expected: str
) -> None:
    file = opened(session, "one\ntwo")
    edit(session, part(start, end, "+"))
    assert file.document.text == expected


async def test_edit_can_create_and_destroy_a_dump(session: Session) -> None:
    file = opened(session, "")
    document = types.TextDocumentIdentifier(URI)
    assert await session.context(document) is None
    edit(session, whole(DUMP))
    context = await session.context(document)
    assert context is not None
    assert context.file is file
    assert file.kind is FileKind.ASSIGNMENT
    edit(session, whole("no dump"))
    assert await session.context(document) is None
