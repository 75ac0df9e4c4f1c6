"""textDocument/codeLens and codeLens/resolve."""

from functools import partial

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.compiling.program import is_compilable
from hlo_lsp.ide.code_lenses import (
    MAX_LISTED_PLACES,
    LensChoice,
    LensData,
    lens_places,
    lens_title,
    lenses,
)
from hlo_lsp.ide.hover.summaries import memory_summary
from hlo_lsp.lsp.client import (
    COMPILE_COMMAND,
    SHOW_COMPILED_COMMAND,
    SHOW_PLACES_COMMAND,
    SHOW_SUMMARY_COMMAND,
    SHOW_TIME_COMMAND,
    Client,
    Json,
)
from hlo_lsp.lsp.commands import SUMMARY_COMMAND, answer_whole_compile
from hlo_lsp.lsp.compile_results import text_id
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.text.inert import printable


def code_lenses(context: RequestContext) -> list[Json]:
    """Return a lens for each allocation, large value, peak, total, and large computation.

    The text is added by ``codeLens/resolve``, or here for a client that would resolve all lenses.
    The text of the summary is always added later, because it takes a second in a large compile.
    """
    found: list[Json] = _compile_lenses(context)
    is_eager = context.client.has_eager_lenses
    choice = context.session.settings.code_lens
    for row, data in lenses(context.dump, context.file, choice, context.times):
        checkpoint()
        data |= {"uri": context.file.uri, "line": context.file.first_line + row}
        lens: Json = {"range": context.client.lines_range(context.file, row, 1), "data": data}
        if is_eager and "summary" not in data:
            lens["command"] = _command(context, data["line"], data, has_places=False)
        found.append(lens)
    return found


def _compile_lenses(context: RequestContext) -> list[Json]:
    """Return the lens that compiles a program, and that of its last compile."""
    client, file = context.client, context.file
    is_off = context.session.settings.code_lens is LensChoice.OFF
    is_whole = context.session.workspace.opened(file.uri) is file
    if is_off or not client.can_compile or not is_whole or not is_compilable(file):
        return []
    commands: list[Json] = [
        {"title": "compile", "command": COMPILE_COMMAND, "arguments": [file.uri]}
    ]
    last = context.session.compile_results.last(file.uri)
    if last is not None:
        is_old = last.text_id != text_id(file.lines)
        title = f"compiled{' before the last edit' if is_old else ''}: {last.change}"
        commands.append(
            {
                "title": title,
                "command": SHOW_COMPILED_COMMAND,
                "arguments": [*last.sides, last.name],
            }
        )
    place = client.lines_range(file, 0, 1)
    return [{"range": place, "command": command} for command in commands]


async def resolve(session: Session, lens: types.CodeLens) -> types.CodeLens | None:
    """Add the text and the command to a lens, or the text that its record no longer exists.

    None for a lens of a text without dumps.
    """
    data = lens.data if isinstance(lens.data, dict) else {}
    if "summary" in data:
        uri, line = str(data.get("uri")), lens.range.start.line
        titles = await answer_whole_compile(
            session, uri, line, lambda one: memory_summary(one.dump)
        )
        commands = [summary_command(session.client, title, uri, line) for title in titles]
    else:
        reply = partial(_command, line=lens.range.start.line, data=data, has_places=True)
        found = await session.answer_item(data, reply)
        commands = [types.Command(**command) for command in found]
    return types.CodeLens(lens.range, commands[0], lens.data) if commands else None


def _command(context: RequestContext, line: int, data: LensData, *, has_places: bool) -> Json:
    """Return the command of a lens.

    The places of all lenses of a file would be too many: without them, the client resolves the lens
    on a click.
    """
    times = context.times
    if times is None and "run" in data:
        # A file was added to the compile since the times were shown.
        times = context.session.times.compute(context.dump)
    title = lens_title(context.dump, context.file, data, times)
    command: Json = {"title": printable(title), "command": ""}
    if "run" in data and context.client.can_show_time:
        command |= {"command": SHOW_TIME_COMMAND, "arguments": [context.file.uri, line]}
    elif context.client.can_show_places:
        places = lens_places(context.dump, context.file, data, times) if has_places else []
        if len(places) == MAX_LISTED_PLACES:
            command["tooltip"] = f"the largest {MAX_LISTED_PLACES:,}"
        if places or not has_places:
            shown = context.client.locations(places) if has_places else data
            start = {"line": line, "character": 0}
            arguments = [context.file.uri, start, shown]
            command |= {"command": SHOW_PLACES_COMMAND, "arguments": arguments}
    return command


def summary_command(client: Client, title: str, uri: str, line: int) -> types.Command:
    """Return the command that opens the summary; other clients receive it as text."""
    command = SHOW_SUMMARY_COMMAND if client.can_show_summary else SUMMARY_COMMAND
    return types.Command(printable(title), command, arguments=[uri, line])
