"""Paths that ``hlo-lsp check`` cannot read."""

from pathlib import Path

import pytest

from cli.command import run

CONTENTS = {"missing": (None, "No such file"), "binary": (b"\x7fELF\0\0" * 100, "binary")}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("form", ["text", "json"])
def test_unreadable_file_is_a_usage_error(tmp_path: Path, name: str, form: str) -> None:
    content, reason = CONTENTS[name]
    path = tmp_path / "a file.txt"
    if content is not None:
        path.write_bytes(content)
    result = run("check", path, "--format", form)
    assert result.status == 2
    assert result.err.startswith(f"hlo-lsp: {path}: ")
    assert reason in result.err
    assert result.out == "" if form == "text" else result.findings == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"--xla_flag=1\n", "not an HLO module"),
        (b"\xff\xfe\xfd text", "not an HLO module"),
        (b"x" * 5_000_000, "not an HLO module"),
    ],
    ids=["empty", "flag", "not UTF-8", "long"],
)
def test_named_file_must_be_a_dump(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a file.txt"
    path.write_bytes(content)
    result = run("check", path)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"hlo-lsp: {path}: ")
    assert reason in result.err
    assert result.err.count("\n") == 1


def test_bad_path_does_not_hide_other_findings(tmp_path: Path, damaged: Path) -> None:
    result = run("check", tmp_path / "missing.txt", damaged)
    assert result.status in {1, 2}
    assert "missing.txt" in result.err
    assert "size-mismatch" in result.out


def test_one_bad_path_fails_the_command(tmp_path: Path, sample: Path) -> None:
    result = run("check", sample, tmp_path / "missing.txt", "--format", "json")
    assert (result.status, result.findings) == (2, [])
    assert "missing.txt" in result.err


@pytest.mark.parametrize("content", [b"", b"hello\n", b" \n"])
def test_inspect_prints_the_same_file_errors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    checked, inspected = run("check", path), run("inspect", path)
    assert (checked.status, checked.err) == (inspected.status, inspected.err)


def test_folder_without_dump_is_an_error(tmp_path: Path, sample: Path) -> None:
    folder = tmp_path / "nothing here"
    folder.mkdir()
    message = f"hlo-lsp: {folder}: no HLO module or XLA memory dump in this folder\n"
    result = run("check", folder, "--format", "json")
    assert (result.status, result.findings, result.err) == (2, [], message)
    (folder / "flagfile").write_text("--xla=1\n", "utf-8")
    (folder / "m.pb").write_bytes(b"\0\1")
    result = run("check", sample, folder, "--severity", "error")
    assert (result.status, result.out, result.err) == (2, "", message)


def test_huge_line_is_one_finding(sample: Path) -> None:
    text = sample.read_text("utf-8")
    sample.write_text(text.replace("Used values:", "Used values:\n" + "<1 " * 400_000), "utf-8")
    result = run("check", sample)
    assert result.status == 1
    lines = result.out.rstrip("\n").split("\n")
    assert len(lines) < 10
    assert max(map(len, lines)) < 1000


def test_broken_links_in_folders_are_skipped(tmp_path: Path, sample: Path) -> None:
    (sample.parent / "broken.txt").symlink_to(tmp_path / "nowhere.txt")
    (sample.parent / "loop").symlink_to(sample.parent)
    result = run("check", sample.parent)
    assert (result.status, result.out) == (0, "")
