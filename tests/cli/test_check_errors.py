"""Paths that ``hlo-lsp check`` cannot look at."""

from pathlib import Path

import pytest

from cli.running import run

CONTENTS = {
    "missing": (None, "No such file"),
    "binary": (b"\x7fELF\0\0" * 100, "binary"),
}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path, name: str, form: str) -> None:
    content, reason = CONTENTS[name]
    path = tmp_path / "a file.txt"
    if content is not None:
        path.write_bytes(content)
    ran = run("check", path, "--format", form)
    assert ran.status == 2
    assert ran.err.startswith(f"hlo-lsp: {path}: ")
    assert reason in ran.err
    assert ran.out == ("" if form == "text" else "[]\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"--xla_flag=1\n", "no HLO or memory dump"),
        (b"\xff\xfe\xfd text", "no HLO or memory dump"),
        (b"x" * 5_000_000, "no HLO or memory dump"),
    ],
)
def test_a_named_file_that_is_no_dump_is_said(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a file.txt"
    path.write_bytes(content)
    ran = run("check", path)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"hlo-lsp: {path}: ")
    assert reason in ran.err
    assert ran.err.count("\n") == 1


def test_one_bad_path_does_not_hide_the_findings_of_the_others(
    tmp_path: Path, damaged: Path
) -> None:
    ran = run("check", tmp_path / "missing.txt", damaged)
    assert ran.status in {1, 2}
    assert "missing.txt" in ran.err
    assert "size-mismatch" in ran.out


def test_a_bad_path_among_good_ones_is_no_success(tmp_path: Path, sample: Path) -> None:
    ran = run("check", sample, tmp_path / "missing.txt", "--format", "json")
    assert (ran.status, ran.json) == (2, [])
    assert "missing.txt" in ran.err


def test_a_named_file_is_refused_in_the_words_of_inspect(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("text", b"hello\n"), ("blank", b" \n")):
        path = tmp_path / name
        path.write_bytes(content)
        checked, inspected = run("check", path), run("inspect", path)
        assert (checked.status, checked.err) == (inspected.status, inspected.err)


def test_a_folder_without_a_dump_is_said_to_be_one(tmp_path: Path, sample: Path) -> None:
    folder = tmp_path / "nothing here"
    folder.mkdir()
    message = f"hlo-lsp: {folder}: there is no HLO or memory dump in this folder\n"
    ran = run("check", folder, "--format", "json")
    assert (ran.status, ran.json, ran.err) == (2, [], message)
    (folder / "flagfile").write_text("--xla=1\n", "utf-8")
    (folder / "m.pb").write_bytes(b"\0\1")
    ran = run("check", sample, folder, "--severity", "error")
    assert (ran.status, ran.out, ran.err) == (2, "", message)


def test_a_giant_line_is_one_finding(sample: Path) -> None:
    text = sample.read_text("utf-8")
    sample.write_text(text.replace("Used values:", "Used values:\n" + "<1 " * 2_000_000), "utf-8")
    ran = run("check", sample)
    assert ran.status == 1
    lines = ran.out.rstrip("\n").split("\n")
    assert len(lines) < 10
    assert max(map(len, lines)) < 1000


def test_a_link_that_leads_nowhere_is_passed_over_in_a_folder(tmp_path: Path, sample: Path) -> None:
    (sample.parent / "broken.txt").symlink_to(tmp_path / "nowhere.txt")
    (sample.parent / "loop").symlink_to(sample.parent)
    ran = run("check", sample.parent)
    assert (ran.status, ran.out) == (0, "")
