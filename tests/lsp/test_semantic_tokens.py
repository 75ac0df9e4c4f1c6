"""Semantic tokens of a document: full, by difference, and of some lines."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.semantic_tokens import LEGEND, MAX_FULL_ANSWER_CHARACTERS, SemanticTokens
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.shown_views import ShownView
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, item

URI = "untitled:dump"
DOCUMENT = types.TextDocumentIdentifier(URI)
FULL = types.SemanticTokensParams(DOCUMENT)


def since(result_id: str) -> types.SemanticTokensDeltaParams:
    return types.SemanticTokensDeltaParams(DOCUMENT, result_id)


MODULE = "HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] negate(%a)\n  ROOT %c = f32[] negate(%a)\n}\n"  # noqa: E501


async def ignore_refresh(_: None) -> None:
    """Do nothing, as a client that has no token on the screen."""


class TokensHarness:
    """A session with its tokens."""

    def __init__(self, text: str | None = DUMP, client: Client | None = None) -> None:
        self.session = Session()
        self.session.client = client or Client(can_refresh_tokens=True)
        view = ShownView(self.session, "can_refresh_tokens", ignore_refresh)
        self.tokens = SemanticTokens(self.session, view)
        if text is not None:
            self.session.open(item(URI, text))

    def edit(self, line: int, start: int, end: int, text: str) -> None:
        span = types.Range(types.Position(line, start), types.Position(line, end))
        change = types.TextDocumentContentChangePartial(span, text)
        document = types.VersionedTextDocumentIdentifier(2, URI)
        self.session.edit(types.DidChangeTextDocumentParams(document, [change]))

    async def lines(self, first: int, last: int) -> list[int] | None:
        span = types.Range(types.Position(first, 0), types.Position(last, 0))
        found = await self.tokens.range(types.SemanticTokensRangeParams(DOCUMENT, span))
        return None if found is None else list(found["data"])


def words(text: str, data: list[int]) -> list[str]:
    """Return the tokens as text, decoded in code points."""
    lines = text.split("\n")
    found = []
    line = start = 0
    for at in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[at : at + 5]
        line, start = (line + down, right) if down else (line, start + right)
        names = [LEGEND.token_types[kind]]
        names += [m for bit, m in enumerate(LEGEND.token_modifiers) if modifiers >> bit & 1]
        found.append(f"{lines[line][start : start + length]} {' '.join(names)}")
    return found


def applied(data: list[int], edits: list[dict[str, Any]]) -> list[int]:
    """Return the data after the edits of a delta."""
    for edit in edits:
        start = edit["start"]
        data = data[:start] + edit["data"] + data[start + edit["deleteCount"] :]
    return data


def test_legend_has_names_of_the_field() -> None:
    assert LEGEND.token_types == [
        "elementType", "opcode", "instruction", "computation", "attribute", "memorySpace", "tile",
        "number", "string", "comment",
    ]  # fmt: skip
    assert LEGEND.token_modifiers == ["declaration", "unused", "threadLocal"]


async def test_all_tokens_of_a_module() -> None:
    found = await TokensHarness(MODULE).tokens.full(FULL)
    assert found is not None
    assert words(MODULE, found["data"])[4:] == [
        "%a instruction declaration", "f32 elementType", "parameter opcode", "0 number",
        "%b instruction declaration unused", "f32 elementType", "negate opcode", "%a instruction",
        "%c instruction declaration", "f32 elementType", "negate opcode", "%a instruction",
    ]  # fmt: skip


async def test_range_has_the_tokens_of_its_lines() -> None:
    data = await TokensHarness(MODULE).lines(3, 4)
    assert data is not None
    assert data[0] == 3
    assert [word.split()[0] for word in words(MODULE, data)] == [
        "%a", "f32", "parameter", "0", "%b", "f32", "negate", "%a"
    ]  # fmt: skip
    assert await TokensHarness(MODULE).lines(90, 100) == []


@pytest.mark.parametrize(
    "edit",
    [
        (3, 2, 4, "%other"), (4, 0, 0, "\n\n"), (0, 0, 11, "HloModule n"), (2, 0, 0, " "),
        (5, 0, 28, ""),
    ],
)  # fmt: skip
async def test_deltas_lead_to_the_full_tokens(edit: tuple[int, int, int, str]) -> None:
    harness = TokensHarness(MODULE)
    first = await harness.tokens.full(FULL)
    assert first is not None
    harness.edit(*edit)
    changed = await harness.tokens.delta(since(first["resultId"]))
    whole = await harness.tokens.full(FULL)
    assert changed is not None
    assert whole is not None
    assert applied(first["data"], changed["edits"]) == whole["data"]
    assert sum(len(part["data"]) for part in changed["edits"]) < len(whole["data"])


async def test_nothing_changed_is_no_edit() -> None:
    harness = TokensHarness()
    first = await harness.tokens.full(FULL)
    assert first is not None
    again = await harness.tokens.delta(since(first["resultId"]))
    assert again is not None
    assert again["edits"] == []
    assert again["resultId"] != first["resultId"]


async def test_unknown_result_is_answered_in_full() -> None:
    harness = TokensHarness()
    first = await harness.tokens.full(FULL)
    assert first is not None
    for result_id in ("", "99", "x"):
        found = await harness.tokens.delta(since(result_id))
        assert found is not None
        assert found["data"] == first["data"]


async def test_results_of_closed_documents_are_forgotten() -> None:
    harness = TokensHarness()
    first = await harness.tokens.full(FULL)
    assert first is not None
    file = harness.session.close(URI)
    assert file is not None
    harness.tokens.closed(file)
    harness.session.open(item(URI, DUMP))
    assert "data" in (await harness.tokens.delta(since(first["resultId"])) or {})


async def test_other_file_has_no_tokens() -> None:
    for harness in (TokensHarness("plain text\n"), TokensHarness(None)):
        assert await harness.tokens.full(FULL) is None
        assert await harness.tokens.delta(since("1")) is None
        assert await harness.lines(0, 5) is None


async def test_large_document_has_range_and_delta_tokens() -> None:
    harness = TokensHarness(MODULE)
    first = await harness.tokens.full(FULL)
    assert first is not None
    harness.edit(0, 11, 11, ", k=" + "1" * MAX_FULL_ANSWER_CHARACTERS)
    assert await harness.tokens.full(FULL) is None
    assert await harness.tokens.delta(since("unknown")) is None
    assert len(await harness.lines(3, 3) or []) == 4 * 5
    changed = await harness.tokens.delta(since(first["resultId"]))
    assert changed is not None
    assert len(changed["edits"]) == 1


@pytest.mark.parametrize("encoding", Encoding)
async def test_columns_are_counted_as_the_client_does(encoding: Encoding) -> None:
    text = "BufferAssignment:\n      ├── jit(é)/𝄞 (33.3%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)\n"  # noqa: E501
    harness = TokensHarness(text, replace(Client(), encoding=encoding))
    found = await harness.tokens.full(FULL)
    assert found is not None
    data = found["data"]
    line = text.split("\n")[1]
    units = [(encoding.units(line, a), encoding.units(line[a:b], b - a)) for a, b in (
        (line.index("jit"), line.index(" (33")), (line.index("33.3"), line.index("%")),
        (line.index("16 b"), line.index(" bytes")),
    )]  # fmt: skip
    told, start = [], 0
    for at in range(0, 15, 5):
        start += data[at + 1]
        told.append((start, data[at + 2]))
    assert told == units


async def test_several_files_in_one_text() -> None:
    text = f"noise\n*** Begin a.txt ***\n{MODULE}*** End a.txt ***\nnoise\n*** Begin b-buffer-assignment.txt ***\n{DUMP}*** End b-buffer-assignment.txt ***\n"  # noqa: E501
    harness = TokensHarness(text)
    found = await harness.tokens.full(FULL)
    assert found is not None
    apart = [await TokensHarness(part).tokens.full(FULL) for part in (MODULE, DUMP)]
    assert words(text, found["data"]) == [
        word
        for part, one in zip((MODULE, DUMP), apart, strict=True)
        for word in words(part, one["data"] if one else [])
    ]
    data = await harness.lines(6, 6)
    assert [word.split()[0] for word in words(text, data or [])] == ["%b", "f32", "negate", "%a"]


@pytest.mark.parametrize("after", ["noise above is gone", "one file alone"])
async def test_sections_may_move_while_they_are_read(
    after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)
    part = f"*** Begin NAME ***\n{MODULE}*** End NAME ***\n"
    whole = "noise\n" * 9 + part.replace("NAME", "a.txt") + part.replace("NAME", "b.txt")
    harness = TokensHarness(whole)
    telling = asyncio.ensure_future(harness.tokens.full(FULL))
    for _ in range(12):
        await asyncio.sleep(0)
    assert not telling.done()
    file = harness.session.workspace.open_files[URI]
    file.changed(file.document.replace(whole.replace("noise\n", "")))
    await harness.lines(0, 0)
    text = whole.replace("noise\n", "")
    if after == "one file alone":
        text = MODULE
        file.changed(file.document.replace(text))
        await harness.lines(0, 0)
    told, fresh = await telling, await TokensHarness(text).tokens.full(FULL)
    assert told is not None
    assert fresh is not None
    assert told["data"] == fresh["data"]
