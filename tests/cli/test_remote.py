"""Commands on remote dumps, with a real S3 API on localhost."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hlo_lsp
from cli.command import run
from docs.pages import DOCS, blocks
from hlo_lsp.cli import workers
from hlo_lsp.text import downloads, remote
from hlo_lsp.text.remote import local_path, urls_of
from hlo_lsp.text.remote_errors import RemoteError
from remote_servers import s3_server
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM

pytestmark = pytest.mark.xdist_group("bucket")  # one server of S3
pytest.importorskip("moto")
s3fs = pytest.importorskip("s3fs")
translate_boto_error = import_module("s3fs.errors").translate_boto_error
ClientError = import_module("botocore.exceptions").ClientError
BUCKET = "s3://dumps"
FILES = {
    f"{STEM}.txt": MODULE,
    f"{STEM}-buffer-assignment.txt": ASSIGNMENT,
    f"{STEM}-live-range.txt": RANGES,
    f"{STEM}-buffer-assignment-values.txt": "not needed",
}


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """Return the file system of a bucket with the example compile of two hosts."""
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", url)
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3 = s3fs.S3FileSystem()
        s3.mkdir("dumps")
        for host in ("host_0", "host_1"):
            for name, text in FILES.items():
                s3.pipe(f"dumps/run/{host}/{name}", text.encode())
        yield s3


@pytest.fixture(autouse=True)
def cache(bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLO_LSP_CACHE", str(tmp_path / "cache"))


def read_files(tmp_path: Path) -> list[str]:
    """Return the names of the remote files that were read."""
    found = (tmp_path / "cache").rglob("trees/s3*/**/*.txt")
    return sorted(path.name.removeprefix(STEM) for path in found if path.stat().st_size)


def test_summary_reads_no_values(tmp_path: Path) -> None:
    found = run("summary", f"{BUCKET}/run/host_0", "--format", "json")
    assert (found.status, found.err) == (0, "")
    path = f"{BUCKET}/run/host_0/{STEM}-buffer-assignment.txt"
    assert found.json["modules"][0]["path"] == path
    assert read_files(tmp_path) == ["-buffer-assignment.txt", "-live-range.txt", ".txt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("summary", "{}"),
        ("modules", "{}"),
        ("modules", "--hosts", "{}"),
        ("summary", "--timeline", "{}"),
        ("summary", "--donation", "{}"),
        ("find", "b", "{}"),
        ("inspect", "{}/host_0/" + STEM + ".txt", "b"),
        ("inspect", "{}/host_0/" + STEM + ".txt", "--instruction", "b"),
        ("diff", "{}/host_0", "{}/host_1"),
        ("text", "{}/host_0/" + STEM + ".txt"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_answer_is_that_for_local_files(arguments: tuple[str, ...], tmp_path: Path) -> None:
    local = tmp_path / "run"
    for host in ("host_0", "host_1"):
        (local / host).mkdir(parents=True)
        for name, text in FILES.items():
            (local / host / name).write_text(text, "utf-8")
    expected = run(*(part.format(local) for part in arguments))
    found = run(*(part.format(f"{BUCKET}/run") for part in arguments))
    assert found.out == expected.out.replace(str(local), f"{BUCKET}/run")
    assert (found.status, found.err) == (expected.status, expected.err)


def test_host_that_differs_is_found(bucket: Any) -> None:
    for number in range(3):
        text = MODULE.replace("sine(", "cosine(") if number == 1 else MODULE
        bucket.pipe(f"dumps/pod/host_{number}/{STEM}.txt", text.encode())
    for _ in range(2):  # the second time from the cache
        found = run("modules", "--hosts", f"{BUCKET}/pod", "--format", "json")
        assert found.status == 1
        groups = found.json["modules"][0]["groups"]
        assert [one["hosts"] for one in groups] == [["host_0", "host_2"], ["host_1"]]


def test_findings_have_urls() -> None:
    found = run("check", f"{BUCKET}/run", "--format", "sarif", "--exit-zero")
    results = found.json["runs"][0]["results"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    assert uris
    assert all(uri.startswith(f"{BUCKET}/run/host_") for uri in uris)


def test_processes_read_remote_files(bucket: Any) -> None:
    text = MODULE.replace("jit(f)/add", "x" * (1 << 20))
    for number in range(2):
        name = f"module_{number:04}.jit_f.cl_12.after_optimizations.txt"
        bucket.pipe(f"dumps/large/{name}", text.encode())
    found = run("check", f"{BUCKET}/large", "-j", "2")
    assert found.err.endswith(" in 2 of 2 files\n")


def test_config_file_of_the_folder_is_used(bucket: Any) -> None:
    bucket.pipe(f"dumps/with_config/{STEM}.txt", MODULE.encode())
    bucket.pipe("dumps/with_config/hlo-lsp.toml", b"nothing = 1")
    found = run("check", f"{BUCKET}/with_config")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"hlo-lsp: {BUCKET}/with_config/hlo-lsp.toml:1: ")


def test_config_file_of_the_current_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "hlo-lsp.toml").write_text("nothing = 1")
    found = run("check", f"{BUCKET}/run/host_0", cwd=tmp_path)
    assert found.err.startswith(f"hlo-lsp: {tmp_path / 'hlo-lsp.toml'}:1: ")


def test_missing_object_is_one_sentence() -> None:
    found = run("summary", f"{BUCKET}/none")
    assert (found.status, found.out) == (2, "")
    assert found.err == f"hlo-lsp: {BUCKET}/none: no such file or folder\n"


@pytest.mark.parametrize("command", ["modules", "summary", "check", "summary --timeline"])
def test_missing_object_costs_only_itself(command: str) -> None:
    options = ["--exit-zero"] if command == "check" else []
    expected = run(*command.split(), f"{BUCKET}/run/host_0", *options)
    found = run(*command.split(), f"{BUCKET}/none", f"{BUCKET}/run/host_0", *options)
    assert (found.status, found.out) == (2, expected.out)
    message = f"hlo-lsp: {BUCKET}/none: no such file or folder\n"
    assert found.err.replace(message, "", 1) == expected.err


def test_failure_of_the_server_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        answer = {"ResponseMetadata": {"HTTPStatusCode": 503}, "Error": {"Code": "SlowDown"}}
        cause = ClientError(answer, "ListObjectsV2")
        raise translate_boto_error(cause) from cause

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", fail)
    monkeypatch.setattr(s3fs.S3FileSystem, "_find", fail)
    found = run("summary", f"{BUCKET}/run")
    assert (found.status, found.out) == (2, "")
    assert found.err == f"hlo-lsp: {BUCKET}/run: HTTP 503\n"


def test_worker_knows_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    path: Any = remote.path_of_input(f"{BUCKET}/none")
    paths = workers.RemotePaths({}, remote.unlisted())
    monkeypatch.setattr(remote, "_unlisted", {})
    with pytest.raises(RemoteError, match=r"^no such file or folder$"):
        workers.run_in_folder("missing", ".", paths, remote.open_remote, path)


@pytest.mark.parametrize("command", ["modules", "summary", "check", "modules --hosts"])
def test_lost_connection_has_one_message(
    command: str, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise RemoteError("the connection was lost")

    bucket.pipe(f"dumps/lost/host_0/{STEM}.txt", MODULE.encode())
    monkeypatch.setattr(downloads, "download", lose)
    found = run(*command.split(), f"{BUCKET}/lost")
    assert (found.status, found.out) == (2, "")
    path = f"{BUCKET}/lost/host_0/{STEM}.txt"
    assert found.err == f"hlo-lsp: {path}: the connection was lost\n"


def test_marker_of_a_folder_is_not_a_file(bucket: Any, tmp_path: Path) -> None:
    for name in ("", "host_0/", "empty/", "host_0/xla.hlo"):
        bucket.call_s3("put_object", Bucket="dumps", Key=f"marked/{name}", Body=b"")
    bucket.pipe(f"dumps/marked/host_0/xla.hlo/{STEM}.txt", MODULE.encode())
    assert run("modules", f"{BUCKET}/marked").err == ""
    found = run("text", f"{BUCKET}/marked", "-o", tmp_path / "copy")
    assert (tmp_path / "copy" / "host_0" / "xla.hlo" / f"{STEM}.txt").read_text("utf-8") == MODULE
    assert found.err == (
        "1 file copied, 0 already there\n"
        f"hlo-lsp: {BUCKET}/marked/host_0/xla.hlo: not copied, because a folder has this name\n"
    )


def test_missing_credentials_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(s3fs.S3FileSystem, "cachable", False)
    found = run("summary", f"{BUCKET}/run")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(
        f"hlo-lsp: {BUCKET}/run: Unable to locate credentials; check the credentials"
    )
    assert found.err.count("\n") == 1


def test_remote_dumps_cannot_be_watched() -> None:
    found = run("check", f"{BUCKET}/run", "--watch")
    assert (found.status, found.err) == (2, "hlo-lsp: --watch requires local paths\n")


def test_pull_copies_a_folder(tmp_path: Path) -> None:
    found = run("text", f"{BUCKET}/run", "-o", tmp_path / "copy")
    assert (found.status, found.err) == (0, "8 files copied, 0 already there\n")
    assert (tmp_path / "copy" / "host_1" / f"{STEM}.txt").exists()


def test_python_reads_urls() -> None:
    (module,) = hlo_lsp.load(f"{BUCKET}/run/host_0/{STEM}.txt")
    assert module.summary["path"].startswith(f"{BUCKET}/run/host_0/")
    with pytest.raises(OSError, match="no such file or folder"):
        hlo_lsp.load(f"{BUCKET}/none")


def test_nothing_is_imported_without_urls(dump: Path) -> None:
    program = (
        "import json, sys; from hlo_lsp.cli.main import main; main(sys.argv[1:]);"
        "print(json.dumps([*sys.modules]), file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, "summary", dump],
        capture_output=True,
        check=True,
        env={**os.environ},
    )
    modules = set(json.loads(found.stderr))
    assert "hlo_lsp.text.remote" in modules
    assert not modules & {"fsspec", "aiohttp", "hlo_lsp.text.remote_cache"}


_COMMANDS = [
    line
    for block in blocks(DOCS / "scale.md", "sh")
    for line in block.text.splitlines()
    if line.startswith("hlo-lsp ") and f"{BUCKET}/" in line
]


@pytest.mark.parametrize("command", _COMMANDS)
def test_commands_of_the_page_run(command: str, tmp_path: Path) -> None:
    found = run(*shlex.split(command)[1:], cwd=tmp_path)
    assert found.status == 0


@pytest.mark.parametrize("command", ["modules", "modules --hosts", "check"])
def test_executor_reads_urls(command: str) -> None:
    expected = run(*command.split(), f"{BUCKET}/run")
    executor = "concurrent.futures:ThreadPoolExecutor"
    assert run(*command.split(), f"{BUCKET}/run", "--executor", executor) == expected


@dataclass(frozen=True)
class FileJob:
    """The work on a file."""

    path: Path
    size: int = 0

    def is_there(self) -> bool:
        """Return whether the file exists."""
        return self.path.is_file()


def test_worker_lists_the_url_once_for_each_command(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []

    def list_url(url: str) -> Path:
        listed.append(url)
        return top

    top = local_path(f"{BUCKET}/run")
    monkeypatch.setattr(workers, "local_path", list_url)
    paths = workers.RemotePaths(urls_of([top]))
    job = FileJob(top / "host_0" / f"{STEM}.txt")
    for command in ("first", "first", "second"):
        assert workers.run_in_folder(command, ".", paths, FileJob.is_there, job)
    assert listed == [f"{BUCKET}/run/"] * 2


@pytest.mark.parametrize("command", ["modules", "summary", "check"])
def test_url_that_workers_cannot_list_costs_only_itself(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def list_url(url: str) -> Path:
        if url.endswith("host_1/"):
            raise RemoteError("access denied", urls[1])
        return local_path(url)

    urls = [f"{BUCKET}/run/host_{number}" for number in range(2)]
    options = ["--executor", "concurrent.futures:ThreadPoolExecutor", "--format", "json"]
    options += ["--exit-zero"] if command == "check" else []
    expected = run(command, urls[0], *options)
    monkeypatch.setattr(workers, "local_path", list_url)
    found = run(command, *urls, *options)
    assert (found.status, found.json) == (2, expected.json)
    problem = f"workers cannot list the folder ({urls[1]}: access denied)"
    message = f"hlo-lsp: 1 job not run, because {problem}\n"
    assert found.err.replace(message, "", 1) == expected.err


def test_compiles_that_workers_cannot_list_have_one_message(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[str] = []

    def list_url(url: str) -> Path:
        attempts.append(url)
        raise RemoteError("access denied", url)

    for number in range(20):
        name = f"module_{number:04}.jit_f.cl_12.after_optimizations.txt"
        bucket.pipe(f"dumps/many/{name}", MODULE.encode())
    url = f"{BUCKET}/many"
    monkeypatch.setattr(workers, "local_path", list_url)
    found = run("check", url, "--executor", "concurrent.futures:ThreadPoolExecutor")
    problem = f"workers cannot list the folder ({url}/: access denied)"
    assert (found.status, found.out) == (2, "")
    assert found.err == f"hlo-lsp: 20 jobs not run, because {problem}\n"
    assert len(attempts) == 3


def test_worker_with_another_cache_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    top = local_path(f"{BUCKET}/run")
    paths = workers.RemotePaths(urls_of([top]))
    monkeypatch.setattr(workers, "local_path", lambda _: Path("other"))
    with pytest.raises(workers.ListingError, match=r"^HLO_LSP_CACHE, or the settings of the"):
        workers.run_in_folder("cache", ".", paths, FileJob.is_there, FileJob(top / "a.txt"))


def test_worker_of_another_machine_lists_the_url(tmp_path: Path) -> None:
    code = (
        "import sys; from cli.test_remote import FileJob, Path, workers;"
        " top, path = map(Path, sys.argv[2:]); paths = workers.RemotePaths({top: sys.argv[1]});"
        " print(workers.run_in_folder('1', '.', paths, FileJob.is_there, FileJob(path)))"
    )
    url = f"{BUCKET}/run/host_0"
    top = local_path(url)
    shutil.rmtree(tmp_path / "cache")
    ended = subprocess.run(
        [sys.executable, "-c", code, url, top, top / f"{STEM}.txt"],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    assert ended.stdout == "True\n"


def test_servers_have_their_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3fs.S3FileSystem, "cachable", False)
    first = local_path(f"{BUCKET}/run")
    server = os.environ["AWS_ENDPOINT_URL"].replace("127.0.0.1", "localhost")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server)
    assert local_path(f"{BUCKET}/run") != first
