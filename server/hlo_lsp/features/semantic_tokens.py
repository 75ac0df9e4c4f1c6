"""textDocument/semanticTokens: full, delta and range, and when clients should ask again."""

import asyncio
from collections.abc import Awaitable, Callable

from lsprotocol import types

from hlo_lsp.analysis.colours.token import Modifier, TokenType
from hlo_lsp.analysis.colours.tokens import tokens
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked, Session
from hlo_lsp.features.token_data import Encoder, Results, difference
from hlo_lsp.features.wire import Json
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text.checkpoint import checkpoint

LARGEST = 2_000_000  # characters of a text of which all tokens are told: 0.5 s of work
_PAUSE = 0.5  # seconds without a change before clients are told to ask again


def _camel(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(map(str.capitalize, others))


LEGEND = types.SemanticTokensLegend(
    [_camel(each.name) for each in TokenType],
    [_camel(each.name) for each in Modifier if each.name and each],
)


class SemanticTokens:
    """Answers for all documents, and remembers what the next difference is counted from.

    A text above ``LARGEST`` has no answer for the whole of it, which makes Visual Studio Code go on
    to ask for what is on the screen; an empty one would count as complete.
    """

    def __init__(self, session: Session, refresh: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._refresh = refresh
        self._results = Results()
        self._waiting: asyncio.Task[None] | None = None

    async def full(self, document: types.TextDocumentIdentifier) -> Json | None:
        """All tokens, or None for a text that is no dump or too large."""
        file = self._session.library.open_files.get(document.uri)
        if file is None or _is_large(file):
            return None
        encoder = await self._encoded(document)
        return None if encoder is None else self._whole(document.uri, encoder)

    async def delta(self, document: types.TextDocumentIdentifier, result_id: str) -> Json | None:
        """What has changed since the result of this id, or all tokens if it is not known."""
        if self._results.of(document.uri, result_id) is None:
            return await self.full(document)
        encoder = await self._encoded(document)
        if encoder is None:
            return None
        old = self._results.of(document.uri, result_id)
        if old is None:  # another answer was given meanwhile
            return self._whole(document.uri, encoder)
        edits = difference(old, encoder.data)
        return {"resultId": self._results.remember(document.uri, encoder.data), "edits": edits}

    async def range(self, params: types.SemanticTokensRangeParams) -> Json | None:
        """The tokens of all lines that a range touches."""
        first, last = params.range.start.line, params.range.end.line
        encoder = await self._encoded(params.text_document, first, last + 1)
        return None if encoder is None else {"data": encoder.data.tolist()}

    def closed(self, file: DumpFile) -> None:
        """A file was closed: it counts as it is on disk now."""
        self._results.forget(file.uri)
        self.changed(file)

    def neighbours_changed(self) -> None:
        """What is faint in one file may depend on another that has changed."""
        if self._session.client.refreshes_tokens:
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = asyncio.ensure_future(self._ask_for_more())

    def changed(self, file: DumpFile) -> None:
        """A file was opened, edited or closed: the others of its compile may look different."""
        if any(other is not file for other in self._session.open_siblings(file)):
            self.neighbours_changed()

    async def _ask_for_more(self) -> None:
        await asyncio.sleep(_PAUSE)
        await self._refresh()

    def _whole(self, uri: str, encoder: Encoder) -> Json:
        result_id = self._results.remember(uri, encoder.data)
        return {"resultId": result_id, "data": encoder.data.tolist()}

    async def _encoded(
        self, document: types.TextDocumentIdentifier, first: int = 0, end: int | None = None
    ) -> Encoder | None:
        """The tokens of these lines of a text, of all files in it."""

        async def reply(asked: Asked) -> Encoder:
            await self._know_names(asked.file, waits=end is None)
            return await steadily(asked.dump, lambda: _encode(asked, first, end))

        found = await self._session.joined(document, reply)
        if not found:
            return None
        for encoder in found[1:]:
            found[0].append(encoder)
        return found[0]

    async def _know_names(self, file: DumpFile, *, waits: bool) -> None:
        """Without knowing who names whom nothing is unused: wait for it, or come back later."""
        learning = self._session.learning(file)
        if learning is None:
            return
        if waits:
            await asyncio.wait([learning])
        else:
            learning.add_done_callback(lambda _: self.neighbours_changed())


def _encode(asked: Asked, first: int, end: int | None) -> Encoder:
    """The tokens of a file on these lines of the text that it is in."""
    file = asked.file
    begin = file.first_line
    encoder = Encoder(asked.convert.encoding, begin)
    start = max(first - begin, 0)
    stop = None if end is None else end - begin
    for found in tokens(asked.dump, file, start, stop):
        encoder.add(file, found)
        checkpoint()
    return encoder


def _is_large(file: DumpFile) -> bool:
    size = 0
    for line in file.lines:
        size += len(line)
        if size > LARGEST:
            return True
    return False
