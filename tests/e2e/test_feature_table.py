"""The table of requests in docs/editors.md is true: each mark is an answer, each blank is none.

A request is asked at many places of a real file of each kind. Neovim asks, as it can all of it.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
_WORD = re.compile(r"[%<]?[A-Za-z_][\w.\-]*(?:\{[\d,]*\})?|\d+")
_HEADING = "## Requests by kind of file"
_TOGETHER = 50  # requests under way at a time
_PLACES = 300
_METHODS = {"semanticTokens": "semanticTokens/full"}  # and by range, and what has changed

_CONVERTER = default_converter()
_FORMAT = {"options": {"tabSize": 2, "insertSpaces": True}}
_MORE: dict[str, dict[str, Any]] = {
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
_ABOUT_FAULTS = {"codeAction", "diagnostic", "formatting", "rangeFormatting"}
_TO_PYTHON = {"documentLink", "implementation"}
AT_PLACES = {
    "hover", "definition", "declaration", "typeDefinition", "implementation", "references",
    "documentHighlight", "prepareCallHierarchy", "completion", "signatureHelp", "rename",
    "linkedEditingRange", "selectionRange",
}  # fmt: skip


def table() -> dict[str, dict[str, bool]]:
    """Return the rows of the page: the marks by method and kind of file."""
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
    asked = {
        method.removeprefix("textDocument/")
        for method in types.METHOD_TO_TYPES
        if method.startswith("textDocument/") and method.count("/") == 1
    }
    assert set(TABLE) <= asked | {"semanticTokens", "codeAction"}
    assert set(TABLE) >= AT_PLACES
    assert all(set(row) == {*KINDS, "stdout"} for row in TABLE.values())


@pytest.mark.parametrize("kind", [*KINDS, "stdout"])
async def test_marks_are_the_requests_with_answers(
    neovim: Editor, compiled: Callable[[str], Compile], kind: str, tmp_path: Path
) -> None:
    if kind == "stdout":
        place, text = tmp_path / "stdout.txt", as_printed(compiled("tpu"))
    else:
        name, path = KINDS[kind]
        place = path(compiled(name))
        text = place.read_text("utf-8")
    answered = {}
    async with near_python(tmp_path) as local:
        for method in TABLE:
            asking = local if method in _TO_PYTHON else neovim
            file = asking.open(place, spoilt(text) if method in _ABOUT_FAULTS else text)
            answered[method] = await is_answered(file, method)
            file.close()
    assert answered == {method: row[kind] for method, row in TABLE.items()}


def near_python(folder: Path) -> AbstractAsyncContextManager[Editor]:
    """Start an editor on a machine with the Python file that the corpus names."""
    (folder / "programs.py").write_text("\n" * 300, "utf-8")
    settings = {"sourceMap": {"/home/user/models": str(folder)}}
    return editor(types.ClientCapabilities(), folder / "log", settings)


def spoilt(text: str) -> str:
    """With too many blanks in an instruction, and with what nobody can read in another line."""
    lines = _INSTRUCTION.sub(r"\1   = ", text, count=1).split("\n")
    third = len(lines) // 3
    at = next(number for number in range(third, len(lines)) if lines[number].strip())
    lines[at] = f"?? {lines[at]}"
    return "\n".join(lines)


def as_printed(compiled: Compile) -> str:
    """Return the output of ``--xla_dump_to=-`` for a compile."""
    return "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}\n*** End {path.name} ***\n"
        for path in compiled.files
    )


async def is_answered(file: OpenFile, method: str) -> bool:
    """Whether a request has an answer with something in it anywhere in a file."""
    asking = [partial(ask, file, method, params) for params in questions(file, method)]
    for first in range(0, len(asking), _TOGETHER):
        answers = await asyncio.gather(*(one() for one in asking[first : first + _TOGETHER]))
        if any(answers):
            return True
    return False


async def ask(file: OpenFile, method: str, params: dict[str, Any]) -> bool:
    name = f"textDocument/{_METHODS.get(method, method)}"
    kind: Any = types.METHOD_TO_TYPES[name][2]
    question = _CONVERTER.structure(params, kind)
    protocol = file.editor.client.protocol
    try:
        answer = await file.editor.reply(protocol.send_request_async(name, question))
    except JsonRpcException as refusal:
        if refusal.code != types.LSPErrorCodes.RequestFailed:
            raise
        return False
    items = getattr(answer, "items", answer)
    return bool(getattr(items, "data", items))


def questions(file: OpenFile, method: str) -> Iterator[dict[str, Any]]:
    document = {"textDocument": {"uri": file.uri}}
    lines = file.text.lines
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": 0}}
    more = _MORE.get(method, {})
    if method in AT_PLACES:
        for place in places(lines):
            here = {"line": place[0], "character": place[1]}
            yield {**document, "position": here, "positions": [here], **more}
    else:
        yield {**document, "range": whole, **more}


def places(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Words all over a text: some in each of its lines, more at the beginning of long lines."""
    found = [
        (number, word.start() + 1)
        for number, line in enumerate(lines)
        for word in list(_WORD.finditer(line[:1000]))[:12]
    ]
    return iter(found[:: max(1, len(found) // _PLACES)])
