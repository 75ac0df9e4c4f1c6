"""textDocument/inlayHint and inlayHint/resolve."""

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.inlay_hints import Hint, HintKind, hints
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.text.inert import printable, printable_lines

INLAY_HINT_OPTIONS = types.InlayHintOptions(resolve_provider=True)
_KINDS = {
    HintKind.PADDED_SIZE: types.InlayHintKind.Type,
    HintKind.OPERAND_SHAPE: types.InlayHintKind.Type,
    HintKind.PARAMETER_NAME: types.InlayHintKind.Parameter,
}


async def inlay_hints(session: Session, params: types.InlayHintParams) -> list[Json] | None:
    """Return the hints on the lines of a range, or None if the text is not a dump."""
    first, last = params.range.start.line, params.range.end.line

    def reply(context: RequestContext) -> list[Json]:
        return _hints(context, first, last + 1, session.settings.hints)

    found = await session.answer_each(params.text_document, reply)
    return [hint for part in found for hint in part] if found else None


async def resolve(session: Session, hint: types.InlayHint) -> types.InlayHint:
    """Add the tooltip to a hint, unless its record no longer exists."""
    data = hint.data if isinstance(hint.data, dict) else {}
    line = data.get("line")
    if not isinstance(line, int):
        return hint
    kinds = frozenset(kind for kind in HintKind if kind.value == data.get("kind"))

    def tooltip(context: RequestContext) -> str | None:
        row = line - context.file.first_line
        times = context.times
        for part in hints(context.dump, context.file, row, row + 1, kinds, times=times):
            for found in part:
                if found.column == data.get("column") and printable(found.label) == hint.label:
                    return None if found.tooltip is None else printable_lines(found.tooltip)
        return None

    hint.tooltip = next(iter(await session.answer_item(data, tooltip)), None)
    return hint


def _hints(context: RequestContext, first: int, end: int, kinds: frozenset[HintKind]) -> list[Json]:
    file = context.file
    start = max(first - file.first_line, 0)
    stop = max(end - file.first_line, 0)
    found: list[Json] = []
    lenses = context.session.settings.code_lens
    times = context.times
    for part in hints(context.dump, file, start, stop, kinds, lenses=lenses, times=times):
        found += [_json(context, hint) for hint in part]
        checkpoint()
    return found


def _json(context: RequestContext, hint: Hint) -> Json:
    file = context.file
    position = context.client.position_json(file, (hint.line, hint.column))
    data = {
        "uri": file.uri,
        "line": position["line"],
        "column": hint.column,
        "kind": hint.kind.value,
    }
    json: Json = {
        "position": position,
        "label": printable(hint.label),
        "paddingLeft": not hint.is_before,
        "paddingRight": hint.is_before,
        "data": data,
    }
    kind = _KINDS.get(hint.kind)
    if kind is not None:
        json["kind"] = kind.value
    return json
