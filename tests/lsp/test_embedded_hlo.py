"""HLO in strings and fences: answers about its positions only, and no answers elsewhere."""

from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp.completion import empty_file_completion
from hlo_lsp.lsp.diagnostics import FileDiagnostics
from hlo_lsp.lsp.embedded_hlo import EmbeddedHlo
from hlo_lsp.lsp.hover import hover
from hlo_lsp.lsp.navigation import definition
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.model.dump_file import DumpFile
from lsp.opened import context_in

_TEXT = '''\
from jax import parse
é = "🙂"; HLO = parse("""HloModule m

ENTRY e {
  p = f32[8,128] parameter(0)
  ROOT t = f32[8,128] tanh(p)
}""")
'''
_URI = "file:///project/model.py"
_DOCUMENT = types.TextDocumentIdentifier(_URI)


def opened(text: str = _TEXT, language: str = "python") -> tuple[Session, DumpFile]:
    session = Session()
    return session, session.open(types.TextDocumentItem(_URI, language, 1, text))


def position(word: str, text: str = _TEXT) -> types.Position:
    """Return the position of a word in UTF-16 units."""
    before = text[: text.index(word)]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


async def at(session: Session, place: types.Position) -> RequestContext | None:
    return await context_in(session, _DOCUMENT, place.line, place.character)


def edit(session: Session, old: str, new: str, text: str = _TEXT) -> DumpFile | None:
    start = position(old, text)
    end = types.Position(start.line, start.character + len(old))
    change = types.TextDocumentContentChangePartial(types.Range(start, end), new)
    document = types.VersionedTextDocumentIdentifier(2, _URI)
    return session.edit(types.DidChangeTextDocumentParams(document, [change]))


async def diagnostics(session: Session, file: DumpFile) -> list[Any]:
    shown = FileDiagnostics(file, lambda _: None, 0)
    return (await shown.check(session)).diagnostics


async def test_hover_and_definition_are_in_the_host() -> None:
    session, _ = opened()
    place = position("p)\n")
    context = await at(session, place)
    assert context is not None
    card = hover(context, place)
    assert card is not None
    assert "4.0 KiB" in str(card.contents)
    found: Any = definition(context, place)
    (target,) = found if isinstance(found, list) else [found]
    target_range = getattr(target, "range", None) or target.target_selection_range
    assert target_range.start == position("p = f32")


@pytest.mark.parametrize(
    ("place", "is_hlo"),
    [
        (position("HloModule"), True),
        (position('""")\n'), True),
        (position('"""HloModule'), False),
        (position("from jax"), False),
        (position(")\n", _TEXT), True),
        (types.Position(6, 4), False),
    ],
)
async def test_only_columns_of_hlo_have_answers(place: types.Position, is_hlo: bool) -> None:
    session, _ = opened()
    assert (await at(session, place) is not None) == is_hlo


async def test_requests_on_whole_documents_have_no_answers() -> None:
    session, _ = opened()
    assert await session.answer_text(_DOCUMENT, list) == []
    assert len(await session.answer_text(_DOCUMENT, list, embedded=True)) == 1


async def test_host_is_no_dump_of_the_workspace() -> None:
    session, file = opened()
    assert session.workspace.open_files == {}
    assert session.open_companions(file) == [file]
    assert session.close(_URI) is file
    assert await session.answer_text(_DOCUMENT, list, embedded=True) == []


@pytest.mark.parametrize("language", ["hlo", "plaintext", "rust"])
async def test_other_languages_are_no_hosts(language: str) -> None:
    _, file = opened(language=language)
    assert file.host is None


async def test_diagnostic_follows_edits() -> None:
    session, file = opened()
    assert await diagnostics(session, file) == []
    edit(session, "tanh(p)", "tanh(q)")
    (found,) = await diagnostics(session, file)
    assert found["code"] == "undefined-instruction"
    assert found["range"]["start"] == {"line": 5, "character": 27}
    edit(session, "from jax import parse", "\n")
    (found,) = await diagnostics(session, file)
    assert found["range"]["start"] == {"line": 6, "character": 27}


async def test_completion_of_text_without_hlo_is_empty() -> None:
    session, _ = opened("HloM\n")
    params = types.CompletionParams(_DOCUMENT, types.Position(0, 4))
    assert await at(session, params.position) is None
    assert empty_file_completion(session, params) is None


class _Server:
    """Collects the registrations that a server sends."""

    def __init__(self, *, is_dynamic: bool) -> None:
        names = ("hover", "definition", "references", "document_highlight", "synchronization",
                 "completion", "diagnostic")  # fmt: skip
        self.client_capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                **{name: _Dynamic(is_dynamic) for name in names}  # type: ignore[arg-type]
            )
        )
        self.registered: set[str] = set()

    def client_register_capability(self, params: types.RegistrationParams) -> None:
        self.registered |= {one.method for one in params.registrations}

    def client_unregister_capability(self, params: types.UnregistrationParams) -> None:
        self.registered -= {one.method for one in params.unregisterations}


class _Dynamic:
    def __init__(self, value: bool) -> None:
        self.dynamic_registration = value


async def test_setting_registers_and_unregisters() -> None:
    session, server = Session(), _Server(is_dynamic=True)
    embedded = EmbeddedHlo(server, session)  # type: ignore[arg-type]
    embedded.update()
    assert not server.registered  # before the client has initialized
    await embedded.start()
    assert {"textDocument/didOpen", "textDocument/hover"} < server.registered
    assert "textDocument/formatting" not in server.registered
    session.settings = Settings(embedded_hlo=False)
    embedded.update()
    assert not server.registered


async def test_client_without_dynamic_registration_gets_none() -> None:
    server = _Server(is_dynamic=False)
    await EmbeddedHlo(server, Session()).start()  # type: ignore[arg-type]
    assert not server.registered
