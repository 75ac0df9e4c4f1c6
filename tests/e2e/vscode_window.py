"""A window of Visual Studio Code over the wire: it pulls, and asks again after each refresh."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty
from typing import Any

from e2e.wire import END_OF_OUTPUT, TIMEOUT_SECONDS, Connection, Json, did_open, frame_body, message

PULL_SECONDS = 2.0  # between two pulls of the whole workspace, as in vscode-languageclient
_QUIET_SECONDS = 2.5  # longer than every debounce of the server
_VISIBLE_LINES = 60
_REFRESHES = {
    "workspace/codeLens/refresh": "lenses",
    "workspace/inlayHint/refresh": "hints",
    "workspace/semanticTokens/refresh": "tokens",
    "workspace/diagnostic/refresh": "diagnostics",
}
CAPABILITIES: Json = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        **{
            kind: {"refreshSupport": True}
            for kind in ("codeLens", "inlayHint", "semanticTokens", "diagnostics", "foldingRange")
        },
    },
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeLens": {"dynamicRegistration": True},
        "inlayHint": {"resolveSupport": {"properties": ["tooltip"]}},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True},
        "semanticTokens": {
            "requests": {"range": True, "full": {"delta": True}},
            "tokenTypes": [],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}


class VscodeWindow:
    """A window with one folder.

    It pulls the diagnostics of the workspace again two seconds after each answer, and asks again
    for what the server refreshes.

    Attributes:
        refreshes: The number of refreshes by their method.
        shown: The last answer of each kind.
        history: The titles of lenses in the order in which they were shown, without repetitions.
    """

    def __init__(self, wire: Connection, folder: Path) -> None:
        self.refreshes: Counter[str] = Counter()
        self.shown: dict[tuple[str, str], Any] = {}
        self.history: list[list[str]] = []
        self._wire = wire
        self._folder = folder
        self._ids: dict[str, str] = {}  # the result ids of the workspace, by URI
        self._document_ids: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._answers: dict[str, Json] = {}
        self._outdated: set[str] = set()
        self._count = 0
        params = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
            "capabilities": CAPABILITIES,
        }
        self.request("initialize", params)
        self.notify("initialized", {})

    def request(self, method: str, params: Json) -> Any:
        """Return the result of a request; meanwhile, answer the requests of the server."""
        self._count += 1
        number = f"{method} {self._count}"
        self._wire.send(message(method, params, number))
        while number not in self._answers:
            self._take(TIMEOUT_SECONDS)
        answer = self._answers.pop(number)
        assert "error" not in answer or answer["error"]["code"] in {-32800, -32801}, answer
        return answer.get("result")

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self._wire.send(message(method, params))

    def open(self, path: Path, text: str | None = None) -> str:
        """Show a file, and return its URI."""
        uri = path.as_uri()
        self._versions[uri] = 1
        self._wire.send(did_open(uri, path.read_text("utf-8") if text is None else text))
        self._ask(uri, *_REFRESHES.values())
        return uri

    def close(self, uri: str) -> None:
        """Close a file."""
        del self._versions[uri]
        self._document_ids.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def edit(self, uri: str, line: int, start: int, end: int, text: str) -> None:
        """Replace a part of a line, as one of the keys after which the window asks again."""
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        span = {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end},
        }
        changes = [{"range": span, "text": text}]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def hover(self, uri: str, line: int, character: int) -> str:
        """Return the text of a hover."""
        position = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": position}
        found = self.request("textDocument/hover", params)
        return "" if found is None else str(found["contents"]["value"])

    def pull(self) -> list[Json]:
        """Pull the diagnostics of the workspace, and return the reports that changed."""
        previous = [{"uri": uri, "value": value} for uri, value in self._ids.items()]
        params = {"identifier": "hlo-lsp", "previousResultIds": previous}
        items: list[Json] = self.request("workspace/diagnostic", params)["items"]
        for item in items:
            if "resultId" in item:
                self._ids[item["uri"]] = item["resultId"]
            else:
                self._ids.pop(item["uri"], None)
        return [item for item in items if item["kind"] != "unchanged"]

    def rest(self, seconds: float = _QUIET_SECONDS) -> None:
        """Do what a window does until nothing was refreshed or changed for some time."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            is_busy = bool(self.pull())
            for _ in self._pause(PULL_SECONDS / 2):
                is_busy = True
            if is_busy:
                begin = time.monotonic()

    def idle(self, seconds: float) -> float:
        """Do what a window does for some time, and return how long it took."""
        begin = time.monotonic()
        while (left := begin + seconds - time.monotonic()) > 0:
            self.pull()
            for _ in self._pause(min(PULL_SECONDS, left)):
                pass
        return time.monotonic() - begin

    def _pause(self, seconds: float) -> Iterator[str]:
        """Answer requests of the server for some time, and yield what was refreshed."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._take(left)
            while self._outdated:
                kind = self._outdated.pop()
                yield kind
                for uri in list(self._versions):
                    self._ask(uri, kind)
                if kind == "diagnostics":
                    self.pull()

    def _take(self, seconds: float) -> None:
        """Receive a message of the server, and reply if it is a request."""
        try:
            received = self._wire.next_message(seconds)
        except Empty:
            return
        assert received is not END_OF_OUTPUT, self._wire.log
        method = received.get("method")
        if method is None:
            self._answers[received["id"]] = received
        elif "id" in received:
            if method in _REFRESHES:
                self.refreshes[method] += 1
                self._outdated.add(_REFRESHES[method])
            items = received.get("params", {}) or {}
            result = [None] * len(items["items"]) if method == "workspace/configuration" else None
            self._wire.send(_reply(received["id"], result))

    def _ask(self, uri: str, *kinds: str) -> None:
        ask: dict[str, Callable[[str], Any]] = {
            "lenses": self._lenses,
            "hints": self._hints,
            "tokens": self._tokens,
            "diagnostics": self._diagnostics,
        }
        for kind in kinds:
            self.shown[kind, uri] = ask[kind](uri)

    def _lenses(self, uri: str) -> list[str]:
        found = self.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) or []
        seen = [one for one in found if one["range"]["start"]["line"] < _VISIBLE_LINES]
        titles = []
        for lens in seen:
            resolved = self.request("codeLens/resolve", lens)
            titles.append(str((resolved.get("command") or {}).get("title")))
        if titles not in self.history[-1:]:
            self.history.append(titles)
        return titles

    def _hints(self, uri: str) -> Any:
        end = {"line": _VISIBLE_LINES, "character": 0}
        span = {"start": {"line": 0, "character": 0}, "end": end}
        return self.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": span})

    def _tokens(self, uri: str) -> Any:
        return self.request("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})

    def _diagnostics(self, uri: str) -> Any:
        params: Json = {"textDocument": {"uri": uri}, "identifier": "hlo-lsp"}
        if uri in self._document_ids:
            params["previousResultId"] = self._document_ids[uri]
        report = self.request("textDocument/diagnostic", params) or {}
        if "resultId" in report:
            self._document_ids[uri] = report["resultId"]
        known = self.shown.get(("diagnostics", uri))
        return known if report.get("kind") == "unchanged" else report.get("items")


def processor_seconds(process_id: int) -> float:
    """Return the processor time of a process on Linux."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process_id: int) -> int:
    """Return the memory of a process on Linux."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _reply(request_id: Any, result: Any) -> bytes:
    return frame_body(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode())
