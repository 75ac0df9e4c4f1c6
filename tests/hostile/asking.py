"""Edits of texts, and requests whose results are comparable between servers."""

import json
import random
from typing import Any

from hlo_lsp.text.document import common_prefix_length
from hostile.editor import Editor

_REFUSED = -32803
_MAX_RESOLVED_LENSES = 20
_EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 1 << 20, "character": 0}}


def cursors(rng: random.Random, text: str, count: int) -> list[dict[str, int]]:
    """Return random positions in a text."""
    return [position(text, rng.randrange(len(text) + 1)) for _ in range(count)]


def open_text(editor: Editor, uri: str, text: str) -> None:
    """Open a text in an editor."""
    document = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", {"textDocument": document})


def change_text(editor: Editor, uri: str, before: str, after: str) -> None:
    """Send the difference between two texts as an edit."""
    start = common_prefix_length(before, after, 1)
    kept = common_prefix_length(before[start:][::-1], after[start:][::-1], 1)
    span = {"start": position(before, start), "end": position(before, len(before) - kept)}
    change = {"range": span, "text": after[start : len(after) - kept]}
    identifier = {"uri": uri, "version": 2}
    editor.notify(
        "textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]}
    )


def position(text: str, offset: int) -> dict[str, int]:
    """Return the position of an offset in code points."""
    return {
        "line": text.count("\n", 0, offset),
        "character": offset - (text.rfind("\n", 0, offset) + 1),
    }


def close_text(editor: Editor, uri: str) -> None:
    """Close a text in an editor."""
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def request(editor: Editor, method: str, uri: str, **params: Any) -> Any:
    """Return the result of a request about a text, with diagnostics in a fixed order."""
    document: dict[str, Any] = {"textDocument": {"uri": uri}, **params}
    if method == "references":
        document["context"] = {"includeDeclaration": True}
    if method == "inlayHint":
        document["range"] = _EVERYTHING
    result = _result(editor, f"textDocument/{method}", document)
    if isinstance(result, dict):
        result.pop("resultId", None)
        if "items" in result:
            result["items"].sort(key=json.dumps)
    if method == "codeLens" and isinstance(result, list):
        return [_result(editor, "codeLens/resolve", lens) for lens in result[:_MAX_RESOLVED_LENSES]]
    return result


def run_command(editor: Editor, name: str, *arguments: Any) -> Any:
    """Return the result of a command of the server."""
    params = {"command": f"hlo.server.{name}", "arguments": arguments}
    return _result(editor, "workspace/executeCommand", params)


def _result(editor: Editor, method: str, params: Any) -> Any:
    """Return the result, or the message of a refused request, and fail for other errors."""
    reply = editor.request(method, params)
    if "error" not in reply:
        return reply["result"]
    assert reply["error"]["code"] == _REFUSED, (method, params, reply["error"])
    return reply["error"]["message"]
