"""textDocument/inlayHint and inlayHint/resolve, and when clients should ask again."""

import asyncio
from collections.abc import Awaitable, Callable

from lsprotocol import types

from hlo_lsp.ide.hints.hint import Hint, HintKind
from hlo_lsp.ide.hints.hints import hints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.scheduling import steadily
from hlo_lsp.lsp.session import Asked, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text.checkpoint import checkpoint

OPTIONS = types.InlayHintOptions(resolve_provider=True)
_PAUSE = 0.5  # seconds without a change before clients are told to ask again
_KINDS = {
    HintKind.PADDED_SIZE: types.InlayHintKind.Type,
    HintKind.OPERAND_SHAPE: types.InlayHintKind.Type,
    HintKind.PARAMETER_NAME: types.InlayHintKind.Parameter,
}


class InlayHints:
    """Answers for all documents with the kinds of hints that the user wants."""

    def __init__(self, session: Session, refresh: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._refresh = refresh
        self._waiting: asyncio.Task[None] | None = None

    async def hints(self, params: types.InlayHintParams) -> list[Json] | None:
        """The hints on the lines that a range touches; None where no dump is."""
        first, last = params.range.start.line, params.range.end.line

        async def reply(asked: Asked) -> list[Json]:
            kinds = self._kinds(asked.file)
            return await steadily(asked.dump, lambda: _hints(asked, first, last + 1, kinds))

        found = await self._session.joined(params.text_document, reply)
        return [hint for part in found for hint in part] if found else None

    async def resolve(self, hint: types.InlayHint) -> types.InlayHint:
        """Give a hint its tooltip. What it was about may be gone by now: then it has none."""
        asked = await self._session.ask_again(hint.data)
        data = hint.data if isinstance(hint.data, dict) else {}
        line = data.get("line")
        if asked is None or not isinstance(line, int):
            return hint
        line -= asked.file.first_line
        kinds = frozenset(kind for kind in HintKind if kind.value == data.get("kind"))
        for part in hints(asked.dump, asked.file, line, line + 1, kinds):
            for found in part:
                if found.column == data.get("column") and found.label == hint.label:
                    hint.tooltip = found.explain()
                    return hint
        return hint

    def closed(self, file: DumpFile) -> None:
        """A file was closed: it counts as it is on disk now."""
        self.changed(file)

    def changed(self, file: DumpFile) -> None:
        """A file was opened, edited or closed: what others of its compile say may have changed."""
        if any(other is not file for other in self._session.open_siblings(file)):
            self.ask_for_more()

    def ask_for_more(self) -> None:
        """Tell the client to ask again soon: settings or another file have changed."""
        if self._session.client.refreshes_hints:
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = asyncio.ensure_future(self._after_a_pause())

    async def _after_a_pause(self) -> None:
        await asyncio.sleep(_PAUSE)
        await self._refresh()

    def _kinds(self, file: DumpFile) -> frozenset[HintKind]:
        """What the user wants; who calls whom is quick to find only when names are learnt."""
        wanted = self._session.settings.hints
        learning = self._session.learning(file)
        if learning is None or HintKind.PARAMETER_NAME not in wanted:
            return wanted
        learning.add_done_callback(lambda _: self.ask_for_more())
        return wanted - {HintKind.PARAMETER_NAME}


def _hints(asked: Asked, first: int, end: int, kinds: frozenset[HintKind]) -> list[Json]:
    """The hints of a file on these lines of the text that it is in."""
    file = asked.file
    start = max(first - file.first_line, 0)
    stop = max(end - file.first_line, 0)
    found: list[Json] = []
    for part in hints(asked.dump, file, start, stop, kinds):
        found += [_json(asked, hint) for hint in part]
        checkpoint()
    return found


def _json(asked: Asked, hint: Hint) -> Json:
    file = asked.file
    line = file.first_line + hint.line
    units = asked.convert.encoding.units(file.lines[hint.line], hint.column)
    data = {
        "uri": file.uri, "line": line, "column": hint.column, "kind": hint.kind.value,
    }  # fmt: skip
    json: Json = {
        "position": {"line": line, "character": units},
        "label": hint.label,
        "paddingLeft": not hint.is_before,
        "paddingRight": hint.is_before,
        "data": data,
    }
    kind = _KINDS.get(hint.kind)
    if kind is not None:
        json["kind"] = kind.value
    return json
