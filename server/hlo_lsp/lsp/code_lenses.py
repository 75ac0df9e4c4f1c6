"""textDocument/codeLens and codeLens/resolve."""

from functools import partial

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.code_lenses import (
    MAX_LISTED_PLACES,
    lens_places,
    lens_title,
    lenses,
    prepare_lens,
)
from hlo_lsp.ide.hover.origin_text import prepare_hovers
from hlo_lsp.ide.hover.summaries import memory_summary
from hlo_lsp.lsp.client import SHOW_PLACES_COMMAND, SHOW_SUMMARY_COMMAND, Client, Json
from hlo_lsp.lsp.commands import SUMMARY_COMMAND, whole_compile_context
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext


async def code_lenses(context: RequestContext) -> list[Json]:
    """Return a lens for each allocation, large value, peak, total, and large computation.

    The text is added by ``codeLens/resolve``, or here for a client that would resolve all lenses.
    The text of the summary is always added later, because it takes a second in a large compile.
    """
    return await run_on_compile(context.dump, lambda: _lenses(context))


async def resolve(context: RequestContext, lens: types.CodeLens) -> types.CodeLens:
    """Add the text and the command to a lens, or the text that its record no longer exists."""
    data = lens.data if isinstance(lens.data, dict) else {}
    if "summary" in data:
        uri, line = context.file.uri, lens.range.start.line
        whole = await whole_compile_context(context.session, uri, line)
        title = await run_on_compile(whole.dump, partial(memory_summary, whole.dump))
        opening = summary_command(context.client, title, uri, line)
        return types.CodeLens(lens.range, opening, lens.data)
    await run_on_compile(context.dump, partial(prepare_lens, context.dump, data))
    command = types.Command(lens_title(context.dump, context.file, data), "")
    places = []
    if context.client.can_show_places:
        places = lens_places(context.dump, context.file, data)
    if places:
        command.command = SHOW_PLACES_COMMAND
        command.arguments = [
            context.file.uri,
            _start(lens.range.start.line),
            context.client.locations(places),
        ]
        if len(places) == MAX_LISTED_PLACES:
            command.tooltip = f"the largest {MAX_LISTED_PLACES:,}"
    return types.CodeLens(lens.range, command, lens.data)


def _lenses(context: RequestContext) -> list[Json]:
    found: list[Json] = []
    is_eager = context.client.has_eager_lenses
    if is_eager:
        prepare_hovers(context.dump)
    choice = context.session.settings.code_lens
    for row, data in lenses(context.dump, context.file, choice):
        checkpoint()
        data |= {"uri": context.file.uri, "line": context.file.first_line + row}
        lens: Json = {"range": context.client.lines_range(context.file, row, 1), "data": data}
        if is_eager and "summary" not in data:
            prepare_lens(context.dump, data)
            command: Json = {"title": lens_title(context.dump, context.file, data), "command": ""}
            if context.client.can_show_places:
                # The places of all lenses would be too many: on a click, the client resolves them.
                command["command"] = SHOW_PLACES_COMMAND
                command["arguments"] = [context.file.uri, _start(data["line"]), data]
            lens["command"] = command
        found.append(lens)
    return found


def summary_command(client: Client, title: str, uri: str, line: int) -> types.Command:
    """Return the command that opens the summary; other clients receive it as text."""
    command = SHOW_SUMMARY_COMMAND if client.can_show_summary else SUMMARY_COMMAND
    return types.Command(title, command, arguments=[uri, line])


def _start(line: int) -> Json:
    return {"line": line, "character": 0}
