"""Machine-readable formats and statistics."""

from pathlib import Path
from typing import Any

import pytest

from cli.command import run


def test_statistics_replace_findings(damaged: Path) -> None:
    result = run("check", damaged, "--statistics", COLUMNS="20")
    assert result.status == 1
    assert result.out == (
        "      1  error out-of-bounds in 1 file\n      1  error size-mismatch in 1 file\n"
    )
    assert result.err == "2 problems in 1 of 1 file\n"
    result = run("check", damaged, "--statistics", "--format", "json")
    assert result.json["counts"] == [
        {"code": code, "severity": "error", "count": 1, "files": 1}
        for code in ("out-of-bounds", "size-mismatch")
    ]


def test_statistics_of_intact_dump_are_empty(sample: Path) -> None:
    assert run("check", sample, "--statistics", "--severity", "error").out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "sarif", "--statistics"], "--statistics requires --format text or json"),
        (["--format", "github", "--statistics"], "--statistics requires --format text or json"),
        (["--format", "json", "--watch"], "--watch requires --format text"),
    ],
)
def test_incompatible_options(sample: Path, arguments: list[str], message: str) -> None:
    result = run("check", sample, *arguments)
    assert (result.status, result.out, result.err) == (2, "", f"hlo-lsp: {message}\n")


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_intact_dump_is_empty_in_every_format(sample: Path, form: str) -> None:
    result = run("check", sample, "--format", form, "--severity", "error")
    assert (result.status, result.err) == (0, "")
    empty: dict[str, Any] = {"json": {"findings": []}, "github": None}
    if form == "sarif":
        assert result.json["runs"][0]["results"] == []
    else:
        assert (result.json if result.out else None) == empty[form]
