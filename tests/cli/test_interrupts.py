"""Ctrl-C ends a command at once, while it waits for a server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from remote_servers import HttpFolder, http_folder

pytest.importorskip("aiohttp")
pytest.importorskip("fsspec")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
_FILES = {f"/dumps/{number}.hlo": b"HloModule a\n" * 90_000 for number in range(2)}


@contextmanager
def _started(*command: str, cache: Path) -> Iterator["subprocess.Popen[str]"]:
    # A shell starts background processes with SIGINT ignored, which the command would inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "hlo_lsp", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HLO_LSP_CACHE": str(cache)},
    )
    signal.signal(signal.SIGINT, before)
    try:
        yield process
    finally:
        process.kill()


class _Requests(list[tuple[str, str]]):
    """Requests that set an event when one for a file of this method arrives."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self._method = method
        self.is_waiting = Event()

    def append(self, request: tuple[str, str]) -> None:
        super().append(request)
        if request[0] == self._method and request[1].endswith(".hlo"):
            self.is_waiting.set()


@pytest.mark.parametrize(
    ("method", "command"),
    [
        ("HEAD", ("modules", "{}")),
        ("HEAD", ("text", "{}", "-o", "copy")),
        ("GET", ("summary", "{}")),
        ("GET", ("check", "--jobs", "2", "{}")),
        ("GET", ("text", "{}", "-o", "copy")),
    ],
    ids=lambda part: part if isinstance(part, str) else part[0],
)
def test_waiting_command_ends_at_once(
    method: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with http_folder(dict(_FILES)) as server:
        requests = _waiting_server(server, method)
        arguments = (part.format(f"{server.url}/dumps/") for part in command)
        with _started(*arguments, cache=tmp_path) as process:
            assert requests.is_waiting.wait(60)
            process.send_signal(signal.SIGINT)
            found = process.communicate(timeout=20)  # the limits of the server are longer
    assert (process.returncode, *found) == (130, "", "")


def _waiting_server(server: HttpFolder, method: str) -> _Requests:
    requests = _Requests(method)
    server.requests = requests
    server.heads = method != "HEAD"
    server.faults.update(dict.fromkeys(_FILES, "silent"))
    return requests


def test_server_for_agents_ends_at_once(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    request = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }  # fmt: skip
    with _started("mcp", cache=tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
