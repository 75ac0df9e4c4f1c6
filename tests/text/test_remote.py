"""Remote files as local paths, from a real HTTP server with faults."""

import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.text import downloads, file_systems, pages, remote_cache
from hlo_lsp.text.disk import UnreadableError, file_stamp, open_regular_file, read_document
from hlo_lsp.text.downloads import Downloads, trim
from hlo_lsp.text.file_systems import RemoteFile
from hlo_lsp.text.pulling import NotReplacedError, Pulled, pull
from hlo_lsp.text.remote import is_url, local_path, open_remote, read_ahead, shown
from hlo_lsp.text.remote_errors import NO_ANSWER, RemoteError
from hlo_lsp.text.remote_names import public
from remote_servers import HttpFolder, http_folder

pytest.importorskip("aiohttp")
fsspec = pytest.importorskip("fsspec")
NAMES = st.characters(codec="utf-8", exclude_characters="/\0")
FILES = {
    "/dumps/host_0/a.txt": b"HloModule a\n",
    "/dumps/host_0/b.txt": b"HloModule b\n" * 1000,
    "/dumps/host_1/a%20b.txt": b"HloModule c\n",
    "/other/d.txt": b"HloModule d\n",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache."""
    monkeypatch.setenv("HLO_LSP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hlo-lsp-remote"


@pytest.fixture
def server() -> Iterator[HttpFolder]:
    with http_folder(dict(FILES)) as folder:
        yield folder


def text(path: Path) -> str:
    return read_document(path).text


def problem(path: Path) -> str:
    with pytest.raises(UnreadableError) as error:
        read_document(path)
    return str(error.value)


def test_folder_has_the_names_of_its_files(server: HttpFolder) -> None:
    top = local_path(f"{server.url}/dumps/")
    names = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
    assert names == {"host_0/a.txt", "host_0/b.txt", "host_1/a b.txt"}
    assert server.reads() == []


def test_only_opened_file_is_read(server: HttpFolder) -> None:
    top = local_path(f"{server.url}/dumps/")
    assert text(top / "host_1" / "a b.txt") == "HloModule c\n"
    assert text(top / "host_1" / "a b.txt") == "HloModule c\n"
    assert server.reads() == ["/dumps/host_1/a%20b.txt"]


def test_stamp_is_the_same_before_and_after_reading(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "b.txt"
    before = file_stamp(path)
    text(path)
    assert before == file_stamp(path)
    assert before is not None
    assert before[1] == len(FILES["/dumps/host_0/b.txt"])


def test_unchanged_file_is_read_once(server: HttpFolder) -> None:
    for _ in range(2):
        text(local_path(f"{server.url}/dumps/") / "host_0" / "a.txt")
    assert server.reads() == ["/dumps/host_0/a.txt"]


def test_changed_file_of_the_same_size_is_read_again(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "a.txt"
    text(path)
    server.files["/dumps/host_0/a.txt"] = b"HloModule z\n"
    assert text(path) == "HloModule a\n"  # until the folder is listed again
    local_path(f"{server.url}/dumps/")
    assert text(path) == "HloModule z\n"


def test_file_without_version_is_read_again(server: HttpFolder) -> None:
    server.versions = False
    for _ in range(2):
        text(local_path(f"{server.url}/dumps/") / "host_0" / "a.txt")
    assert server.reads() == ["/dumps/host_0/a.txt"] * 2


def test_file_that_grew_after_the_list_is_complete(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "a.txt"
    server.files["/dumps/host_0/a.txt"] = b"HloModule a\n" * 2
    assert text(path) == "HloModule a\n" * 2
    assert file_stamp(path) == (path.stat().st_mtime_ns, 24)


def test_deleted_file_leaves_the_folder(server: HttpFolder) -> None:
    top = local_path(f"{server.url}/dumps/")
    del server.files["/dumps/host_0/a.txt"]
    del server.files["/dumps/host_1/a%20b.txt"]
    local_path(f"{server.url}/dumps/")
    assert [path.name for path in top.rglob("*")] == ["host_0", "b.txt"]


def test_file_has_the_files_beside_it(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/host_0/a.txt")
    assert text(path) == "HloModule a\n"
    assert text(path.with_name("b.txt")).startswith("HloModule b\n")


def test_file_of_a_server_without_lists(server: HttpFolder) -> None:
    server.lists = False
    paths = [local_path(f"{server.url}/dumps/host_0/{name}.txt") for name in "ab"]
    assert [text(path)[:11] for path in paths] == ["HloModule a", "HloModule b"]


def test_folder_of_a_server_without_lists(server: HttpFolder) -> None:
    server.files.update({"/empty": b"<html>", "/empty/": b"<html>"})
    with pytest.raises(RemoteError, match=r"/empty/: the server lists no files here; give the URL"):
        local_path(f"{server.url}/empty/")


def test_signature_is_part_of_the_url_only(server: HttpFolder) -> None:
    server.files["/x.txt?key=secret/2"] = b"HloModule x\n"
    path = local_path(f"{server.url}/x.txt?key=secret/2")
    assert (path.name, text(path), shown(path)) == ("x.txt", "HloModule x\n", f"{server.url}/x.txt")


def test_urls_with_other_queries_have_their_own_files(server: HttpFolder) -> None:
    for version in "12":
        server.files[f"/x.txt?v={version}"] = f"HloModule x{version}\n".encode()
    paths = [local_path(f"{server.url}/x.txt?v={version}") for version in "12"]
    assert [text(path) for path in paths] == ["HloModule x1\n", "HloModule x2\n"]


def list_in_another_process(url: str) -> None:
    code = "import sys; from hlo_lsp.text.remote import local_path; local_path(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, url], check=True)


def test_other_process_keeps_files_of_a_server_without_lists(server: HttpFolder) -> None:
    server.lists = False
    path = local_path(f"{server.url}/dumps/host_0/a.txt")
    list_in_another_process(f"{server.url}/dumps/host_0/b.txt")
    assert text(path) == "HloModule a\n"


def test_list_of_another_process_replaces_versions(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/host_0/") / "a.txt"
    for content in ("HloModule second", "HloModule third"):
        server.files["/dumps/host_0/a.txt"] = f"{content}\n".encode()
        list_in_another_process(f"{server.url}/dumps/host_0/")
        assert text(path) == f"{content}\n"


def test_file_that_becomes_a_folder_is_replaced(server: HttpFolder) -> None:
    server.files["/dumps/new"] = b"HloModule a\n"
    assert text(local_path(f"{server.url}/dumps/") / "new") == "HloModule a\n"
    del server.files["/dumps/new"]
    server.files["/dumps/new/a.txt"] = b"HloModule b\n"
    assert text(local_path(f"{server.url}/dumps/") / "new" / "a.txt") == "HloModule b\n"


def test_path_is_shown_as_url(server: HttpFolder) -> None:
    top = local_path(f"{server.url}/dumps/")
    assert shown(top / "host_0" / "a.txt") == f"{server.url}/dumps/host_0/a.txt"
    assert shown(top) == f"{server.url}/dumps/"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (403, "HTTP 403; check the credentials"),
        (404, "no such file or folder"),
        (500, "HTTP 500"),
        ("truncated", "the connection was lost"),
        ("silent", "the server did not answer in time"),
    ],
)
def test_fault_is_one_sentence(
    server: HttpFolder, fault: int | str, message: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "b.txt"
    server.faults["/dumps/host_0/b.txt"] = fault
    with monkeypatch.context() as patch:
        if fault == "silent":
            patch.setattr(file_systems, "_READ_SECONDS", 0.2)
        assert problem(path) == f"{server.url}/dumps/host_0/b.txt: {message}"
    assert path.stat().st_size == 0
    assert not list((cache / "partial").iterdir())
    server.faults.clear()
    assert len(text(path)) == 12_000


def list_problem(url: str) -> str:
    with pytest.raises(RemoteError) as error:
        local_path(url)
    return str(error.value)


def test_silent_folder_is_asked_twice(server: HttpFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    server.faults["/dumps/"] = "silent"
    monkeypatch.setattr(file_systems, "_READ_SECONDS", 0.2)
    assert list_problem(f"{server.url}/dumps/") == f"{server.url}/dumps/: {NO_ANSWER}"
    assert server.requests == [("GET", "/dumps/")] * 2


def test_lost_file_is_read_twice(server: HttpFolder) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "b.txt"
    server.faults["/dumps/host_0/b.txt"] = "truncated"
    server.requests.clear()
    problem(path)
    assert server.reads() == ["/dumps/host_0/b.txt"] * 2


def test_folder_is_listed_without_answers_about_files(
    server: HttpFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.heads = False
    server.files.update({f"/many/{number}.txt": b"HloModule a" for number in range(100)})
    monkeypatch.setattr(file_systems, "_READ_SECONDS", 0.2)
    monkeypatch.setattr(file_systems, "_HEAD_REQUESTS", 4)
    server.faults.update({f"/many/{number}.txt": "silent" for number in range(100)})
    assert len(list(local_path(f"{server.url}/many/").iterdir())) == 100
    assert sum(method == "HEAD" for method, _ in server.requests) < 20


def test_package_that_waits_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(*_: object, **__: object) -> None:
        Event().wait()

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "info", wait)
    monkeypatch.setattr(file_systems, "_ANSWER_SECONDS", 0.2)
    assert list_problem("memory://x") == f"memory://x: {NO_ANSWER}"


def test_first_page_that_never_ends_is_given_up(
    server: HttpFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.faults["/dumps/"] = "silent"
    monkeypatch.setattr(file_systems, "_ANSWER_SECONDS", 0.2)
    assert list_problem(f"{server.url}/dumps/") == f"{server.url}/dumps/: {NO_ANSWER}"


def test_endless_folders_are_given_up(server: HttpFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    server.endless = "/dumps/"
    monkeypatch.setattr(file_systems, "_LIST_SECONDS", 0.5)
    assert list_problem(f"{server.url}/dumps/") == (
        f"{server.url}/dumps/: listing the files takes too long; give the URL of one of the folders"
    )


def test_long_page_is_not_kept(server: HttpFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MAX_PAGE_BYTES", 20)
    assert "a page of the server is too large" in list_problem(f"{server.url}/dumps/")


def test_number_of_links_has_a_limit(server: HttpFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_systems, "MAX_LINKS", 4)  # two folders with three files
    assert "the server lists more than " in list_problem(f"{server.url}/dumps/")
    assert text(local_path(f"{server.url}/dumps/host_0/a.txt")) == "HloModule a\n"


def test_endless_file_is_given_up(
    server: HttpFolder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "b.txt"
    server.files["/dumps/host_0/b.txt"] *= 10
    monkeypatch.setattr(file_systems, "_MAX_GROWTH_BYTES", 1000)
    assert "b.txt: the file does not end after " in problem(path)
    assert not list((cache / "partial").iterdir())


def test_file_that_is_too_slow_is_given_up(
    server: HttpFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "b.txt"
    with monkeypatch.context() as patch:
        patch.setattr(file_systems, "_WINDOW_SECONDS", -1)
        assert problem(path).endswith(NO_ANSWER)  # it has less than 32 KiB
    assert len(text(path)) == 12_000


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("{server}/none.txt", "no such file or folder"),
        ("{server}/none/", "no such file or folder"),
        ("http://127.0.0.1:1/x/", "Cannot connect to host"),
        ("http://127.0.0.1:1/x.txt", "Cannot connect to host"),
        ("nothing://x/y", "Protocol not known: nothing"),
        ("memory://none", "no such file or folder"),
        pytest.param(
            "gs://x/y",
            "install gcsfs",
            marks=pytest.mark.skipif(find_spec("gcsfs") is not None, reason="gcsfs is installed"),
        ),
    ],
)
def test_wrong_url_is_one_sentence(server: HttpFolder, url: str, message: str) -> None:
    url = url.format(server=server.url)
    with pytest.raises(RemoteError) as error:
        local_path(url)
    assert str(error.value).startswith(f"{url}: ")
    assert message in str(error.value)


class HttpError(Exception):
    """An error of gcsfs or paramiko, which are not installed here."""

    code: int | None = None


_DENIED = "x@y.z does not have storage.objects.list access"
_ANONYMOUS = "Anonymous caller does not have storage.objects.list access., 401"
_RANGES = "The server doesn't appear to support range requests"
_UNTRUSTED = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (401, _ANONYMOUS, f"{_ANONYMOUS}; check the credentials"),
        (None, "give an account with credentials", "give an account with credentials; check the"),
        (None, f"Forbidden: b/x/o\n{_DENIED}", "Forbidden: b/x/o; check the credentials"),
        (404, "x/credentials", "no such file or folder"),
        (503, "backend, 503", "backend, 503"),
        (None, "No authentication methods available", "No authentication methods available; check"),
        (None, f"{_RANGES}. O", f"{_RANGES}. O; copy the archive to this machine"),
        (None, "Socket is closed", "the connection was lost"),
        (None, "Error reading SSH protocol banner", "Error reading SSH protocol banner"),
        (None, f"Cannot connect to x [Error: (1, '{_UNTRUSTED}')]", "Cannot connect to x [Error: "),
        (None, _UNTRUSTED, f"{_UNTRUSTED}; name the authority of the certificate with SSL_CERT"),
    ],
)
def test_error_of_a_provider_is_one_sentence(
    code: int | None, error: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        failure = HttpError(error)
        failure.code = code
        raise failure

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "info", fail)
    with pytest.raises(RemoteError) as found:
        local_path("memory://x")
    assert str(found.value).startswith(f"memory://x: {message}")


def test_lost_connection_of_ssh_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ssh(fsspec.get_filesystem_class("memory")):  # type: ignore[misc]
        """A file system with the interface of fsspec's."""

        protocol = "ssh"
        cachable = True

        def __init__(self, **options: object) -> None:
            super().__init__(**options)
            self.ftp = self
            self.closed = False

        def get_channel(self) -> "Ssh":
            return self

        def settimeout(self, seconds: float) -> None:
            assert seconds > 0

    monkeypatch.setitem(import_module("fsspec.registry")._registry, "ssh", Ssh)
    first, same = (file_systems.file_system("ssh://a/b")[0] for _ in range(2))
    assert first is same
    first.closed = True
    assert file_systems.file_system("ssh://a/b")[0] is not first


@pytest.mark.parametrize("package", ["fsspec", "azure", "google", "paramiko"])
def test_log_of_a_file_system_is_not_printed(package: str) -> None:
    with pytest.raises(RemoteError):
        local_path("memory://none")
    kinds = {type(handler) for handler in logging.getLogger(package).handlers}
    assert kinds == {logging.NullHandler}


@pytest.mark.parametrize("name", ["ab::y", "C:", "C:/x", "a:b", "://x", "::", "s3:/b", "x/y://z"])
def test_local_name_is_not_a_url(name: str) -> None:
    assert not is_url(name)
    assert local_path(name) == Path(name)


def test_protocols_are_in_any_case(server: HttpFolder) -> None:
    url = server.url.replace("http", "HTTP")
    assert local_path(f"{url}/dumps/") == local_path(f"{server.url}/dumps/")
    assert public("HTTPS://user:secret@host/x") == "https://user:***@host/x"


def test_unwritable_cache_is_one_sentence(
    server: HttpFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HLO_LSP_CACHE", str(tmp_path / "file"))
    with pytest.raises(RemoteError) as error:
        local_path(f"{server.url}/dumps/")
    assert str(error.value) == (
        f"{server.url}/dumps/: cannot write to the cache {tmp_path / 'file'}: File exists;"
        " set HLO_LSP_CACHE to another folder"
    )


@pytest.mark.parametrize(
    ("module", "url", "reason", "package"),
    [
        ("fsspec.core", "s3://b/x", "reading URLs requires fsspec", "fsspec[http]"),
        ("adlfs", "az://b/x", "Install adlfs to access Azure Datalake Gen2 and", "adlfs"),
        ("paramiko", "ssh://h/x", 'SFTPFileSystem requires "paramiko"', "paramiko"),
        ("aiohttp", "https://h/x", "", "aiohttp"),
    ],
)
def test_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, url: str, reason: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)
    monkeypatch.setattr(sys, "executable", "/an env/bin/python")
    with pytest.raises(RemoteError) as error:
        local_path(url)
    assert str(error.value).startswith(f"{url}: {reason}")
    assert str(error.value).endswith(f': "/an env/bin/python" -m pip install "{package}"')


def test_member_of_an_archive_that_expands_to_too_much_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "x.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("run/m.txt", bytes(3 << 20))
    folder = local_path(f"zip://run::file://{tmp_path / 'x.zip'}")
    with pytest.raises(UnreadableError, match="more than 200 times larger than the compressed"):
        read_document(folder / "m.txt")


def test_names_outside_of_the_folder_are_left_out(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("run/../../../out.txt", "HloModule a")
        archive.writestr("run/in.txt", "HloModule b")
    with pytest.raises(RemoteError, match="cannot be a path in the cache"):
        local_path(f"zip://run/..::file://{tmp_path / 'x.zip'}")
    top = local_path(f"zip://::file://{tmp_path / 'x.zip'}")
    assert top == local_path(f"zip::file://{tmp_path / 'x.zip'}")
    assert [path.name for path in top.rglob("*.txt")] == ["in.txt"]
    assert text(top / "run" / "in.txt") == "HloModule b"


@pytest.mark.parametrize(
    ("url", "shown_url"),
    [
        ("https://user:secret@host/x.txt?key=a:b", "https://user:***@host/x.txt"),
        ("https://user:se@cret@host/x.txt", "https://user:***@host/x.txt"),
        ("https://token@host/x.txt#sig=a", "https://***@host/x.txt"),
        ("ssh://user@host/x.txt", "ssh://user@host/x.txt"),
        ("zip://x::https://host/a.zip?key=b", "zip://x::https://host/a.zip"),
        ("s3://bucket/a b", "s3://bucket/a b"),
    ],
)
def test_secrets_are_not_shown(url: str, shown_url: str) -> None:
    assert public(url) == shown_url


@given(st.dictionaries(st.text(NAMES, min_size=1, max_size=8), st.binary(max_size=8), min_size=1))
@example({"::": b"", "a:b:": b"1", "::c": b"2"})
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_file_has_its_content(files: dict[str, bytes]) -> None:
    files = {name: data for name, data in files.items() if name not in {".", ".."}} or {"a": b""}
    server = fsspec.filesystem("memory")
    server.pipe({f"/any/x/{name}": data for name, data in files.items()})
    try:
        top = local_path("memory://any")
        found = {path.name: path for path in (top / "x").iterdir()}
        assert found.keys() == files.keys()
        for name, path in found.items():
            with open_regular_file(path) as file:
                assert file.read() == files[name]
    finally:
        server.rm("/any", recursive=True)


def test_file_url_is_the_path_itself(tmp_path: Path) -> None:
    assert local_path(tmp_path.as_uri()) == tmp_path


def test_files_ahead_are_read_meanwhile(server: HttpFolder) -> None:
    top = local_path(f"{server.url}/dumps/")
    paths = sorted(top.rglob("*.txt"))
    ahead = read_ahead(compiles_below(top), lambda compile_: [compile_.path])
    assert sorted(compile_.path for compile_ in ahead) == paths
    for path in paths:
        text(path)
    assert len(server.reads()) == len(paths)


def test_cache_keeps_the_last_files(
    server: HttpFolder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = local_path(f"{server.url}/dumps/")
    first, second = top / "host_0" / "b.txt", top / "host_0" / "a.txt"
    for path in (first, second):
        text(path)
    os.utime(first, ns=(0, first.stat().st_mtime_ns))  # the time of its last use
    other = cache / "trees" / "other.txt"
    other.write_text("of another program", "utf-8")
    trim(cache, 100, lambda path: path != other)
    assert other.stat().st_size
    assert (first.stat().st_size, second.stat().st_size) == (0, 12)
    assert len(text(first)) == 12_000


def test_cache_of_another_user_is_not_used(server: HttpFolder, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    cache.parent.mkdir()
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RemoteError, match=f"the cache is not private, because {cache} is a link"):
        local_path(f"{server.url}/dumps/")
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_cache_is_created_private(server: HttpFolder, cache: Path) -> None:
    local_path(f"{server.url}/dumps/")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (cache, cache.parent)} == {0o700}


@pytest.mark.parametrize("link", ["trees", "http/x", "a file"])
def test_links_in_the_cache_are_not_followed(
    server: HttpFolder, cache: Path, tmp_path: Path, link: str
) -> None:
    top = local_path(f"{server.url}/dumps/")
    outside = tmp_path / "outside"
    (outside / "host_0").mkdir(parents=True)
    kept = outside / "host_0" / "kept.txt"
    kept.write_text("of the user", "utf-8")
    os.utime(kept, ns=(0, (top / "host_0" / "a.txt").stat().st_mtime_ns))
    if link == "a file":
        (top / "host_0" / "a.txt").unlink()
        (top / "host_0" / "a.txt").symlink_to(kept)
        assert text(top / "host_0" / "a.txt") == "HloModule a\n"
        trim(cache, 0, lambda _: True)
    else:
        replaced = top if link == "http/x" else cache / "trees"
        replaced.rename(tmp_path / "removed")
        replaced.symlink_to(outside)
        with pytest.raises(RemoteError, match=r"cannot write to the cache .* is a link"):
            local_path(f"{server.url}/dumps/")
    assert [*outside.rglob("*.*")] == [kept]
    assert kept.read_text("utf-8") == "of the user"


def test_relative_cache_is_refused(
    server: HttpFolder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = local_path(f"{server.url}/dumps/")
    monkeypatch.chdir(cache.parent)
    monkeypatch.setenv("HLO_LSP_CACHE", ".")
    server.requests.clear()
    assert remote_cache.remote_file(top / "host_0" / "a.txt") is None
    with pytest.raises(RemoteError, match="HLO_LSP_CACHE must be an absolute path"):
        local_path(f"{server.url}/dumps/")


def test_lists_in_a_cache_of_others_are_not_read(server: HttpFolder, cache: Path) -> None:
    top = local_path(f"{server.url}/dumps/")
    remote_cache._state.trusted.clear()
    cache.chmod(0o777)
    assert remote_cache.remote_file(top / "host_0" / "a.txt") is None


@pytest.mark.parametrize("content", ["[]", '{"url": "x"}', '{"url": "x", "files": {"a": [1]}}'])
def test_damaged_list_is_none(server: HttpFolder, cache: Path, content: str) -> None:
    path = local_path(f"{server.url}/dumps/") / "host_0" / "a.txt"
    for one in (cache / "lists").iterdir():
        one.write_text(content, "utf-8")
    assert remote_cache.remote_file(path) is None


def test_folder_of_dumps_is_no_cache(
    server: HttpFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = local_path(f"{server.url}/dumps/")
    monkeypatch.setenv("HLO_LSP_CACHE", str(tmp_path / "another"))
    server.requests.clear()
    assert file_stamp(top / "host_0" / "a.txt") is not None
    with pytest.raises((UnreadableError, OSError)) if os.getuid() else nullcontext():
        assert text(top / "host_0" / "a.txt") == ""
    assert server.requests == []


def test_small_cache_still_has_each_file(
    server: HttpFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLO_LSP_CACHE_GIB", "0")
    top = local_path(f"{server.url}/dumps/")
    assert all(text(path) for path in top.rglob("*.txt"))


def pulled(url: str, folder: Path, *, force: bool = False) -> Pulled:
    return pull(url, folder, lambda name: name.endswith(".txt"), force=force)


def test_pull_copies_what_is_not_there(server: HttpFolder, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert pulled(f"{server.url}/dumps/", copy) == Pulled(copied=3)
    server.files["/dumps/host_0/a.txt"] = b"HloModule z\n"
    assert pulled(f"{server.url}/dumps/", copy) == Pulled(copied=1, current=2)
    assert (copy / "host_0" / "a.txt").read_text() == "HloModule z\n"
    assert sorted(path.name for path in copy.glob("[!.]*")) == ["host_0", "host_1"]


def test_pull_leaves_other_files_out(server: HttpFolder, tmp_path: Path) -> None:
    for name in (".git/config", ".a.txt", "host_0/.vscode/a.txt", "train.py", "host_0/Makefile"):
        server.files[f"/dumps/{name}"] = b"x"
    assert pulled(f"{server.url}/dumps/", tmp_path) == Pulled(copied=3, left_out=5)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    files = {"host_0/a.txt", "host_0/b.txt", "host_1/a b.txt"}
    assert found == {".hlo-lsp-pulled.json", *files}


@pytest.mark.parametrize("name", ["-a.txt", "--force/a.txt", "a%0Ab.txt", "a%C2%A0b.txt"])
def test_pull_refuses_names_that_act(server: HttpFolder, tmp_path: Path, name: str) -> None:
    server.files[f"/dumps/{name}"] = b"HloModule e\n"
    found = pulled(f"{server.url}/dumps/", tmp_path)
    reason = "not copied, because a name begins with a hyphen or is not printable"
    assert [one.strerror for one in found.errors.values()] == [reason]
    assert found.copied == 3


def test_pull_replaces_no_file_of_others(server: HttpFolder, tmp_path: Path) -> None:
    url = f"{server.url}/dumps/"
    own, changed = tmp_path / "host_0" / "a.txt", tmp_path / "host_0" / "b.txt"
    own.parent.mkdir()
    own.write_text("own")
    assert [*pulled(url, tmp_path).errors] == [f"{url}host_0/a.txt"]
    changed.write_text("changed")
    server.files["/dumps/host_0/b.txt"] = b"HloModule z\n"
    found = pulled(url, tmp_path)
    assert {type(one) for one in found.errors.values()} == {NotReplacedError}
    assert {one.strerror for one in found.errors.values()} == {
        f"not copied, because {path} was not written by this command, or has changed"
        for path in (own, changed)
    }
    assert (own.read_text(), changed.read_text()) == ("own", "changed")
    assert pulled(url, tmp_path, force=True) == Pulled(copied=2, current=1)
    assert (own.read_text(), changed.read_text()) == ("HloModule a\n", "HloModule z\n")


def test_pull_looks_again_before_it_writes(server: HttpFolder, tmp_path: Path) -> None:
    copy, outside = tmp_path / "copy", tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("outside")

    def swap(*_: int) -> None:
        if not (copy / "host_0").is_symlink():
            (copy / "host_0").rename(copy / "moved")
            (copy / "host_0").symlink_to(outside)
            (copy / "host_1" / "a b.txt").write_text("own")

    found = pull(f"{server.url}/dumps/", copy, lambda name: name.endswith(".txt"), swap)
    assert (found.copied, len(found.errors)) == (0, 3)
    assert (outside / "a.txt").read_text() == "outside"
    assert (copy / "host_1" / "a b.txt").read_text() == "own"


def test_pull_takes_no_equal_file_for_its_own(server: HttpFolder, tmp_path: Path) -> None:
    url = f"{server.url}/dumps/"
    pulled(url, tmp_path)
    (tmp_path / ".hlo-lsp-pulled.json").unlink()
    assert pulled(url, tmp_path) == Pulled(current=3)
    server.files["/dumps/host_0/a.txt"] = b"HloModule z\n"
    assert [*pulled(url, tmp_path).errors] == [f"{url}host_0/a.txt"]


def test_pull_copies_the_file_of_a_url(server: HttpFolder, tmp_path: Path) -> None:
    found = pull(f"{server.url}/dumps/host_0/a.txt", tmp_path, lambda _: False)
    assert found == Pulled(copied=1)


def test_download_without_progress_ends(
    server: HttpFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_systems, "_WINDOW_SECONDS", 0.1)
    monkeypatch.setattr(file_systems, "_PROGRESS_SECONDS", 0.02)
    server.faults["/dumps/host_0/b.txt"] = "silent"
    found = pulled(f"{server.url}/dumps/", tmp_path / "copy")
    reasons = [one.strerror for url, one in found.errors.items() if url.endswith("b.txt")]
    assert NO_ANSWER in reasons


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("link", ["host_0", "host_0/a.txt"])
def test_pull_follows_no_link(
    server: HttpFolder, tmp_path: Path, link: str, *, force: bool
) -> None:
    copy, outside = tmp_path / "copy", tmp_path / "outside"
    (copy / link).parent.mkdir(parents=True)
    outside.mkdir()
    target = outside / "file.txt" if link.endswith(".txt") else outside
    (copy / link).symlink_to(target)
    found = pulled(f"{server.url}/dumps/", copy, force=force)
    reason = f"not copied, because {copy / 'host_0/a.txt'} is a link, or in one"
    assert reason in [one.strerror for one in found.errors.values()]
    assert not [*outside.iterdir()]


def test_pull_takes_no_record_from_the_server(server: HttpFolder, tmp_path: Path) -> None:
    (tmp_path / "host_0").mkdir()
    own = tmp_path / "host_0" / "a.txt"
    own.write_text("own")
    status = own.stat()
    record = {"host_0/a.txt": [status.st_mtime_ns, status.st_size]}
    server.files["/dumps/.hlo-lsp-pulled.json"] = json.dumps(record).encode()
    for _ in range(2):
        assert len(pulled(f"{server.url}/dumps/", tmp_path).errors) == 1
    assert own.read_text() == "own"


def test_pull_writes_no_half_file(server: HttpFolder, tmp_path: Path) -> None:
    server.faults["/dumps/host_0/b.txt"] = "truncated"
    found = pulled(f"{server.url}/dumps/", tmp_path / "copy")
    assert found.copied == 2
    assert [(url, error.strerror) for url, error in found.errors.items()] == [
        (f"{server.url}/dumps/host_0/b.txt", "the connection was lost")
    ]
    assert not (tmp_path / "copy" / "host_0" / "b.txt").exists()


def test_pull_gives_up_a_server_that_does_not_answer(
    server: HttpFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[object] = []
    starts: list[object] = []
    are_all_started = Event()
    start = Downloads.start

    def start_and_count(self: Downloads, *arguments: Any) -> Future[RemoteFile]:
        starts.append(arguments)
        found = start(self, *arguments)
        if len(starts) == 100:
            are_all_started.set()
        return found

    def wait_in_vain(*arguments: object) -> None:
        are_all_started.wait()
        attempts.append(arguments)
        raise RemoteError(NO_ANSWER)

    server.files.update({f"/many/{number}.txt": b"HloModule a" for number in range(100)})
    monkeypatch.setattr(Downloads, "start", start_and_count)
    monkeypatch.setattr(downloads, "download", wait_in_vain)
    found = pulled(f"{server.url}/many/", tmp_path / "copy")
    assert (found.copied, found.current, len(found.errors)) == (0, 0, 100)
    assert {error.strerror for error in found.errors.values()} == {NO_ANSWER}
    assert len(attempts) < 60
    attempts.clear()
    assert len(pulled(f"{server.url}/dumps/", tmp_path / "other").errors) == len(attempts) == 3


def test_pull_keeps_incomplete_files_of_others(server: HttpFolder, tmp_path: Path) -> None:
    of_another, left_over = (tmp_path / f".hlo-lsp-partial-{name}" for name in "ab")
    for folder in (of_another, left_over):
        folder.mkdir()
        (folder / "a").write_text("HloM")
    os.utime(left_over, (0, 0))
    assert pulled(f"{server.url}/dumps/", tmp_path) == Pulled(copied=3)
    assert [path.name for path in tmp_path.glob(".hlo-lsp-partial-*")] == [of_another.name]
    assert (of_another / "a").exists()


def test_local_file_is_not_remote(tmp_path: Path) -> None:
    assert open_remote(tmp_path / "x.txt") is None
    assert remote_cache.remote_file(tmp_path / "x.txt") is None


def test_list_of_an_archive_is_read_once_for_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zip_file_system = pytest.importorskip("fsspec.implementations.zip").ZipFileSystem
    opened = []
    create = zip_file_system.__init__

    def count(self: object, *arguments: object, **options: object) -> None:
        opened.append(self)
        create(self, *arguments, **options)

    def write(*contents: str) -> None:
        with ZipFile(tmp_path / "new.zip", "w") as archive:
            for number, content in enumerate(contents):
                archive.writestr(f"run/{number}.txt", content)
        (tmp_path / "new.zip").replace(tmp_path / "x.zip")

    def read() -> list[str]:
        tree = file_systems.list_tree(f"zip://run::file://{tmp_path / 'x.zip'}")
        opened.clear()
        for path, file in tree.files.items():
            file_systems.download(file, tmp_path / path.name, tmp_path)
        return [(tmp_path / path.name).read_text() for path in sorted(tree.files)]

    monkeypatch.setattr(zip_file_system, "__init__", count)
    for contents in ("abc", "def"):  # of the same size
        write(*contents)
        assert read() == list(contents)
        assert len(opened) == 1
