"""textDocument/formatting and rangeFormatting: module text as XLA prints it."""

from lsprotocol import types

from hlo_lsp.ide.formatting.formatting import formatted
from hlo_lsp.lsp.positions import LONG, Json
from hlo_lsp.lsp.request import RefusedError
from hlo_lsp.lsp.scheduling import steadily
from hlo_lsp.lsp.session import Asked


async def format_document(asked: Asked) -> list[Json]:
    """The edits of a whole file. The client's widths and tabs do not count: XLA has its own.

    Raises:
        RefusedError: the text is so long that an editor would stand still.
    """
    if len(asked.file.lines) > LONG:
        raise RefusedError(
            f"The text has more than {LONG:,} lines. Formatted are selections of it."
        )
    return await _edits(asked, 0, None)


async def format_range(asked: Asked, span: types.Range) -> list[Json]:
    """The edits of all lines that a range touches; one that ends in front of a line does not.

    The range may begin in front of a file that is a part of the text, or behind it.
    """
    begin = asked.file.first_line
    first, end = span.start.line - begin, span.end.line - begin + (span.end.character > 0)
    end = max(end, first + 1)
    return [] if end <= 0 else await _edits(asked, max(first, 0), end)


async def _edits(asked: Asked, first: int, end: int | None) -> list[Json]:
    found = await steadily(asked.dump, lambda: formatted(asked.file, first, end))
    return [
        {"range": {"start": _position(asked, edit.start), "end": _position(asked, edit.end)},
         "newText": edit.text}
        for edit in found
    ]  # fmt: skip


def _position(asked: Asked, place: tuple[int, int]) -> Json:
    line, column = place
    units = asked.convert.encoding.units(asked.file.lines[line], column)
    return {"line": asked.file.first_line + line, "character": units}
