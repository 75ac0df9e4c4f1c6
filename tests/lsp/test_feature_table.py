"""Tests for the table of requests in docs/editors.md.

A request has a check mark if it has a result at any of many positions in a real file of that kind.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from e2e.compiles import Compile, copy_dump
from hostile.editor import Editor, Json

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
_WORD = re.compile(r"[%<]?[A-Za-z_][\w.\-]*(?:\{[\d,]*\})?|\d+")
_HEADING = "## Requests by kind of file"
_MAX_POSITIONS = 60
_METHODS = {"semanticTokens": "semanticTokens/full"}  # without range and delta

_FORMAT = {"options": {"tabSize": 2, "insertSpaces": True}}
_EXTRA_PARAMS: dict[str, dict[str, Any]] = {
    "references": {"context": {"includeDeclaration": True}},
    "rename": {"newName": "renamed"},
    "codeAction": {"context": {"diagnostics": []}},
    "formatting": _FORMAT,
    "rangeFormatting": _FORMAT,
}
KINDS: dict[str, tuple[str, Callable[[Compile], Path]]] = {
    "module": ("tpu", lambda compiled: compiled.module),
    "assignment": ("tpu", lambda compiled: compiled.assignment),
    "values": ("tpu", lambda compiled: compiled.values),
    "live range": ("tpu", lambda compiled: compiled.live_range),
    "report": ("tpu", lambda compiled: compiled.report),
    "thunks": ("gpu", lambda compiled: compiled.thunks),
}
_INSTRUCTION = re.compile(r"^( +(?:ROOT )?%[\w.\-]+) = ", re.MULTILINE)
_PROBLEM_REQUESTS = {"codeAction", "diagnostic", "formatting", "rangeFormatting"}
POSITION_REQUESTS = {
    "hover", "definition", "declaration", "typeDefinition", "implementation", "references",
    "documentHighlight", "prepareCallHierarchy", "completion", "signatureHelp", "rename",
    "linkedEditingRange", "selectionRange",
}  # fmt: skip


def table() -> dict[str, dict[str, bool]]:
    """Return the table of the page: whether there is a mark, by method and kind of file."""
    text = PAGE.read_text("utf-8").partition(_HEADING)[2].strip().partition("\n\n")[0]
    rows = [line.strip("| ").split("|") for line in text.split("\n")]
    head = [cell.strip() for cell in rows[0][1:]]
    found = {}
    for row in rows[2:]:
        marks = [cell.strip() for cell in row[1:]]
        assert set(marks) <= {"✓", "–"}
        found[row[0].strip().strip("`")] = {
            kind: mark == "✓" for kind, mark in zip(head, marks, strict=True)
        }
    return found


TABLE = table()


def test_table_has_every_request_about_a_document() -> None:
    requests = {
        method.removeprefix("textDocument/")
        for method in types.METHOD_TO_TYPES
        if method.startswith("textDocument/") and method.count("/") == 1
    }
    assert set(TABLE) <= requests | {"semanticTokens", "codeAction"}
    assert set(TABLE) >= POSITION_REQUESTS
    assert all(set(row) == {*KINDS, "stdout"} for row in TABLE.values())


@pytest.fixture
def server() -> Iterator[Editor]:
    """Yield a server in this process."""
    running = Editor()
    yield running
    running.close()


@pytest.mark.parametrize("kind", [*KINDS, "stdout"])
def test_marks_match_requests_with_results(
    server: Editor, corpus_small: Path, kind: str, tmp_path: Path
) -> None:
    if kind == "stdout":
        files = copy_dump(corpus_small, "tpu", tmp_path / "tpu")
        place, text = tmp_path / "stdout.txt", stdout_dump(files)
    else:
        name, path = KINDS[kind]
        place = path(copy_dump(corpus_small, name, tmp_path / name))
        text = place.read_text("utf-8")
    # The Python file that the corpus names.
    (tmp_path / "programs.py").write_text("\n" * 300, "utf-8")
    settings = {"hlo": {"sourceMap": {"/home/user/models": str(tmp_path)}}}
    server.notify("workspace/didChangeConfiguration", {"settings": settings})
    has_results = {}
    for requests, shown in (
        (_PROBLEM_REQUESTS, damage(text)),
        (TABLE.keys() - _PROBLEM_REQUESTS, text),
    ):
        uri = place.as_uri()
        document = {"uri": uri, "languageId": "hlo", "version": 1, "text": shown}
        server.notify("textDocument/didOpen", {"textDocument": document})
        for method in sorted(requests):
            has_results[method] = any(
                has_result(server, method, params) for params in all_params(uri, shown, method)
            )
        server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert has_results == {method: row[kind] for method, row in TABLE.items()}


def damage(text: str) -> str:
    """Return the text with extra blanks in an instruction and a syntax error in another line."""
    lines = _INSTRUCTION.sub(r"\1   = ", text, count=1).split("\n")
    third = len(lines) // 3
    at = next(number for number in range(third, len(lines)) if lines[number].strip())
    lines[at] = f"?? {lines[at]}"
    return "\n".join(lines)


def stdout_dump(compiled: Compile) -> str:
    """Return the output of ``--xla_dump_to=-`` for a compile."""
    return "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}\n*** End {path.name} ***\n"
        for path in compiled.files
    )


def has_result(server: Editor, method: str, params: Json) -> bool:
    """Send a request, and return whether its result is not empty."""
    reply = server.request(f"textDocument/{_METHODS.get(method, method)}", params)
    if "error" in reply:
        assert reply["error"]["code"] == types.LSPErrorCodes.RequestFailed
        return False
    result = reply["result"]
    if isinstance(result, dict):
        result = result.get("items", result.get("data", result))
    return bool(result)


def all_params(uri: str, text: str, method: str) -> Iterator[Json]:
    """Yield the parameters of a request, with all positions if it has one."""
    document = {"textDocument": {"uri": uri}}
    lines = text.split("\n")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": 0}}
    extra = _EXTRA_PARAMS.get(method, {})
    if method in POSITION_REQUESTS:
        for line, character in positions(lines):
            here = {"line": line, "character": character}
            yield {**document, "position": here, "positions": [here], **extra}
    else:
        yield {**document, "range": whole, **extra}


def positions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield positions of words all over a text, of long lines only at the beginning."""
    found = [
        (number, word.start() + 1)
        for number, line in enumerate(lines)
        for word in list(_WORD.finditer(line[:1000]))[:12]
    ]
    return iter(found[:: max(1, len(found) // _MAX_POSITIONS)])
