"""Pages of Markdown in the form that a client shows: as they are, or as text with links."""

from collections.abc import Sequence
from typing import Any

from hlo_lsp.lsp.client import Client, Json
from hlo_lsp.lsp.progress import RequestFailedError

_COLUMNS = range(1, 10_001)


def page_in_form(client: Client, markdown: str, form: Sequence[Any]) -> str | Json:
    """Return a page in the form that the last arguments of a command state.

    Args:
        client: The client, which counts the characters of a line in its encoding.
        markdown: The page.
        form: Nothing for Markdown, the number of columns for text, and true after it for text with
            links as JSON.

    Raises:
        RequestFailedError: The number of columns is none.
    """
    if not form:
        return markdown
    page = text_page_json(client, markdown, form[0])
    return page if form[1:] == (True,) else str(page["text"])


def text_page_json(client: Client, markdown: str, columns: object) -> Json:
    """Return a page as text with the links in it, which are as those of a document.

    Raises:
        RequestFailedError: The number of columns is none.
    """
    if type(columns) is not int or columns not in _COLUMNS:
        raise RequestFailedError("the width of a page is a number of columns")
    # A late import: it takes 20 ms, and the extension for VS Code does not bundle the parser.
    from hlo_lsp.display.text_page import text_page  # noqa: PLC0415

    page = text_page(markdown, columns)
    links = []
    for link in page.links:
        start, end = (
            {"line": link.line, "character": client.encoding.units(page.lines[link.line], column)}
            for column in (link.start, link.end)
        )
        links.append({"range": {"start": start, "end": end}, "target": link.uri})
    return {"text": page.text, "links": links}
