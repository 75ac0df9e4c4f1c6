"""One look at a file for what is wrong: what can be shown of it before its end."""

import time
from collections.abc import Callable

from hlo_lsp.checks.finding import Finding
from hlo_lsp.features.diagnostic import diagnostic
from hlo_lsp.features.session import Asked
from hlo_lsp.features.shown import Shown
from hlo_lsp.features.wire import Json
from hlo_lsp.model.dump_file import DumpFile

_FEW = 200  # diagnostics; longer lists are only shown when they are complete


class Look:
    """Shows what was found so far, and beside it what the look before has found, where it may hold.

    So nothing comes and goes. ``on_news`` is called with a list when it is another than before, at
    most once in ``interval`` seconds.
    """

    def __init__(
        self, file: DumpFile, shown: Shown, on_news: Callable[[list[Json]], None], interval: float
    ) -> None:
        self._file = file
        self._shown = shown
        self._on_news = on_news
        self._interval = interval
        self._found: list[Finding] = []
        self._count = 0
        self._next = 0.0  # when the next list may be shown

    def tell(self, asked: Asked, found: list[Finding], pending: frozenset[str]) -> None:
        """These were found; what has the other codes is still to come."""
        # A text of several files has one list: it is shown when all of them are done.
        if asked.file is not self._file:
            return
        if found is not self._found:  # the text has changed, and it has begun anew
            self._found, self._count = found, 0
        if len(found) == self._count:
            return
        if max(len(found), len(self._shown.whole)) > _FEW or time.monotonic() < self._next:
            return
        self._count = len(found)
        listed = [diagnostic(asked.client, one) for one in found]
        said = set(map(_identity, listed))
        left = self._shown.left(pending, self._file.lines)
        listed += (one for one in left if _identity(one) not in said)
        listed.sort(key=_place)
        if listed != self._shown.sent:
            self._shown.sent = listed
            self._on_news(listed)
            self._next = time.monotonic() + self._interval


def _identity(diagnostic: Json) -> tuple[object, ...]:
    return diagnostic["code"], *_place(diagnostic), diagnostic["message"]


def _place(diagnostic: Json) -> tuple[int, int]:
    start = diagnostic["range"]["start"]
    return start["line"], start["character"]
