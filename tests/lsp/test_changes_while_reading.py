"""Tests that complete diagnostics follow whatever happens while a compile is read."""

import asyncio
import random
import time
from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp import diagnostics
from hlo_lsp.lsp import session as session_module
from hlo_lsp.lsp.client import Client, Json
from hlo_lsp.lsp.findings import check_text
from lsp.opened import split_dump
from lsp.test_diagnostics import (
    WRONG_MODULE,
    LoadingListener,
    PullHarness,
    PushHarness,
    open_module,
    read_until,
)

_ACTIONS = 12
_MAX_SECONDS = 20  # of checks after the last action; an endless loop takes longer


class Storm:
    """Random actions of a user, and random changes on disk."""

    def __init__(self, harness: PushHarness, folder: Path, numbers: random.Random) -> None:
        self._harness = harness
        self._numbers = numbers
        self._text = WRONG_MODULE
        self.version = 1
        self.uri = open_module(harness, folder)
        self._companions = sorted(folder.glob("*-*.txt"))
        self._requests: list[asyncio.Future[list[int]]] = []

    async def run(self) -> None:
        """Do all actions; the module text is open at the end."""
        actions = (self.edit, self.toggle, self.toggle_companion, self.write, self.ask, self.reload)
        for _ in range(_ACTIONS):
            await asyncio.sleep(self._numbers.choice([0, 0.001, 0.01, 0.03]))
            self._numbers.choice(actions)()
        if not self._is_open(self.uri):
            self.toggle()

    def _is_open(self, uri: str) -> bool:
        return uri in self._harness.session.workspace.open_files

    def edit(self) -> None:
        """Change the text in the editor."""
        if self._is_open(self.uri):
            self.version += 1
            self._text = WRONG_MODULE.replace("[5]", f"[{self._numbers.randint(4, 6)}]")
            self._harness.edit(self.uri, self._text, self.version)

    def toggle(self) -> None:
        """Close or open the module text."""
        if self._is_open(self.uri):
            self._harness.close(self.uri)
        else:
            self.version += 1
            self._harness.open(self.uri, self._text, self.version)

    def toggle_companion(self) -> None:
        """Close or open another file."""
        path = self._numbers.choice(self._companions)
        if self._is_open(path.as_uri()):
            self._harness.close(path.as_uri())
        else:
            self._harness.open(path.as_uri(), path.read_text("utf-8"))

    def write(self) -> None:
        """Change another file on disk, which may be binary then."""
        path = self._numbers.choice(self._companions)
        binary = b"\0" * self._numbers.randint(5, 50)
        path.write_bytes(self._numbers.choice([binary, path.read_bytes() + b"\n"]))
        for file in list(self._harness.session.workspace.open_files.values()):
            self._harness.pusher.changed(file)

    def ask(self) -> None:
        """Send a request about the whole compile."""
        document = types.TextDocumentIdentifier(self.uri)
        answer = self._harness.session.answer_at(
            document, 3, 4, lambda context: len(context.dump.files), whole=True
        )
        self._requests.append(asyncio.ensure_future(answer))

    def reload(self) -> None:
        """Read all files again."""
        self._harness.session.reload()
        self._harness.pusher.all_changed()


async def wait_for_all_tasks() -> None:
    end = time.monotonic() + _MAX_SECONDS
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        assert time.monotonic() < end, tasks
        await asyncio.sleep(0.01)


def codes(listed: list[Json]) -> list[str]:
    return sorted(one["code"] for one in listed)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_pulling", [False, True])
async def test_last_diagnostics_are_complete(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    seed: int,
    *,
    is_pulling: bool,
) -> None:
    monkeypatch.setattr(diagnostics, "_DEBOUNCE_SECONDS", 0)
    monkeypatch.setattr(session_module, "MAX_FULL_ANSWER_LINES", 0)
    numbers = random.Random(seed)
    harness = (PullHarness if is_pulling else PushHarness)(Client())
    done: list[bool] = []
    read_until(monkeypatch, lambda: bool(done) or numbers.random() < 0.02)
    cancelled = (one.name for one in split_dump(tmp_path).values() if numbers.random() < 0.2)
    harness.session.listener = LoadingListener(harness, frozenset(cancelled))
    storm = Storm(harness, tmp_path, numbers)
    if isinstance(harness, PullHarness):
        harness.uri = storm.uri
    await storm.run()
    done.append(True)
    await wait_for_all_tasks()
    checked = await check_text(harness.session, types.TextDocumentIdentifier(storm.uri))
    if isinstance(harness, PullHarness):
        last = harness.reports[-1]
        assert last.get("resultId")
        assert codes(last["items"]) == codes(checked.diagnostics)
    else:
        last = [one for one in harness.published if one["uri"] == storm.uri][-1]
        assert last.get("version") == storm.version
        assert codes(last["diagnostics"]) == codes(checked.diagnostics)
