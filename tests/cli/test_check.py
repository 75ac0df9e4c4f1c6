"""``hlo-lsp check``: findings as text and JSON, and the exit status."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import run
from e2e.compiles import Compile

Compiled = Callable[[str], Compile]
LINE = re.compile(r"(.+):(\d+):(\d+): (error|warning|information|hint): (.+) \[([a-z-]+)\]")
KEYS = {
    "path", "line", "column", "end_line", "end_column", "severity", "code", "message", "related"
}  # fmt: skip


@pytest.mark.parametrize("name", ["one file", "tpu", "cpu", "gpu"])
def test_intact_compile_has_no_problems(compiled: Compiled, name: str) -> None:
    files = compiled(name)
    for target in (files.folder, files.assignment):
        result = run("check", target, "--severity", "warning")
        assert (result.status, result.out, result.err) == (0, "", "")
        result = run("check", target, "--severity", "warning", "--format", "json")
        assert (result.status, result.findings, result.err) == (0, [], "")


def test_findings_have_editor_format(damaged: Path) -> None:
    result = run("check", damaged)
    assert result.status == 1
    matches = [LINE.fullmatch(line) for line in result.out.rstrip("\n").split("\n")]
    assert [(m[1], m[2], m[3], m[4], m[6]) for m in matches if m] == [
        (str(damaged), "6", "39", "error", "size-mismatch"),
        (str(damaged), "11", "53", "error", "out-of-bounds"),
    ]
    assert "1,000" in result.out
    assert "1,024" in result.out
    assert "2 problems in 1 of 1 file" in result.err


def test_piped_text_is_not_folded_or_colored(damaged: Path) -> None:
    narrow = run("check", damaged, COLUMNS="30")
    assert narrow.out == run("check", damaged, COLUMNS="300").out
    assert "\x1b" not in narrow.out
    lines = narrow.out.rstrip("\n").split("\n")
    assert all(line.startswith(f"{damaged}:") for line in lines)


def test_folders_are_searched_for_dumps(damaged: Path, compiled: Compiled, tmp_path: Path) -> None:
    compiled("tpu")
    (tmp_path / "flagfile").write_text("--xla=1\n", "utf-8")
    (tmp_path / "m.hlo.pb").write_bytes(b"\0\1\2" * 100)
    (tmp_path / "empty.txt").write_text("", "utf-8")
    (tmp_path / "m.ll").write_text("define void @f() {\n  ret void\n}\n", "utf-8")
    result = run("check", tmp_path, "--format", "json")
    assert result.status == 1
    assert {finding["path"] for finding in result.findings} == {str(damaged)}
    assert result.err == ""


def test_several_paths_are_checked(damaged: Path, sample: Path) -> None:
    result = run("check", sample, damaged, sample.parent, "--format", "json")
    assert result.status == 1
    assert [finding["path"] for finding in result.findings] == [str(damaged)] * 2
    twice = run("check", damaged, damaged.parent, "--format", "json")
    assert twice.findings[:2] == result.findings


def test_paths_are_printed_as_given(damaged: Path) -> None:
    folder = damaged.parent
    assert run("check", damaged.name, cwd=folder).out.startswith(f"{damaged.name}:6:39: ")
    found = run("check", ".", "--format", "json", cwd=folder).findings
    assert {finding["path"] for finding in found} == {damaged.name}
    found = run("check", folder.name, "--format", "json", cwd=folder.parent).findings
    assert {Path(finding["path"]) for finding in found} == {Path(folder.name, damaged.name)}
    assert run("check", folder.resolve()).out.startswith(f"{damaged.resolve()}:")


def test_finding_names_the_contradicting_file(compiled: Compiled) -> None:
    files = compiled("tpu")
    text = files.assignment.read_text("utf-8")
    files.assignment.write_text(text.replace("<23 fusion.9 @0>", "<23 fusion.99 @0>"), "utf-8")
    assert run("check", files.values, "--severity", "error").status == 0
    (found,) = run("check", files.folder, "--format", "json", "--severity", "error").findings
    assert (found["path"], found["code"]) == (str(files.assignment), "header-mismatch")
    assert [other["path"] for other in found["related"]] == [str(files.values)]
    assert set(found["related"][0]) == KEYS - {"severity", "code", "related"}


@pytest.mark.parametrize("cut", range(200, 6200, 1200))
def test_truncated_file_never_fails(sample: Path, cut: int) -> None:
    sample.write_bytes(sample.read_bytes()[:cut])
    result = run("check", sample, "--format", "json")
    assert result.status == (1 if result.findings else 0)
    assert all(set(finding) == KEYS for finding in result.findings)


@pytest.mark.parametrize(
    ("budget", "status", "message"),
    [
        ("peak=100MiB", 0, ""),
        ("peak=1000", 1, "above the budget of 1000 B [budget-peak]"),
        ("total=1 KiB", 1, "above the budget of 1.0 KiB [budget-total]"),
        ("padding=0.5", 0, ""),
        ("forbidden=sine,cosine", 1, "the budget forbids `sine`"),
        ("peek=1", 2, "--budget peek: unknown key `peek`; did you mean `peak`?"),
        ("peak", 2, "--budget peak: must be a number of bytes, or a size"),
    ],
)
def test_budget_of_the_command_line(dump: Path, budget: str, status: int, message: str) -> None:
    found = run("check", dump, "--select", "budget", "--budget", budget)
    assert found.status == status
    assert message in found.out + found.err


def test_memory_budget_needs_a_buffer_assignment(dump: Path) -> None:
    texts = dump.glob("*after_optimizations.txt")
    found = run("check", *texts, "--select", "budget", "--budget", "peak=1GiB")
    problem = "the budget for peak is not checked: there is no buffer assignment"
    assert (found.status, found.err) == (2, f"hlo-lsp: {problem}\n")


def test_unchecked_budget_hides_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "f.hlo"
    path.write_text("HloModule f\n\nENTRY e {\n  ROOT r = f32[] negate(x)\n}\n", "utf-8")
    found = run("check", path, "--budget", "peak=1GiB")
    assert found.status == 2
    assert "undefined instruction `x`" in found.out
    assert "the budget for peak is not checked" in found.err
