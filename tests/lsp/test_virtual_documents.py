"""Tests for the request for a proto as text."""

from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp.commands import inspect_place
from hlo_lsp.lsp.custom_requests import CompilePlace, FileParams
from hlo_lsp.lsp.memory_map import answer_memory_map
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.virtual_documents import answer_converted_text
from lsp.opened import context_in, item
from protos.messages import HLO_PROTO, MODULE_TEXT, serialized


async def converted_text(uri: str) -> str:
    answer = await answer_converted_text(Session(), FileParams(uri))
    text: str = answer["text"]
    return text


async def test_proto_is_converted_to_module_text(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(serialized("HloProto", HLO_PROTO))
    assert f"*** Begin m.txt ***\n{MODULE_TEXT.rstrip()}\n" in await converted_text(path.as_uri())


async def test_notes_above_a_proto_belong_to_its_compile(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(serialized("HloProto", HLO_PROTO))
    text = await converted_text(path.as_uri())
    session = Session()
    uri = f"hlo-text:{path}.txt"
    session.open(item(uri, text))
    last = text.count("\n") - 1
    for line in (0, 2, text[: text.index("%fusion = ")].count("\n"), last):
        answer = await answer_memory_map(session, CompilePlace(uri, line))
        assert answer is not None
    assert (
        await context_in(session, types.TextDocumentIdentifier(uri), 0) is None
    )  # such as a hover
    with pytest.raises(RequestFailedError, match="no information at this position"):
        await inspect_place(session, uri, types.Position(0, 0))


async def test_other_files_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(b"\x08\x01")
    with pytest.raises(RequestFailedError, match="not the proto of an HLO module"):
        await converted_text(path.as_uri())
    with pytest.raises(RequestFailedError, match="not a file"):
        await converted_text("untitled:m.hlo.pb")
