"""After random damage and edits, all answers are those of a server that reads the text afresh."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

import marked_dump
from hlo_lsp.text.document import common_prefix_length
from hostile.editor import Editor
from hostile.runs import MEMORY, MODULE, OOM, REPORT, STDOUT, THUNKS

_WHOLE = ("diagnostic", "documentSymbol", "semanticTokens/full", "foldingRange", "codeLens")
_AT_CURSOR = ("hover", "definition", "documentHighlight")
_CURSORS = 5
_TEXTS = [text.replace("«»", "") for text in (MEMORY, MODULE, OOM, REPORT, STDOUT, THUNKS)]
_TEXTS.append(marked_dump.MODULE.text)
_INSERTED = (
    "é", "𝔸", "\u202e", "\0", "{", "}", "(", ")", '"', "\\", "/*", "*/", "\n", "\t", "%", "=", "<",
    "->", "│", "9" * 30, "*** Begin module_0001.f.txt ***\n",
)  # fmt: skip
_SEEDS = 60


@pytest.fixture(scope="module")
def editors() -> Iterator[tuple[Editor, Editor]]:
    both = Editor(), Editor()
    yield both
    for editor in both:
        editor.close()


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_answers_after_edits_equal_fresh_answers(editors: tuple[Editor, Editor], seed: int) -> None:
    rng = random.Random(seed)
    versions = [rng.choice(_TEXTS)]
    for _ in range(rng.choice((1, 2, 4))):
        versions.append(damaged(rng, versions[-1]))
    if rng.random() < 0.3:
        versions.append(versions[-2])  # an edit is undone
    assert_fresh_answers(editors, f"untitled:{seed}", versions)


_ENTRY = "<{0} {1} @0>\n positions:\n  {1}\n uses:\n from instruction: %{1} = u32[] {2}\n"
_ENTRIES = "".join(
    [_ENTRY.format(17, "t", "after-all()"), _ENTRY.format(16, "r", "after-all()"),
     _ENTRY.format(19, "s", "send(%x, %t)")]
)  # fmt: skip
# Shortened from real dumps for which the answers differed.
FOUND = {
    "another entry of an instruction before the first": [
        _ENTRIES, _ENTRY.format(20, "s", "send(%x,)") + _ENTRIES
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_edits_that_once_gave_other_answers(editors: tuple[Editor, Editor], name: str) -> None:
    assert_fresh_answers(editors, f"untitled:{name}", FOUND[name])


def assert_fresh_answers(editors: tuple[Editor, Editor], uri: str, versions: Sequence[str]) -> None:
    """Open a text, change it into each of the others, and compare with a fresh server."""
    edited, fresh = editors
    open_text(edited, uri, versions[0])
    for before, after in pairwise(versions):
        for method in _WHOLE:
            answer(edited, method, uri)
        change_text(edited, uri, before, after)
    open_text(fresh, uri, versions[-1])
    for method in _WHOLE:
        assert answer(edited, method, uri) == answer(fresh, method, uri), method
    rng = random.Random(uri)
    for _ in range(_CURSORS):
        cursor = position(versions[-1], rng.randrange(len(versions[-1]) + 1))
        for method in _AT_CURSOR:
            found, expected = (answer(one, method, uri, position=cursor) for one in editors)
            assert found == expected, (method, cursor)
    for editor in editors:
        editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def damaged(rng: random.Random, text: str) -> str:
    """Return a text with a part deleted, doubled, inserted, replaced, or moved."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice((1, 2, 5, 20, 100)))
    other = rng.choice(_TEXTS)
    at = rng.randrange(len(other))
    lines = text.split("\n")
    first, second = (rng.randrange(len(lines)) for _ in range(2))
    match rng.randrange(6):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:]
        case 2:
            return text[:start] + rng.choice(_INSERTED) + text[start:]
        case 3:
            return text[:start] + other[at : at + rng.choice((20, 300))] + text[end:]
        case 4:
            lines[first], lines[second] = lines[second], lines[first]
        case _:
            lines.insert(first, lines[second])
    return "\n".join(lines)


def open_text(editor: Editor, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", {"textDocument": document})


def change_text(editor: Editor, uri: str, before: str, after: str) -> None:
    """Send the part that differs."""
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


def answer(editor: Editor, method: str, uri: str, **params: Any) -> Any:
    """Return a result, with the diagnostics in a fixed order."""
    reply = editor.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, **params})
    result = reply.get("result", reply.get("error"))
    if isinstance(result, dict):
        result.pop("resultId", None)
        if "items" in result:
            result["items"].sort(key=json.dumps)
    return result
