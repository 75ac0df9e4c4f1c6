"""Thousands of requests, valid and invalid, with edits between them: each gets one reply.

A run prints its seed. ``STORM_SEED=<it>`` sends the same again.
"""

import os
import random
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SUMMARY
from e2e.compiles import Compile, copy_dump
from e2e.wire import Json, did_open, message
from lsp.protocol.breaking import INVALID_REQUEST, NOT_INITIALIZED
from lsp.protocol.client import StormClient
from lsp.protocol.storm import Storm
from lsp.protocol.texts import OpenText

REQUESTS, WARM = 3_000, 1_000
IN_FLIGHT = 1_500  # requests without an answer, at most, before the next burst
GROWTH, MOST = 1.5, 700 << 20  # how RSS may grow after the first, and what it never passes
CAPABILITIES = {
    "textDocument": {"hover": {"contentFormat": ["markdown"]}, "publishDiagnostics": {}},
    "workspace": {
        "configuration": True, "workspaceFolders": True, "applyEdit": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "semanticTokens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}  # fmt: skip
_WARNING = re.compile(r"[\d\- :,]+ WARNING ")  # of one line
KNOWN = "BufferAssignment:\nallocation 0: size 0, constant:\n"


@pytest.fixture
def texts(corpus_small: Path, tmp_path: Path) -> list[OpenText]:
    """Return dumps of all kinds, some with companion files, and a part of one."""

    def compiled(name: str) -> Compile:
        return copy_dump(corpus_small, name, tmp_path / name)

    tpu, gpu, one = compiled("tpu"), compiled("gpu"), compiled("one")
    files = [
        tpu.assignment, tpu.values, tpu.live_range, tpu.report, tpu.module, gpu.thunks, gpu.module,
        one.assignment,
    ]  # fmt: skip
    found = [OpenText(path.as_uri(), path.read_text("utf-8")) for path in files]
    printed = "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}*** End {path.name} ***\n"
        for path in compiled("cpu").files
    )
    half = found[0].original[: len(found[0].original) // 2 + 7]
    lines = found[4].original.split("\n")
    random.Random(1).shuffle(lines)
    return [
        *found,
        OpenText("untitled:printed", printed),
        OpenText("untitled:half", half),
        OpenText("untitled:shuffled", "\n".join(lines)),
        OpenText("git:/module.txt?ref", found[4].original),
    ]


def initialize(client: StormClient, folder: Path) -> None:
    """Shake hands, with a folder open."""
    folders = [{"uri": folder.as_uri(), "name": "dumps"}]
    params = {"processId": None, "rootUri": None, "capabilities": CAPABILITIES}
    client.ask("the beginning", "initialize", {**params, "workspaceFolders": folders})
    client.post(message("initialized", {}))


def diagnostics(client: StormClient, texts: list[OpenText]) -> dict[str, list[Json]]:
    """Return the final diagnostics of each text."""
    found = {}
    for text in texts:
        params = {"textDocument": {"uri": text.uri}}
        reply = client.ask(f"what of {text.uri}", "textDocument/diagnostic", params)
        found[text.uri] = reply["result"]["items"]
    return found


@pytest.mark.e2e
def test_storm_of_requests_is_answered_properly(
    texts: list[OpenText], tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    seed = int(os.environ.get("STORM_SEED", secrets.randbelow(10**9)))
    print(f"STORM_SEED={seed}")
    storm, client = Storm(random.Random(seed), texts), StormClient(seed)
    try:
        client.post(storm.requests(200, NOT_INITIALIZED))
        initialize(client, tmp_path / "gpu")
        began = time.monotonic()
        warm = blow(storm, client, WARM)
        resident = blow(storm, client, REQUESTS - WARM)
        took = time.monotonic() - began
        client.post(storm.calm())
        after = diagnostics(client, texts)
        client.post(did_open("untitled:known", KNOWN))
        place = {"textDocument": {"uri": "untitled:known"}, "position": {"line": 0, "character": 0}}
        hover = client.ask("a hover", "textDocument/hover", place)
        client.ask("the end", "shutdown", None)
        client.post(storm.requests(100, INVALID_REQUEST))
        client.settle(storm)
        client.post(message("exit"))
        status = client.finish()
    finally:
        client.process.kill()
    record_property(
        SUMMARY,
        f"seed {seed}: {REQUESTS / took:.0f} requests/s, RSS {warm >> 20} MiB after {WARM},"
        f" {resident >> 20} MiB after {REQUESTS}",
    )
    assert (status, client.stray_output) == (0, b""), client.log[-2000:]
    logged = [line for line in client.log.split("\n") if line and not _WARNING.match(line)]
    assert logged == [], "\n".join(logged)
    assert wrong_answers(storm, client) == []
    assert client.nameless == storm.nameless
    assert "BufferAssignment" in hover["result"]["contents"]["value"]
    assert resident <= min(GROWTH * warm, MOST), f"{resident >> 20} MiB after {warm >> 20} MiB"
    assert after == of_a_fresh_server(texts, tmp_path / "gpu")


def blow(storm: Storm, client: StormClient, requests: int) -> int:
    """Send so many requests, and wait for their answers; the memory of the server after them."""
    for burst in storm.bursts(requests):
        client.post(burst)
        client.settle(storm, IN_FLIGHT)
    client.settle(storm)
    return client.resident if sys.platform == "linux" else 0


def wrong_answers(storm: Storm, client: StormClient) -> list[str]:
    """Return the requests without exactly one expected reply."""
    return [
        f"{codes} in place of {set(storm.allowed[number])}: {str(said)[:500]}"
        for number, said in storm.sent.items()
        for codes in [client.answers.get(number, [])]
        if len(codes) != 1 or codes[0] not in storm.allowed[number]
    ]


def of_a_fresh_server(texts: list[OpenText], folder: Path) -> dict[str, list[Json]]:
    """Return the diagnostics of a new server for the current texts."""
    client = StormClient(0)
    try:
        initialize(client, folder)
        for text in texts:
            client.post(did_open(text.uri, text.text.whole))
        return diagnostics(client, texts)
    finally:
        client.process.kill()
