"""The answers of the server to all requests about hostile files, and what it sends itself."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

from hostile.editor import Editor, all_requests
from hostile.hostile_files import HostileFiles
from hostile.payload import RAW_PAYLOAD

Answers = list[tuple[str, Any]]
"""Methods with their results, errors, or parameters."""

# Results that are texts of files, or edits of them.
EXACT_METHODS = {
    "hlo/text",
    "hlo/window",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/rename",
}
_INTERNAL_ERROR = -32603
_CURSOR_METHODS = ("hover", "completion", "prepareCallHierarchy")
_LINES, _ITEMS = 15, 10  # at most, of each file


def _position(line: int, character: int = 9) -> dict[str, int]:
    return {"line": line, "character": character}


def _side(uri: str) -> dict[str, Any]:
    return {"uri": uri, "line": 0}


EDITOR_COMMANDS: dict[str, Callable[[HostileFiles, str], list[list[Any]]]] = {
    "hlo.explainRule": lambda _, __: [["overlap"], [RAW_PAYLOAD]],
    "hlo.applyEdit": lambda _, uri: [[{"changes": {uri: []}}]],
    "hlo.server.inspect": lambda _, uri: [[uri, _position(line)] for line in range(0, 90, 9)],
    "hlo.server.check": lambda f, uri: [[uri], [f.configured.as_uri()]],
    "hlo.server.summary": lambda f, uri: [[uri, 0], [uri, 0, 10_000], [f.log.as_uri(), 9]],
    "hlo.server.timeline": lambda _, uri: [[uri, 0, 80, None], [uri, 0, 80, 14]],
    "hlo.server.timeSummary": lambda _, uri: [[uri, 0], [uri, 0, 10_000]],
    "hlo.server.compareProfiles": lambda f, _: [[f.profile.as_uri(), f.profile.as_uri()]],
    "hlo.server.loadProfile": lambda f, uri: [[f.profile.as_uri(), uri], [f.log.as_uri(), uri]],
    "hlo.server.restartIndex": lambda _, __: [[]],
}
OWN_REQUESTS: dict[str, Callable[[HostileFiles, str], list[Any]]] = {
    "hlo/adjacentPass": lambda _, uri: [
        {"uri": uri, "position": _position(line), "direction": "previous"} for line in (30, 60)
    ],
    "hlo/compare": lambda f, uri: [{"before": _side(uri), "after": _side(f.changed.as_uri())}],
    "hlo/compile": lambda _, uri: [{"uri": uri, "changes": {"chip": RAW_PAYLOAD}}],
    "hlo/compileChoices": lambda _, uri: [{"uri": uri}],
    "hlo/fetch": lambda _, uri: [{"uri": uri}],
    "hlo/hosts": lambda _, uri: [{"uri": uri}],
    "hlo/hottest": lambda _, uri: [_side(uri)],
    "hlo/memoryMap": lambda f, uri: [
        _side(uri),
        {"before": _side(uri), "after": _side(f.changed.as_uri())},
    ],
    "hlo/missingSources": lambda _, uri: [{"uri": uri}],
    "hlo/modules": lambda f, _: [{"folders": [f.tpu.folder.parent.as_uri()]}],
    "hlo/remoteFolder": lambda f, _: [
        {"url": f.tpu.folder.as_uri()},
        {"url": f"no://{RAW_PAYLOAD}"},
    ],
    "hlo/sourceLines": lambda _, uri: [{"uri": uri}],
    "hlo/text": lambda _, uri: [{"uri": uri}],
    "hlo/window": lambda _, uri: [{"uri": uri, "line": 3}],
}
_RESOLVED = {
    "textDocument/codeLens": "codeLens/resolve",
    "textDocument/inlayHint": "inlayHint/resolve",
    "textDocument/completion": "completionItem/resolve",
    "textDocument/codeAction": "codeAction/resolve",
}


def all_answers(files: HostileFiles) -> Answers:
    """Return the answers to all requests about the files."""
    with ExitStack() as patched:
        for name, module in list(sys.modules.items()):
            if name.startswith("hlo_lsp.lsp.") and hasattr(module, "run_in_process"):
                patched.enter_context(patch.object(module, "run_in_process", _run_in_this_process))
        return _all_answers(files)


async def _run_in_this_process(work: Callable[[], object]) -> object:
    return work()


def _all_answers(files: HostileFiles) -> Answers:
    asker = _Asker(files)
    for compile_ in (files.tpu, files.damaged):
        for path in (compile_.module, compile_.assignment, compile_.values, compile_.live_range):
            asker.ask_about_text(path)
    for path in (files.tpu.report, files.damaged.report, files.gpu.thunks, files.log):
        asker.ask_about_text(path)
    for compile_ in (files.tpu, files.damaged):
        asker.ask_about_compile(compile_.assignment.as_uri())
    asker.ask("workspace/diagnostic", {"previousResultIds": []})
    asker.ask("workspace/symbol", {"query": "e"})
    return asker.end()


class _Asker:
    def __init__(self, files: HostileFiles) -> None:
        self._files = files
        self._editor = Editor()
        self._found: Answers = []

    def ask(self, method: str, params: Any) -> None:
        reply = self._editor.request(method, params)
        self._found.append((method, reply.get("result", reply.get("error"))))
        assert reply.get("error", {}).get("code") != _INTERNAL_ERROR, (method, params, reply)
        result = reply.get("result")
        items = result["items"] if isinstance(result, dict) and "items" in result else result
        if method in _RESOLVED and isinstance(items, list):
            for item in items[:: len(items) // _ITEMS + 1]:
                self.ask(_RESOLVED[method], item)

    def ask_about_text(self, path: Path) -> None:
        text, uri = path.read_text("utf-8"), path.as_uri()
        document = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
        self._editor.notify("textDocument/didOpen", {"textDocument": document})
        for method, params in all_requests(uri, text):
            self.ask(method, params)
        lines = text.split("\n")
        for line in range(0, len(lines), len(lines) // _LINES + 1):
            for column in {3, max(lines[line].find("metadata"), 0) + 15}:
                here = {"textDocument": {"uri": uri}, "position": _position(line, column)}
                for method in _CURSOR_METHODS:
                    self.ask(f"textDocument/{method}", here)

    def ask_about_compile(self, uri: str) -> None:
        for name, arguments in EDITOR_COMMANDS.items():
            for one in arguments(self._files, uri):
                self.ask("workspace/executeCommand", {"command": name, "arguments": one})
        for method, params in OWN_REQUESTS.items():
            for one in params(self._files, uri):
                self.ask(method, one)
        summary = f"hlo-memory-summary:/S.md?{quote(uri, safe='')}#0"
        self.ask("workspace/textDocumentContent", {"uri": summary})

    def end(self) -> Answers:
        self._found += [(one["method"], one.get("params")) for one in self._editor.sent]
        self._editor.close()
        return self._found
