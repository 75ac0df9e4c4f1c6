"""The request for the text of a proto."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.virtual_documents import answer_converted_text
from protos.messages import HLO_PROTO, MODULE_TEXT, serialized


async def ask(uri: str) -> str:
    answer = await answer_converted_text(Session(), SimpleNamespace(uri=uri))
    text: str = answer["text"]
    return text


async def test_protos(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(serialized("HloProto", HLO_PROTO))
    assert f"*** Begin m.txt ***\n{MODULE_TEXT.rstrip()}\n" in await ask(path.as_uri())


async def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(b"\x08\x01")
    with pytest.raises(RequestFailedError, match="not the proto of an HLO module"):
        await ask(path.as_uri())
    with pytest.raises(RequestFailedError, match="not a file"):
        await ask("untitled:m.hlo.pb")
