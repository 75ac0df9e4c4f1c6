"""The requests for remote folders and for files of other hosts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlo_lsp.lsp.client import path_of
from hlo_lsp.lsp.custom_requests import FileParams, UrlParams
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.remote_files import answer_fetch, answer_hosts, answer_remote_folder
from hlo_lsp.lsp.session import Session
from remote_servers import HttpFolder, http_folder

pytest.importorskip("aiohttp")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpFolder]:
    monkeypatch.setenv("HLO_LSP_CACHE", str(tmp_path))
    with http_folder({"/dumps/host_0/a.txt": b"0", "/dumps/host_1/a.txt": b"1"}) as folder:
        yield folder


async def test_opened_file_has_its_content(server: HttpFolder) -> None:
    found = await answer_remote_folder(UrlParams(f"{server.url}/dumps/"))
    uri = f"{found['uri']}/host_1/a.txt"
    path = path_of(uri)
    assert path is not None
    assert path.read_bytes() == b""
    await answer_fetch(Session(), FileParams(uri))
    assert path.read_bytes() == b"1"


async def test_file_has_its_folder(server: HttpFolder) -> None:
    found = await answer_remote_folder(UrlParams(f"{server.url}/dumps/host_0/a.txt"))
    assert found["uri"] == f"{found['folder']}/a.txt"


async def test_unreadable_url_is_an_error(server: HttpFolder) -> None:
    with pytest.raises(RequestFailedError, match=r"/none\.txt: no such file or folder"):
        await answer_remote_folder(UrlParams(f"{server.url}/none.txt"))


async def test_relative_path_is_an_error() -> None:
    with pytest.raises(RequestFailedError, match=r"^dumps: not a URL$"):
        await answer_remote_folder(UrlParams("dumps"))


async def test_unreadable_file_is_an_error(server: HttpFolder) -> None:
    found = await answer_remote_folder(UrlParams(f"{server.url}/dumps/host_0/a.txt"))
    server.faults["/dumps/host_0/a.txt"] = 403
    with pytest.raises(RequestFailedError, match=r"^a\.txt: HTTP 403; check the credentials$"):
        await answer_fetch(Session(), FileParams(found["uri"]))


async def test_other_hosts_are_listed(server: HttpFolder) -> None:
    found = await answer_remote_folder(UrlParams(f"{server.url}/dumps/"))
    (host,) = (await answer_hosts(FileParams(f"{found['uri']}/host_1/a.txt")))["hosts"]
    assert host == {"name": "host_0", "uri": f"{found['uri']}/host_0/a.txt", "isOther": None}


async def test_hosts_with_another_program_are_marked(tmp_path: Path) -> None:
    name = "module_0001.jit_f.cpu_after_optimizations.txt"
    text = "HloModule jit_f\n\nENTRY %main {\n  ROOT %x.1 = f32[8]{0} parameter(0)\n}\n"
    texts = (text, text.replace("x.1", "y"), text.replace("8", "9"))
    for number, one in enumerate(texts):
        (tmp_path / f"host_{number}").mkdir()
        (tmp_path / f"host_{number}" / name).write_text(one, "utf-8")
    answer = await answer_hosts(FileParams((tmp_path / "host_0" / name).as_uri()))
    assert [(host["name"], host["isOther"]) for host in answer["hosts"]] == [
        ("host_1", False),
        ("host_2", True),
    ]
