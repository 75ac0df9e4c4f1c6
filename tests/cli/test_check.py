"""``hlo-lsp check``: findings for readers and scripts, and what the exit status says."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import run
from e2e.compiles import Compile

Compiled = Callable[[str], Compile]
LINE = re.compile(r"(.+):(\d+):(\d+): (error|warning|information|hint): (.+) \[([a-z-]+)\]")
KEYS = {
    "path", "line", "column", "end_line", "end_column", "severity", "code", "message", "related"
}  # fmt: skip


@pytest.mark.parametrize("name", ["one file", "tpu", "cpu", "gpu"])
def test_an_intact_compile_has_no_problems(compiled: Compiled, name: str) -> None:
    files = compiled(name)
    for target in (files.folder, files.assignment):
        ran = run("check", target, "--severity", "warning")
        assert (ran.status, ran.out, ran.err) == (0, "", "")
        ran = run("check", target, "--severity", "warning", "--format", "json")
        assert (ran.status, ran.json, ran.err) == (0, [], "")


def test_findings_are_lines_that_editors_understand(damaged: Path) -> None:
    ran = run("check", damaged)
    assert ran.status == 1
    matches = [LINE.fullmatch(line) for line in ran.out.rstrip("\n").split("\n")]
    assert [(m[1], m[2], m[3], m[4], m[6]) for m in matches if m] == [
        (str(damaged), "6", "39", "error", "size-mismatch"),
        (str(damaged), "11", "53", "error", "out-of-bounds"),
    ]
    assert "1,000" in ran.out
    assert "1,024" in ran.out
    assert "2 problems in 1 of 1 file" in ran.err


def test_a_line_of_text_is_never_folded_or_coloured_in_a_pipe(damaged: Path) -> None:
    narrow = run("check", damaged, COLUMNS="30")
    assert narrow.out == run("check", damaged, COLUMNS="300").out
    assert "\x1b" not in narrow.out
    lines = narrow.out.rstrip("\n").split("\n")
    assert all(line.startswith(f"{damaged}:") for line in lines)


def test_findings_as_json(damaged: Path) -> None:
    ran = run("check", damaged, "--format", "json")
    assert (ran.status, ran.err) == (1, "")
    assert all(set(finding) == KEYS for finding in ran.json)
    first, second = ran.json
    assert {**first, "message": "", "related": []} == {
        "path": str(damaged),
        "line": 6,
        "column": 39,
        "end_line": 6,
        "end_column": 43,
        "severity": "error",
        "code": "size-mismatch",
        "message": "",
        "related": [],
    }
    line = damaged.read_text("utf-8").split("\n")[second["line"] - 1]
    assert line[second["column"] - 1 : second["end_column"] - 1] == "4608"


def test_folders_are_looked_through_and_the_rest_of_them_passed_over(
    damaged: Path, compiled: Compiled, tmp_path: Path
) -> None:
    compiled("tpu")
    (tmp_path / "flagfile").write_text("--xla=1\n", "utf-8")
    (tmp_path / "m.hlo.pb").write_bytes(b"\0\1\2" * 100)
    (tmp_path / "empty.txt").write_text("", "utf-8")
    (tmp_path / "m.ll").write_text("define void @f() {\n  ret void\n}\n", "utf-8")
    ran = run("check", tmp_path, "--format", "json")
    assert ran.status == 1
    assert {finding["path"] for finding in ran.json} == {str(damaged)}
    assert ran.err == ""


def test_several_paths_are_looked_at_in_turn(damaged: Path, sample: Path) -> None:
    ran = run("check", sample, damaged, sample.parent, "--format", "json")
    assert ran.status == 1
    assert [finding["path"] for finding in ran.json] == [str(damaged)] * 2
    twice = run("check", damaged, damaged.parent, "--format", "json")
    assert twice.json[:2] == ran.json


def test_paths_are_printed_as_they_were_given(damaged: Path) -> None:
    folder = damaged.parent
    assert run("check", damaged.name, cwd=folder).out.startswith(f"{damaged.name}:6:39: ")
    found = run("check", ".", "--format", "json", cwd=folder).json
    assert {finding["path"] for finding in found} == {damaged.name}
    found = run("check", folder.name, "--format", "json", cwd=folder.parent).json
    assert {Path(finding["path"]) for finding in found} == {Path(folder.name, damaged.name)}
    assert run("check", folder.resolve()).out.startswith(f"{damaged.resolve()}:")


def test_a_damage_is_told_where_it_is_and_names_the_file_that_says_otherwise(
    compiled: Compiled,
) -> None:
    files = compiled("tpu")
    text = files.assignment.read_text("utf-8")
    files.assignment.write_text(text.replace("<23 fusion.9 @0>", "<23 fusion.99 @0>"), "utf-8")
    assert run("check", files.values, "--severity", "error").status == 0
    (found,) = run("check", files.folder, "--format", "json", "--severity", "error").json
    assert (found["path"], found["code"]) == (str(files.assignment), "header-mismatch")
    assert [other["path"] for other in found["related"]] == [str(files.values)]
    assert set(found["related"][0]) == KEYS - {"severity", "code", "related"}


@pytest.mark.parametrize("cut", range(200, 6200, 1200))
def test_a_cut_file_has_findings_at_most(sample: Path, cut: int) -> None:
    sample.write_bytes(sample.read_bytes()[:cut])
    ran = run("check", sample, "--format", "json")
    assert ran.status == (1 if ran.json else 0)
    assert all(set(finding) == KEYS for finding in ran.json)
