"""textDocument/inlayHint and inlayHint/resolve."""

import asyncio
from collections.abc import Awaitable, Callable

from lsprotocol import types

from hlo_lsp.ide.inlay_hints import Hint, HintKind, hints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text.checkpoint import checkpoint

INLAY_HINT_OPTIONS = types.InlayHintOptions(resolve_provider=True)
_DEBOUNCE_SECONDS = 0.5  # without a change, before clients refresh
_KINDS = {
    HintKind.PADDED_SIZE: types.InlayHintKind.Type,
    HintKind.OPERAND_SHAPE: types.InlayHintKind.Type,
    HintKind.PARAMETER_NAME: types.InlayHintKind.Parameter,
}


class InlayHints:
    """The inlay hints of all documents, of the kinds that the settings enable."""

    def __init__(self, session: Session, refresh: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._refresh = refresh
        self._pending: asyncio.Task[None] | None = None

    async def hints(self, params: types.InlayHintParams) -> list[Json] | None:
        """Return the hints on the lines of a range, or None if the text is not a dump."""
        first, last = params.range.start.line, params.range.end.line

        async def reply(context: RequestContext) -> list[Json]:
            kinds = self._kinds(context.file)
            return await run_on_compile(
                context.dump, lambda: _hints(context, first, last + 1, kinds)
            )

        found = await self._session.answer_each(params.text_document, reply)
        return [hint for part in found for hint in part] if found else None

    async def resolve(self, hint: types.InlayHint) -> types.InlayHint:
        """Add the tooltip to a hint, unless its record no longer exists."""
        context = await self._session.context_of_data(hint.data)
        data = hint.data if isinstance(hint.data, dict) else {}
        line = data.get("line")
        if context is None or not isinstance(line, int):
            return hint
        line -= context.file.first_line
        kinds = frozenset(kind for kind in HintKind if kind.value == data.get("kind"))
        for part in hints(context.dump, context.file, line, line + 1, kinds):
            for found in part:
                if found.column == data.get("column") and found.label == hint.label:
                    hint.tooltip = found.tooltip
                    return hint
        return hint

    def closed(self, file: DumpFile) -> None:
        """Refresh the hints of other files after a file was closed."""
        self.changed(file)

    def changed(self, file: DumpFile) -> None:
        """Refresh the hints of open companion files after a file changed."""
        if any(other is not file for other in self._session.open_companions(file)):
            self.schedule_refresh()

    def schedule_refresh(self) -> None:
        """Request a refresh after a pause: settings or another file have changed."""
        if self._session.client.can_refresh_hints:
            if self._pending is not None:
                self._pending.cancel()
            self._pending = asyncio.ensure_future(self._refresh_after_delay())

    async def _refresh_after_delay(self) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        await self._refresh()

    def _kinds(self, file: DumpFile) -> frozenset[HintKind]:
        """Return the enabled kinds; parameter names are deferred until all mentions are indexed."""
        enabled = self._session.settings.hints
        mention_task = self._session.mention_task(file)
        if mention_task is None or HintKind.PARAMETER_NAME not in enabled:
            return enabled
        mention_task.add_done_callback(lambda _: self.schedule_refresh())
        return enabled - {HintKind.PARAMETER_NAME}


def _hints(context: RequestContext, first: int, end: int, kinds: frozenset[HintKind]) -> list[Json]:
    """Return the hints of a file in a range of lines of its text."""
    file = context.file
    start = max(first - file.first_line, 0)
    stop = max(end - file.first_line, 0)
    found: list[Json] = []
    for part in hints(context.dump, file, start, stop, kinds):
        found += [_json(context, hint) for hint in part]
        checkpoint()
    return found


def _json(context: RequestContext, hint: Hint) -> Json:
    file = context.file
    line = file.first_line + hint.line
    units = context.converter.encoding.units(file.lines[hint.line], hint.column)
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
