"""Tests for the table of requests in docs/editors.md.

A request has a check mark if it has a result at any of many positions in a real file of that kind.
The client is Neovim, which supports all of these requests.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
_WORD = re.compile(r"[%<]?[A-Za-z_][\w.\-]*(?:\{[\d,]*\})?|\d+")
_HEADING = "## Requests by kind of file"
_MAX_CONCURRENT_REQUESTS = 8
_MAX_POSITIONS = 60
_METHODS = {"semanticTokens": "semanticTokens/full"}  # without range and delta

_CONVERTER = default_converter()
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
_PYTHON_LINE_REQUESTS = {"documentLink", "implementation"}
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


@pytest.mark.parametrize("kind", [*KINDS, "stdout"])
async def test_marks_match_requests_with_results(
    neovim: Editor,
    editor_with_sources: Editor,
    compiled: Callable[[str], Compile],
    kind: str,
    tmp_path: Path,
) -> None:
    if kind == "stdout":
        place, text = tmp_path / "stdout.txt", stdout_dump(compiled("tpu"))
    else:
        name, path = KINDS[kind]
        place = path(compiled(name))
        text = place.read_text("utf-8")
    has_results = {}
    for client, requests, shown in (
        (editor_with_sources, _PYTHON_LINE_REQUESTS, text),
        (neovim, _PROBLEM_REQUESTS, damage(text)),
        (neovim, TABLE.keys() - _PYTHON_LINE_REQUESTS - _PROBLEM_REQUESTS, text),
    ):
        file = client.open(place, shown)
        for method in sorted(requests):
            has_results[method] = await has_result(file, method)
        file.close()
    assert has_results == {method: row[kind] for method, row in TABLE.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def editor_with_sources(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """Start an editor with a source map to the Python file that the corpus names."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "programs.py").write_text("\n" * 300, "utf-8")
    settings = {"sourceMap": {"/home/user/models": str(folder)}}
    async with editor(types.ClientCapabilities(), folder / "log", settings) as started:
        yield started


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


async def has_result(file: OpenFile, method: str) -> bool:
    """Return whether a request has a result that is not empty anywhere in a file."""
    requests = [partial(request, file, method, params) for params in all_params(file, method)]
    for first in range(0, len(requests), _MAX_CONCURRENT_REQUESTS):
        batch = requests[first : first + _MAX_CONCURRENT_REQUESTS]
        if any(await asyncio.gather(*(one() for one in batch))):
            return True
    return False


async def request(file: OpenFile, method: str, params: dict[str, Any]) -> bool:
    """Send a request, and return whether its result is not empty."""
    name = f"textDocument/{_METHODS.get(method, method)}"
    kind: Any = types.METHOD_TO_TYPES[name][2]
    structured = _CONVERTER.structure(params, kind)
    protocol = file.editor.client.protocol
    try:
        result = await file.editor.reply(protocol.send_request_async(name, structured))
    except JsonRpcException as error:
        if error.code != types.LSPErrorCodes.RequestFailed:
            raise
        return False
    items = getattr(result, "items", result)
    return bool(getattr(items, "data", items))


def all_params(file: OpenFile, method: str) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a request, with all positions if it has one."""
    document = {"textDocument": {"uri": file.uri}}
    lines = file.text.lines
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
