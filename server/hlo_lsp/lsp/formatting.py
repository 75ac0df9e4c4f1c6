"""textDocument/formatting and rangeFormatting: module text as XLA prints it."""

from lsprotocol import types

from hlo_lsp.ide.formatting.formatting import format_module
from hlo_lsp.lsp.positions import MAX_FULL_ANSWER_LINES, Json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext


async def format_document(context: RequestContext) -> list[Json]:
    """Return the edits that format a file. The widths and tabs of the client are ignored.

    Raises:
        RequestFailedError: the text is so long that the edits would block an editor.
    """
    if len(context.file.lines) > MAX_FULL_ANSWER_LINES:
        raise RequestFailedError(
            f"The text has more than {MAX_FULL_ANSWER_LINES:,} lines: format a selection."
        )
    return await _edits(context, 0, None)


async def format_range(context: RequestContext, span: types.Range) -> list[Json]:
    """Return the edits that format all lines of a range; an end at column 0 excludes its line.

    The range may begin before a section of the text, or after it.
    """
    begin = context.file.first_line
    first, end = span.start.line - begin, span.end.line - begin + (span.end.character > 0)
    end = max(end, first + 1)
    return [] if end <= 0 else await _edits(context, max(first, 0), end)


async def _edits(context: RequestContext, first: int, end: int | None) -> list[Json]:
    found = await run_on_compile(context.dump, lambda: format_module(context.file, first, end))
    return [
        {"range": {"start": _position(context, edit.start), "end": _position(context, edit.end)},
         "newText": edit.text}
        for edit in found
    ]  # fmt: skip


def _position(context: RequestContext, place: tuple[int, int]) -> Json:
    line, column = place
    units = context.converter.encoding.units(context.file.lines[line], column)
    return {"line": context.file.first_line + line, "character": units}
