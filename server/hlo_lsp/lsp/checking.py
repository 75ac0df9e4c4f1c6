"""What an editor shows of a file while it is looked at again."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.run import CheckProgress, check_by_pace, in_order
from hlo_lsp.lsp.diagnostic import diagnostic
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.scheduling import give_back, steadily
from hlo_lsp.lsp.session import Asked
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import State
from hlo_lsp.text.checkpoint import checkpoint


@dataclass(slots=True)
class Shown:
    """The diagnostics of the last look that came to its end, and those that were sent last.

    ``lines`` is the text that the look was at: of the lines with diagnostics, by number.
    """

    whole: list[Json] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    count: int = 0
    sent: list[Json] = field(default_factory=list)

    def complete(self, found: list[Json], lines: list[str]) -> None:
        """A look has come to its end."""
        self.whole = found
        self.count = len(lines)
        rows = {_line(one) for one in found}
        self.lines = {row: lines[row] for row in rows if row < len(lines)}

    def left(self, pending: frozenset[str] | None, lines: list[str]) -> Iterator[Json]:
        """Those of the last look that may still be true, where they are now.

        They are of codes that are still ``pending`` (None: all are), and their line is as it was,
        as far from the beginning or from the end of the text as before: an edit in one place moves
        them with it.
        """
        for one in self.whole:
            if pending is not None and one["code"] not in pending:
                continue
            row = _line(one)
            for moved in (row, row + len(lines) - self.count):
                if 0 <= moved < len(lines) and lines[moved] == self.lines.get(row):
                    yield _on_line(one, moved)
                    break


def _line(diagnostic: Json) -> int:
    line: int = diagnostic["range"]["start"]["line"]
    return line


def _on_line(diagnostic: Json, line: int) -> Json:
    span = diagnostic["range"]
    return {**diagnostic, "range": {end: {**span[end], "line": line} for end in ("start", "end")}}


Tell = Callable[[list[Finding], frozenset[str]], None]


class _Key(tuple[object, ...]):
    """What findings are remembered under: nothing else has keys of this type."""

    __slots__ = ()


async def findings(asked: Asked, tell: Tell | None = None) -> list[Finding]:
    """What is wrong in a file, in the order of its lines, as its text is at the end of the work.

    Meanwhile ``tell`` is told between two slices of the work what was found so far, and which
    codes are still to come. If the text changes it begins anew.
    """
    while True:
        known = known_findings(asked)
        if known is not None:
            return known
        with _joined(asked, tell or _deaf) as work:
            # The text may change between the end of the work and here.
            await asyncio.shield(work)


async def findings_until(asked: Asked, is_enough: Callable[[list[Finding]], bool]) -> list[Finding]:
    """The first that are found and are enough; all of them, if no fewer are.

    Whoever asks about one place of a large text need not wait for what is found in all others.
    """
    while True:
        found = known_findings(asked)
        if found is None:
            found = await _first_found(asked, is_enough)
        if found is not None:
            return found


async def _first_found(
    asked: Asked, is_enough: Callable[[list[Finding]], bool]
) -> list[Finding] | None:
    """Those that are enough, or all; None if they are of a text that has changed by now."""
    early: asyncio.Future[list[Finding]] = asyncio.get_running_loop().create_future()
    state: list[State] = []

    def tell(found: list[Finding], _: frozenset[str]) -> None:
        if not early.done() and is_enough(found):
            state.append(_state(asked))
            early.set_result(in_order(found))

    with _joined(asked, tell) as work:
        await asyncio.wait((work, early), return_when=asyncio.FIRST_COMPLETED)
    if not early.done():
        work.result()
        return known_findings(asked)
    return early.result() if state == [_state(asked)] and _is_fresh(asked) else None


def known_findings(asked: Asked) -> list[Finding] | None:
    """What is wrong in a file, if that was found out already; its text is as it was then."""
    known: list[Finding] | None = asked.dump.remembered(_key(asked), _state(asked))
    return known if _is_fresh(asked) else None


async def findings_of_all(parts: Sequence[Asked]) -> list[Finding]:
    """What is wrong in the files of a text, all of them as they are at the end of the work."""
    while True:
        files = [file for asked in parts for file in asked.dump.files]
        before = [file.version for file in files]
        found = [one for asked in parts for one in await findings(asked)]
        if [file.version for file in files] == before and all(file.is_fresh for file in files):
            return found


def state_of(asked: Asked, selection: int) -> str:
    """A text that stays the same as long as the findings in a file do.

    ``selection`` is a number that only this selection of rules has.
    """
    files = [*asked.dump.files, *asked.dump.others]
    versions = ".".join(str(file.version) for file in files)
    return f"{asked.dump.number}-{versions}@{asked.file.first_line}/{selection}"


def _joined(asked: Asked, tell: Tell) -> "AbstractContextManager[asyncio.Task[list[Finding]]]":
    return asked.checks.joined((asked.dump, _key(asked)), partial(_looked, asked), tell)


async def _looked(asked: Asked, tell: Tell) -> list[Finding]:
    latest: deque[CheckProgress] = deque(maxlen=1)

    async def rest() -> None:
        if latest:
            progress = latest.pop()
            tell(progress.findings, progress.pending)
        await asked.rest()

    found = await steadily(asked.dump, lambda: _check(asked, latest), rest)
    asked.dump.remember(_key(asked), _state(asked), found)
    give_back()
    return found


def _check(asked: Asked, latest: deque[CheckProgress]) -> list[Finding]:
    chosen = asked.selection
    latest.clear()
    found: list[Finding] = []
    for progress in check_by_pace(asked.dump, asked.file, chosen.rules, chosen.thresholds):
        found = progress.findings
        if progress.pending:
            latest.append(progress)
        checkpoint()
    latest.clear()
    return in_order(found)


def _is_fresh(asked: Asked) -> bool:
    return all(file.is_fresh for file in asked.dump.files)


def _state(asked: Asked) -> State:
    return asked.dump.state([*asked.dump.files, *asked.dump.others])


def _key(asked: Asked) -> _Key:
    return _Key((asked.file, asked.selection))


def _deaf(found: list[Finding], pending: frozenset[str]) -> None:
    """Whoever waits for the end alone hears nothing of what is found before."""


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
