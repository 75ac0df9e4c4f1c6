"""Simulated editors: clients of pytest-lsp with open files, connected to server processes."""

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
from e2e.text import Text

T = TypeVar("T")
PROFILES = ("visual_studio_code", "neovim@v0.11", "emacs")
_TIMEOUT_SECONDS = 60

Uri = str


class Editor:
    """An editor with its own server. A missing reply fails the test after a timeout."""

    def __init__(
        self, client: LanguageClient, published: "PublishedDiagnostics", log: Path
    ) -> None:
        self.client = client
        self.files: dict[Uri, OpenFile] = {}
        self.result = types.InitializeResult(types.ServerCapabilities())
        self.partial_results: dict[types.ProgressToken, list[Any]] = {}
        self._published = published
        self._log = log

    def kill(self) -> None:
        """Kill the server if it still runs."""
        server = self.client._server
        if server is not None and server.returncode is None:
            server.kill()

    @property
    def encoding(self) -> str:
        """The negotiated position encoding."""
        return str(self.result.capabilities.position_encoding)

    @property
    def pulls_diagnostics(self) -> bool:
        """Return whether the editor pulls diagnostics."""
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
        """Open a file, by default with its text on disk."""
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
        return await asyncio.wait_for(request, _TIMEOUT_SECONDS)

    async def wait_for_published(self, uri: Uri, version: int | None) -> list[types.Diagnostic]:
        """Wait for the published diagnostics of a version of a file."""
        params = await asyncio.wait_for(self._published.wait_for(uri, version), _TIMEOUT_SECONDS)
        return list(params.diagnostics)

    async def close_files(self) -> None:
        """Close all files, and assert that the server logged and reported no errors."""
        for file in list(self.files.values()):
            file.close()
        unopened = types.TextDocumentIdentifier("untitled:nowhere")
        params = types.HoverParams(unopened, types.Position(0, 0))
        assert await self.reply(self.client.text_document_hover_async(params)) is None
        self._published.params.clear()
        assert self.client.error is None
        assert self.client.messages == []
        assert self._log.read_text("utf-8") == ""

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds."""

        async def wait() -> None:
            while not condition():
                await asyncio.sleep(0.01)

        await asyncio.wait_for(wait(), _TIMEOUT_SECONDS)

    def text_of(self, uri: Uri) -> Text:
        """Return the text of the open document, otherwise of the file on disk."""
        file = self.files.get(uri)
        if file is not None:
            return file.text
        path = to_fs_path(uri)
        assert path is not None
        return Text(Path(path).read_bytes().decode(), self.encoding)


class OpenFile:
    """An open file. Edits change its text and notify the server."""

    def __init__(self, editor: Editor, uri: Uri, text: str, version: int) -> None:
        self.editor = editor
        self.uri = uri
        self.version = version
        self.text = Text(text, editor.encoding)

    @property
    def document(self) -> types.TextDocumentIdentifier:
        """The identifier of the file in requests."""
        return types.TextDocumentIdentifier(self.uri)

    def edit(self, *edits: tuple[tuple[int, int], tuple[int, int], str]) -> None:
        """Apply edits one after the other, from and to a line and a column in code points."""
        changes: list[types.TextDocumentContentChangeEvent] = []
        for start, end, new in edits:
            span = types.Range(self.text.position(*start), self.text.position(*end))
            changes.append(types.TextDocumentContentChangePartial(span, new))
            self.text = self.text.with_edit(start, end, new)
        self._send(changes)

    def substitute(self, old: str, new: str) -> None:
        """Replace the first occurrence of a text within a line."""
        line, column = self.text.find(old)
        self.edit(((line, column), (line, column + len(old)), new))

    def close(self) -> None:
        """Close the file."""
        del self.editor.files[self.uri]
        self.editor.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document))

    async def diagnostics(self) -> list[types.Diagnostic]:
        """Return the diagnostics of the current text, published or pulled."""
        if not self.editor.pulls_diagnostics:
            return await self.editor.wait_for_published(self.uri, self.version)
        report = await self.editor.reply(
            self.editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(self.document)
            )
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)

    async def codes(self) -> list[str]:
        """Return the codes of the errors and warnings, in order."""
        return [str(found.code) for found in await self.diagnostics() if _is_problem(found)]

    def _send(self, changes: list[types.TextDocumentContentChangeEvent]) -> None:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.editor.client.text_document_did_change(
            types.DidChangeTextDocumentParams(document, changes)
        )


def _is_problem(diagnostic: types.Diagnostic) -> bool:
    problems = (types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning)
    return diagnostic.severity in problems


class PublishedDiagnostics:
    """The ``publishDiagnostics`` notifications of a server, in order."""

    def __init__(self) -> None:
        self.params: list[types.PublishDiagnosticsParams] = []
        self._condition = asyncio.Condition()

    async def add(self, params: types.PublishDiagnosticsParams) -> None:
        async with self._condition:
            self.params.append(params)
            self._condition.notify_all()

    async def wait_for(self, uri: Uri, version: int | None) -> types.PublishDiagnosticsParams:
        """Wait for diagnostics of a version of a file, and return the last ones."""
        async with self._condition:
            while True:
                for params in reversed(self.params):
                    if (params.uri, params.version) == (uri, version):
                        return params
                await self._condition.wait()


def _converter() -> Converter:
    """Return pygls's converter, corrected for code actions with a command."""
    converter: Converter = default_converter()

    def structure(action: Any, _: type) -> types.Command | types.CodeAction:
        kind: type = types.Command if isinstance(action.get("command"), str) else types.CodeAction
        structured: types.Command | types.CodeAction = converter.structure(action, kind)
        return structured

    either = Union[types.Command, types.CodeAction]  # noqa: UP007 - the form in lsprotocol
    converter.register_structure_hook(either, structure)
    return converter


@asynccontextmanager
async def editor(
    capabilities: str | types.ClientCapabilities,
    log: Path,
    options: object = None,
    folder: Path | None = None,
) -> AsyncIterator[Editor]:
    """Start an editor with its own server, and shut both down at the end.

    Any entry in the log of the server, such as an exception, fails the test.

    Args:
        capabilities: The client capabilities, or the name of a profile of pytest-lsp.
        log: The path of the log file of the server.
        options: The initialization options.
        folder: The open workspace folder, if any.
    """
    if isinstance(capabilities, str):
        capabilities = client_capabilities(capabilities)
    published = PublishedDiagnostics()

    partial_results: dict[types.ProgressToken, list[Any]] = {}

    def progress(client: LanguageClient, params: types.ProgressParams) -> None:
        if params.value and "kind" in params.value:
            DEFAULT_CLIENT_FEATURES[types.PROGRESS](client, params)
        else:
            partial_results.setdefault(params.token, []).append(params.value)

    def make_client() -> LanguageClient:
        client = LanguageClient(converter_factory=_converter)

        async def publish(params: types.PublishDiagnosticsParams) -> None:
            await published.add(params)

        handlers: dict[str, Any] = dict(DEFAULT_CLIENT_FEATURES)
        handlers[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = publish
        handlers[types.PROGRESS] = progress
        register_lsp_features(client, handlers)
        return client

    command = [*COMMAND, "--log-file", str(log)]
    client = await ClientServerConfig(command, client_factory=make_client).start()
    assert isinstance(client, LanguageClient)
    started = Editor(client, published, log)
    started.partial_results = partial_results
    try:
        params = types.InitializeParams(
            capabilities,
            initialization_options=options,
            root_uri=None if folder is None else folder.as_uri(),
        )
        started.result = await started.reply(client.initialize_session(params))
        yield started
        await started.close_files()
        await started.reply(client.shutdown_session())
    except BaseException:
        started.kill()  # Otherwise, stopping the client waits for the server.
        raise
    finally:
        await client.stop()
