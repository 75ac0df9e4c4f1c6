"""The comparison of hosts on the command line."""

import json
import shutil
from pathlib import Path

import pytest

from cli.command import run
from reports.example import STEM


@pytest.fixture
def pod(dump: Path, tmp_path: Path) -> Path:
    """Return a folder with the example compile of three hosts."""
    folder = tmp_path / "pod"
    for number in range(3):
        shutil.copytree(dump, folder / f"host_{number}" / "xla")
    return folder


def test_equal_hosts_exit_with_0(pod: Path) -> None:
    found = run("modules", "--hosts", pod)
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("3 hosts · 1 module · all hosts compiled the same programs\n")


def test_host_that_differs_exits_with_1(pod: Path) -> None:
    module = pod / "host_2" / "xla" / f"{STEM}.txt"
    module.write_text(module.read_text("utf-8").replace("f32[256]", "f32[255]"), "utf-8")
    found = run("modules", "--hosts", pod, "--format", "json")
    assert (found.status, found.err) == (1, "")
    groups = json.loads(found.out)["modules"][0]["groups"]
    assert [one["hosts"] for one in groups] == [["host_0", "host_1"], ["host_2"]]


def test_folders_of_hosts_can_be_named_one_by_one(pod: Path) -> None:
    found = run("modules", "--hosts", pod / "host_0", pod / "host_2")
    assert found.out.startswith("2 hosts · 1 module · all hosts compiled the same programs\n")


@pytest.mark.parametrize(("folder", "count"), [("host_0", "1 host"), ("none", "0 hosts")])
def test_one_host_is_an_error(pod: Path, folder: str, count: str) -> None:
    (pod / "none").mkdir()
    found = run("modules", "--hosts", pod / folder)
    assert (found.status, found.out) == (2, "")
    assert f"dumps of {count}, but a comparison needs two" in found.err


def test_file_is_an_error(pod: Path) -> None:
    (pod / "a.txt").write_text("")
    found = run("modules", "--hosts", pod, pod / "a.txt", pod / "none.txt")
    assert (found.status, found.out) == (2, run("modules", "--hosts", pod).out)
    assert found.err == (
        f"hlo-lsp: {pod / 'a.txt'}: not a folder\n"
        f"hlo-lsp: {pod / 'none.txt'}: No such file or directory\n"
    )


def test_hosts_of_the_current_folder(pod: Path) -> None:
    assert run("modules", "--hosts", ".", cwd=pod).out.startswith("3 hosts · 1 module")


def test_unreadable_file_is_named(pod: Path) -> None:
    shutil.rmtree(pod / "host_2")
    (pod / "host_2").mkdir()
    (pod / "host_2" / f"{STEM}.txt").write_bytes(b"\0\1\2")
    found = run("modules", "--hosts", pod)
    assert found.status == 2
    assert f"{STEM}.txt" in found.err
    assert found.out.startswith("3 hosts")


def test_files_that_cannot_be_read_are_neither_equal_nor_missing(pod: Path) -> None:
    texts = sorted(pod.rglob(f"{STEM}.txt"))
    _replace_by_folder(texts[1])
    found = run("modules", "--hosts", pod)
    assert (found.status, found.err) == (2, f"hlo-lsp: {texts[1]}: not a regular file\n")
    assert found.out.startswith(
        "3 hosts · 1 module · 0 the same on all hosts · hosts with unreadable files: host_1\n"
    )
    first, second = found.out.splitlines()[1:]
    assert first.endswith("the same on 2 hosts")
    assert second.strip() == "host_1: unreadable files"
    _replace_by_folder(texts[0])
    found = run("modules", "--hosts", pod)
    first, second = found.out.splitlines()[1:]
    assert first.endswith("known only from host_2")
    assert second.strip() == "host_0, host_1: unreadable files"
    _replace_by_folder(texts[2])
    assert run("modules", "--hosts", pod).out.endswith("jit_f · unreadable files\n")


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
