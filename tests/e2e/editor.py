"""An editor as the server sees it: a client of pytest-lsp with open files, at a real process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, Union

from cattrs import Converter
from lsprotocol import types
from pygls.protocol import default_converter
from pygls.uris import to_fs_path
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from e2e.process import COMMAND
from e2e.text import Spot, Text

T = TypeVar("T")
PROFILES = ("visual_studio_code", "neovim@v0.11", "emacs")
_PATIENCE = 60  # seconds until a reply that does not come fails the test

Uri = str


class Editor:
    """One editor with its server. A reply that does not come is a failure."""

    def __init__(self, client: LanguageClient, published: "Published", log: Path) -> None:
        self.client = client
        self.files: dict[Uri, OpenFile] = {}
        self.result = types.InitializeResult(types.ServerCapabilities())
        self.partial: dict[types.ProgressToken, list[Any]] = {}  # results that came ahead
        self._published = published
        self._log = log

    def kill(self) -> None:
        """End the server by force, if it still runs."""
        server = self.client._server
        if server is not None and server.returncode is None:
            server.kill()

    @property
    def encoding(self) -> str:
        """The position encoding that was agreed on."""
        return str(self.result.capabilities.position_encoding)

    @property
    def pulls(self) -> bool:
        """Whether this editor asks for diagnostics itself."""
        capabilities = self.client.capabilities
        assert capabilities is not None
        return bool(capabilities.text_document and capabilities.text_document.diagnostic)

    def open(
        self,
        place: Path | Uri,
        text: str | None = None,
        version: int = 1,
        *,
        language: str = "hlo",
    ) -> "OpenFile":
        """Open a file, with the text that it has on disk if no other is given."""
        uri = place.as_uri() if isinstance(place, Path) else place
        if text is None:
            assert isinstance(place, Path)
            text = place.read_bytes().decode()
        file = self.files[uri] = OpenFile(self, uri, text, version)
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, version, text))
        )
        return file

    async def reply(self, request: Awaitable[T]) -> T:
        """Wait for the reply to a request."""
        return await asyncio.wait_for(request, _PATIENCE)

    async def pushed(self, uri: Uri, version: int | None) -> list[types.Diagnostic]:
        """Wait for the pushed diagnostics of a version of a file."""
        params = await asyncio.wait_for(self._published.of(uri, version), _PATIENCE)
        return list(params.diagnostics)

    async def tidy(self) -> None:
        """Close all files, and fail if anything went wrong since the server runs."""
        for file in list(self.files.values()):
            file.close()
        nowhere = types.TextDocumentIdentifier("untitled:nowhere")
        params = types.HoverParams(nowhere, types.Position(0, 0))
        assert await self.reply(self.client.text_document_hover_async(params)) is None
        self._published.params.clear()
        assert self.client.error is None
        assert self.client.messages == []
        assert self._log.read_text("utf-8") == ""

    def last_pushed(self, uri: Uri) -> list[types.Diagnostic]:
        """Return the last pushed diagnostics of a file."""
        newest = [params for params in self._published.params if params.uri == uri][-1:]
        return [diagnostic for params in newest for diagnostic in params.diagnostics]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the server does by itself."""

        async def wait() -> None:
            while not condition():
                await asyncio.sleep(0.01)

        await asyncio.wait_for(wait(), _PATIENCE)

    def lists(self, uri: Uri) -> list[types.PublishDiagnosticsParams]:
        """All that was pushed for a file, in order."""
        return [params for params in self._published.params if params.uri == uri]

    def spot(self, location: types.Location) -> Spot:
        """Where a location leads."""
        text = self.text_of(location.uri)
        assert location.range.start.line == location.range.end.line
        return text.spot(location.uri.rpartition("/")[2], location.range)

    def text_of(self, uri: Uri) -> Text:
        """Return the text of a file: of the open document, otherwise from disk."""
        file = self.files.get(uri)
        if file is not None:
            return file.text
        path = to_fs_path(uri)
        assert path is not None
        return Text(Path(path).read_bytes().decode(), self.encoding)


class OpenFile:
    """A file that is open in an editor. Edits are sent at once; the text here follows them."""

    def __init__(self, editor: Editor, uri: Uri, text: str, version: int) -> None:
        self.editor = editor
        self.uri = uri
        self.version = version
        self.text = Text(text, editor.encoding)

    @property
    def document(self) -> types.TextDocumentIdentifier:
        """How requests name the file."""
        return types.TextDocumentIdentifier(self.uri)

    def edit(self, *edits: tuple[tuple[int, int], tuple[int, int], str]) -> None:
        """Replace what is between two places (lines and code points), one after the other."""
        changes: list[types.TextDocumentContentChangeEvent] = []
        for start, end, new in edits:
            span = types.Range(self.text.position(*start), self.text.position(*end))
            changes.append(types.TextDocumentContentChangePartial(span, new))
            self.text = self.text.edited(start, end, new)
        self._send(changes)

    def set(self, text: str) -> None:
        """Replace all of the text by a whole new one."""
        self.text = Text(text, self.editor.encoding)
        self._send([types.TextDocumentContentChangeWholeDocument(text)])

    def change_line(self, beginning: str, new: str) -> None:
        """Put another text in place of the first line that begins so."""
        line = self.text.line(beginning)
        self.edit(((line, 0), (line, len(self.text.lines[line])), new))

    def substitute(self, old: str, new: str) -> None:
        """Put another text in place of the first occurrence of one, within a line."""
        line, column = self.text.find(old)
        self.edit(((line, column), (line, column + len(old)), new))

    def close(self) -> None:
        """Close the file."""
        del self.editor.files[self.uri]
        self.editor.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document))

    async def diagnostics(self) -> list[types.Diagnostic]:
        """Return the complete diagnostics of the current text, pushed or pulled."""
        if not self.editor.pulls:
            return await self.editor.pushed(self.uri, self.version)
        report = await self.editor.reply(
            self.editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(self.document)
            )
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)

    async def codes(self) -> list[str]:
        """Return the codes of the diagnostics, in order, without those of advice."""
        return [str(found.code) for found in await self.diagnostics() if _is_problem(found)]

    def _send(self, changes: list[types.TextDocumentContentChangeEvent]) -> None:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.editor.client.text_document_did_change(
            types.DidChangeTextDocumentParams(document, changes)
        )


def _is_problem(diagnostic: types.Diagnostic) -> bool:
    worst = (types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning)
    return diagnostic.severity in worst


class Published:
    """Everything that the server has pushed, in order."""

    def __init__(self) -> None:
        self.params: list[types.PublishDiagnosticsParams] = []
        self._more = asyncio.Condition()

    async def take(self, params: types.PublishDiagnosticsParams) -> None:
        async with self._more:
            self.params.append(params)
            self._more.notify_all()

    async def of(self, uri: Uri, version: int | None) -> types.PublishDiagnosticsParams:
        """Wait for diagnostics of a version of a file, and return the newest."""
        async with self._more:
            while True:
                for params in reversed(self.params):
                    if (params.uri, params.version) == (uri, version):
                        return params
                await self._more.wait()


def _converter() -> Converter:
    """Return pygls's converter, corrected for actions that have a command."""
    converter: Converter = default_converter()

    def structure(action: Any, _: type) -> types.Command | types.CodeAction:
        kind: type = types.Command if isinstance(action.get("command"), str) else types.CodeAction
        structured: types.Command | types.CodeAction = converter.structure(action, kind)
        return structured

    either = Union[types.Command, types.CodeAction]  # noqa: UP007 - as it is written there
    converter.register_structure_hook(either, structure)
    return converter


@asynccontextmanager
async def editor(
    capabilities: str | types.ClientCapabilities,
    log: Path,
    options: object = None,
    folder: Path | None = None,
) -> AsyncIterator[Editor]:
    """Start an editor with its own server, and shut it down in the end.

    ``folder`` is the one that it has open, if any.

    Whatever the server has to log (exceptions among it) fails the test.
    """
    if isinstance(capabilities, str):
        capabilities = client_capabilities(capabilities)
    published = Published()

    partial: dict[types.ProgressToken, list[Any]] = {}

    def progress(client: LanguageClient, params: types.ProgressParams) -> None:
        if params.value and "kind" in params.value:
            DEFAULT_CLIENT_FEATURES[types.PROGRESS](client, params)
        else:
            partial.setdefault(params.token, []).append(params.value)

    def make_client() -> LanguageClient:
        client = LanguageClient(converter_factory=_converter)

        async def publish(params: types.PublishDiagnosticsParams) -> None:
            await published.take(params)

        handlers: dict[str, Any] = dict(DEFAULT_CLIENT_FEATURES)
        handlers[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = publish
        handlers[types.PROGRESS] = progress
        register_lsp_features(client, handlers)
        return client

    command = [*COMMAND, "--log-file", str(log)]
    client = await ClientServerConfig(command, client_factory=make_client).start()
    assert isinstance(client, LanguageClient)
    running = Editor(client, published, log)
    running.partial = partial
    try:
        params = types.InitializeParams(
            capabilities,
            initialization_options=options,
            root_uri=None if folder is None else folder.as_uri(),
        )
        running.result = await running.reply(client.initialize_session(params))
        yield running
        await running.tidy()
        await running.reply(client.shutdown_session())
    except BaseException:
        running.kill()  # it was not asked to end, and stopping would wait for it
        raise
    finally:
        await client.stop()
