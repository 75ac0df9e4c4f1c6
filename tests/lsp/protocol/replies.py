"""All that a server says to one client: an answer to each kind of request, and what it asks."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from e2e.compiles import Compile
from e2e.wire import Connection, Json, did_open, frame_body, message
from hlo_lsp.lsp.client import SUMMARY_SCHEME

_HALF = "ROOT %tuple.3 = "
_SHOWN_HINTS = ("allocation", "donation", "paddedSize", "source", "steps", "times")
_DAMAGE = ("size 262144,", "size 262140,")


@dataclass
class Replies:
    """``answers`` are the results by method, ``asked`` and ``told`` what the server sent itself."""

    capabilities: Json
    offered: Json = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, Json] = field(default_factory=dict)
    asked: list[Json] = field(default_factory=list)
    told: list[Json] = field(default_factory=list)

    def said(self, method: str) -> list[Json]:
        """Return the parameters of the server's messages with a method."""
        both = (*self.asked, *self.told)
        return [one.get("params") or {} for one in both if one["method"] == method]

    def able(self, *path: str) -> Any:
        """Return a client capability, or None."""
        found: Any = self.capabilities
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found


class Conversation:
    """A client that says what it can do, and takes in all that comes."""

    def __init__(self, wire: Connection, capabilities: Json, folder: str | None = None) -> None:
        self.replies = Replies(capabilities)
        self._wire = wire
        params = {
            "processId": None,
            "rootUri": folder,
            "capabilities": capabilities,
            "initializationOptions": {"chip": "v5e"},  # for hlo/hottest
        }
        self.replies.offered = self.ask("initialize", params)["capabilities"]
        wire.send(message("initialized", {}))

    def ask(self, method: str, params: Any) -> Any:
        """Return the result of a request, or None if it is refused."""
        number = f"{method} {len(self.replies.answers)}"
        self._wire.send(message(method, params, number))
        while True:
            found = self._wire.receive()
            if "method" not in found:
                assert found["id"] == number
                break
            self._take(found)
        if "error" in found:
            self.replies.refused[method] = found["error"]
        result = found.get("result")
        self.replies.answers[method] = result
        return result

    def until_asked(self, method: str) -> None:
        """Wait for something that the server asks by itself."""
        while not self.replies.said(method):
            self._take(self._wire.receive())

    def result(self, method: str) -> Any:
        """Return the reply to a request of the server."""
        results: dict[str, Any] = {
            "workspace/configuration": [None],
            "workspace/applyEdit": {"applied": True},
            "window/showDocument": {"success": True},
        }
        return results.get(method)

    def _take(self, said: Json) -> None:
        if "id" not in said:
            self.replies.told.append(said)
            return
        self.replies.asked.append(said)
        reply = {"jsonrpc": "2.0", "id": said["id"], "result": self.result(said["method"])}
        self._wire.send(frame_body(json.dumps(reply).encode()))


def all_replies(wire: Connection, capabilities: Json, files: Compile) -> Replies:
    """Ask a server everything, about the files of a compile with a module text."""
    talk = Conversation(wire, capabilities, files.folder.as_uri())
    module, assignment = files.module.read_text("utf-8"), files.assignment.read_text("utf-8")
    lines = module.split("\n")
    root = next(number for number, line in enumerate(lines) if _HALF in line)
    lines.insert(root, "  %new = f32[8]{0} ad")
    module = "\n".join(lines)
    assert _DAMAGE[0] in assignment
    wire.send(did_open(files.module.as_uri(), module))
    wire.send(did_open(files.assignment.as_uri(), assignment.replace(*_DAMAGE)))
    text = {"textDocument": {"uri": files.module.as_uri()}}
    memory = {"textDocument": {"uri": files.assignment.as_uri()}}

    def at(line: int, word: str, end: int = 0) -> Json:
        return {**text, "position": {"line": line, "character": lines[line].index(word) + end}}

    row = root + 1
    here = at(row, "%while.6", 2)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": 0}}
    for method in (
        "hover", "definition", "declaration", "typeDefinition", "implementation",
        "documentHighlight", "prepareRename", "linkedEditingRange", "prepareCallHierarchy",
    ):  # fmt: skip
        talk.ask(f"textDocument/{method}", here)
    talk.ask("textDocument/references", {**here, "context": {"includeDeclaration": True}})
    talk.ask("textDocument/rename", {**here, "newName": "other"})
    talk.ask("textDocument/selectionRange", {**text, "positions": [here["position"]]})
    talk.ask("textDocument/signatureHelp", at(row, "tuple(%while", 6))
    for method in ("documentSymbol", "foldingRange", "documentLink", "semanticTokens/full"):
        talk.ask(f"textDocument/{method}", text)
    known = (talk.replies.answers["textDocument/semanticTokens/full"] or {}).get("resultId", "")
    talk.ask("textDocument/semanticTokens/full/delta", {**text, "previousResultId": known})
    talk.ask("textDocument/semanticTokens/range", {**text, "range": whole})
    options = {"tabSize": 2, "insertSpaces": True}
    talk.ask("textDocument/formatting", {**text, "options": options})
    talk.ask("textDocument/rangeFormatting", {**text, "range": whole, "options": options})
    _ask_twice(talk, "textDocument/codeLens", memory, "codeLens/resolve")
    _ask_twice(talk, "textDocument/inlayHint", {**text, "range": whole}, "inlayHint/resolve")
    _ask_twice(talk, "textDocument/completion", at(root, " ad", 3), "completionItem/resolve")
    damage = assignment.split("\n").index(
        next(line for line in assignment.split("\n") if _DAMAGE[0] in line)
    )
    span = {"start": {"line": damage, "character": 0}, "end": {"line": damage, "character": 99}}
    found = talk.ask("textDocument/diagnostic", memory)
    context = {"diagnostics": found["items"][:1]}
    actions = {**memory, "range": span, "context": context}
    _ask_twice(talk, "textDocument/codeAction", actions, "codeAction/resolve")
    (item,) = talk.replies.answers["textDocument/prepareCallHierarchy"]
    for direction in ("incoming", "outgoing"):
        talk.ask(f"callHierarchy/{direction}Calls", {"item": item})
    talk.ask("workspace/symbol", {"query": "while"})
    talk.ask("workspace/diagnostic", {"previousResultIds": []})
    talk.ask("workspace/executeCommand", {"command": "hlo.explainRule", "arguments": ["overlap"]})
    _ask_own(talk, files, here["position"])
    off = {"check": {}, "codeLens": "off", "inlayHints": dict.fromkeys(_SHOWN_HINTS, False)}
    wire.send(message("workspace/didChangeConfiguration", {"settings": {"hlo": off}}))
    change = {"uri": files.values.as_uri(), "type": 2}
    wire.send(message("workspace/didChangeWatchedFiles", {"changes": [change]}))
    for method in ("workspace/inlayHint/refresh", "workspace/codeLens/refresh"):
        if talk.replies.able("workspace", *REFRESHES[method]):
            talk.until_asked(method)
    return talk.replies


def _ask_own(talk: Conversation, files: Compile, position: Json) -> None:
    """Send the requests that the protocol does not define, and that for summaries."""
    names = ("fetch", "hosts", "hottest", "memoryMap", "modules", "sourceLines", "text", "window")
    for name in names:
        talk.ask(f"hlo/{name}", {"uri": files.values.as_uri(), "line": 5})
    talk.ask("hlo/remoteFolder", {"url": files.folder.as_uri()})
    talk.ask("hlo/missingSources", {"uri": files.values.as_uri()})
    side = {"uri": files.values.as_uri(), "line": 0}
    talk.ask("hlo/compare", {"before": side, "after": side})
    talk.ask("hlo/compileChoices", {"uri": "untitled:none"})
    talk.ask("hlo/compile", {"uri": "untitled:none", "changes": {"donate": []}})
    summary = f"{SUMMARY_SCHEME}:/Memory%20Summary.md?{quote(files.values.as_uri(), safe='')}#0"
    talk.ask("workspace/textDocumentContent", {"uri": summary})
    place = {"uri": files.module.as_uri(), "position": position, "direction": "previous"}
    talk.ask("hlo/adjacentPass", place)


REFRESHES = {
    "workspace/semanticTokens/refresh": ("semanticTokens", "refreshSupport"),
    "workspace/inlayHint/refresh": ("inlayHint", "refreshSupport"),
    "workspace/codeLens/refresh": ("codeLens", "refreshSupport"),
}


def _ask_twice(talk: Conversation, method: str, params: Any, resolve: str) -> None:
    """Ask for a list, and for more about the last thing in it."""
    found = talk.ask(method, params)
    items = found["items"] if isinstance(found, dict) else found
    if items and "title" in items[-1] and isinstance(items[-1].get("command"), str):
        talk.replies.answers[resolve] = items[-1]  # it is a command: there is no more about it
        return
    waiting = [item for item in items if "data" in item]
    talk.ask(resolve, (waiting or items)[-1])
