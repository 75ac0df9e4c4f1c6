"""Pages of HTTP servers, whose links are the files and folders of a folder."""

import re
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import urljoin, urlsplit

from hlo_lsp.text.remote_errors import RemoteError

MAX_LINKS = 100_000  # of all pages below a URL; each file takes a request
_MAX_PAGE_BYTES = 64 << 20
_LARGE_PAGE = "a page of the server is too large; give the URL of one of the folders"
# The target of a link, or a URL in the text. No part can match again what another one has matched,
# because the server chooses the page.
_LINK = re.compile(
    r"""<a\s[^<>]*?(?<=\s)href=["']([^"'<>]+)|(https?://[-\w@:%+.~#?&/=]+)""",
    re.IGNORECASE | re.ASCII,
)


def urls_below(page: bytes, folder: str) -> Iterator[str]:
    """Yield the URLs below that of a folder on its page, those of folders with a slash at the end.

    Links that sort the list, such as ``?C=N;O=D``, and links to other places are left out.
    """
    folder = folder.rstrip("/") + "/"
    start = _without_scheme(folder)
    found: set[str] = set()
    for link in _LINK.finditer(page.decode("utf-8", "ignore")):
        url = urljoin(folder, (link[1] or link[2]).replace("&amp;", "&"))
        if url not in found and _without_scheme(url).startswith(start):
            parts = urlsplit(url)
            if not parts.query and not parts.fragment and url != folder:
                found.add(url)
                yield url


def _without_scheme(url: str) -> str:
    return url.partition(":")[2]


@lru_cache(maxsize=1)
def page_class() -> Any:
    """Return the class of answers that are read as a whole, which have a limit."""
    from aiohttp import ClientResponse  # noqa: PLC0415  # an optional package

    class Page(ClientResponse):
        """An answer, such as a page with links."""

        async def read(self) -> bytes:
            if self._body is None:
                body = BytesIO()
                async for part in self.content.iter_chunked(1 << 16):
                    body.write(part)
                    if body.tell() > _MAX_PAGE_BYTES:
                        raise RemoteError(_LARGE_PAGE)
                self._body = body.getvalue()
            return self._body

    return Page
