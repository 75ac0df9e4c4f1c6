"""Semantic tokens in the encoding of the protocol: five numbers per token, relative to the last."""

from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.tokens.line_tokens import SemanticToken, TokenModifier, TokenType
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.shown_views import ShownView
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text.document import Encoding, changed_parts

_NUMBERS_PER_TOKEN = 5
_NUMBERS_PER_CHUNK = _NUMBERS_PER_TOKEN * 1024
_MAX_DOCUMENTS = 8  # as many as an editor shows side by side


class TokenEncoder:
    """Encodes the tokens of a text from top to bottom."""

    def __init__(self, encoding: Encoding) -> None:
        self.data = array("I")
        self._units = encoding.units
        self._last = 0, 0  # line and column of the last token

    def add(self, file: DumpFile, tokens: Iterable[SemanticToken]) -> None:
        """Add tokens that follow all tokens added before."""
        last_line, last_start = self._last
        begin, lines = file.first_line, file.lines
        known, text, plain = -1, "", True
        column = units = 0  # progress in a line with non-ASCII text, which is slow to count
        numbers: list[int] = []
        for row, first, end, kind, modifiers in tokens:
            if row != known:
                known, text = row, lines[row]
                plain = text.isascii()
                column = units = 0
            start, length = first, end - first
            if not plain:
                units += self._units(text[column:first], first - column)
                column, start = first, units
                length = self._units(text[first:end], length)
            line = begin + row
            if line != last_line:
                numbers += line - last_line, start, length, kind, modifiers
            else:
                numbers += 0, start - last_start, length, kind, modifiers
            last_line, last_start = line, start
        self.data.extend(numbers)
        self._last = last_line, last_start


def difference(old: "array[int]", new: "array[int]") -> list[Json]:
    """Return the edits from old tokens to new ones: none, or one."""
    if old == new:
        return []
    sizes = _NUMBERS_PER_CHUNK, _NUMBERS_PER_TOKEN
    start, old_end, new_end = changed_parts(old, new, *sizes)
    data = new[start:new_end].tolist()
    return [{"start": start, "deleteCount": old_end - start, "data": data}]


MAX_FULL_ANSWER_CHARACTERS = 2_000_000  # of a text with a full answer: 0.5 s of work


def _camel_case(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(map(str.capitalize, others))


LEGEND = types.SemanticTokensLegend(
    [_camel_case(each.name) for each in TokenType],
    [_camel_case(each.name) for each in TokenModifier if each.name and each],
)


class SemanticTokens(Service):
    """The semantic tokens of all documents, with the results that deltas refer to.

    For a text above ``MAX_FULL_ANSWER_CHARACTERS`` the full request has no result, so that Visual
    Studio Code continues to request visible ranges; an empty result would count as complete.
    """

    def __init__(self, session: Session, view: ShownView) -> None:
        self._session = session
        self._view = view
        self._results: dict[str, tuple[str, array[int]]] = {}  # the last by URI, with its id
        self._ids = count(1)

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {
            types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: self.full,
            types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: self.delta,
            types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: self.range,
        }

    async def full(
        self, params: types.SemanticTokensParams | types.SemanticTokensDeltaParams
    ) -> Json | None:
        """Return all tokens, or None for a text that is too large or not a dump."""
        document = params.text_document
        file = self._session.workspace.open_files.get(document.uri)
        if file is None or _is_large(file):
            return None
        encoder = await self._encoded(document)
        return None if encoder is None else self._whole(document.uri, encoder)

    async def delta(self, params: types.SemanticTokensDeltaParams) -> Json | None:
        """Return the changes since a result id, or all tokens if the id is unknown."""
        document, result_id = params.text_document, params.previous_result_id
        if self._result(document.uri, result_id) is None:
            return await self.full(params)
        encoder = await self._encoded(document)
        if encoder is None:
            return None
        old = self._result(document.uri, result_id)
        if old is None:  # another request has replaced it meanwhile
            return self._whole(document.uri, encoder)
        edits = difference(old, encoder.data)
        return {"resultId": self._store(document.uri, encoder.data), "edits": edits}

    async def range(self, params: types.SemanticTokensRangeParams) -> Json | None:
        """Return the tokens of all lines in a range."""
        first, last = params.range.start.line, params.range.end.line
        encoder = await self._encoded(params.text_document, first, last + 1)
        return None if encoder is None else {"data": encoder.data.tolist()}

    def closed(self, file: DumpFile) -> None:
        """Discard the result of a closed file."""
        self._results.pop(file.uri, None)

    def _whole(self, uri: str, encoder: TokenEncoder) -> Json:
        return {"resultId": self._store(uri, encoder.data), "data": encoder.data.tolist()}

    def _store(self, uri: str, data: "array[int]") -> str:
        result_id = str(next(self._ids))
        self._results.pop(uri, None)
        self._results[uri] = result_id, data
        if len(self._results) > _MAX_DOCUMENTS:
            del self._results[next(iter(self._results))]
        return result_id

    def _result(self, uri: str, result_id: str) -> "array[int] | None":
        known = self._results.get(uri)
        return known[1] if known is not None and known[0] == result_id else None

    async def _encoded(
        self, document: types.TextDocumentIdentifier, first: int = 0, end: int | None = None
    ) -> TokenEncoder | None:
        def reply(contexts: list[RequestContext]) -> TokenEncoder | None:
            return _encode(contexts, first, end) if contexts else None

        ask = partial(self._session.answer_text, document, reply)
        return await self._view.answer(document.uri, (first, end), ask, digest=_digest)


def _digest(encoder: TokenEncoder | None) -> int:
    return hash(b"" if encoder is None else encoder.data.tobytes())


def _encode(contexts: Sequence[RequestContext], first: int, end: int | None) -> TokenEncoder:
    encoder = TokenEncoder(contexts[0].client.encoding)
    for context in contexts:
        file = context.file
        start = max(first - file.first_line, 0)
        stop = None if end is None else end - file.first_line
        for found in semantic_tokens(context.dump, file, start, stop):
            encoder.add(file, found)
            checkpoint()
    return encoder


def _is_large(file: DumpFile) -> bool:
    size = 0
    for line in file.lines:
        size += len(line)
        if size > MAX_FULL_ANSWER_CHARACTERS:
            return True
    return False
