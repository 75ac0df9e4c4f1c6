"""Formats for machines, and what is counted."""

import json
import re
from pathlib import Path

import pytest

from cli.running import run

COMMAND = re.compile(
    r"::(error|warning|notice) file=(.+),line=(\d+),endLine=(\d+),col=(\d+),endColumn=(\d+)"
    r",title=hlo-lsp ([a-z-]+)::(.+)"
)


def test_findings_as_workflow_commands(damaged: Path) -> None:
    ran = run("check", damaged.name, "--format", "github", cwd=damaged.parent)
    assert (ran.status, ran.err) == (1, "")
    found = [COMMAND.fullmatch(line) for line in ran.out.splitlines()]
    assert [match.groups()[:7] for match in found if match] == [
        ("error", damaged.name, "6", "6", "39", "43", "size-mismatch"),
        ("error", damaged.name, "11", "11", "53", "57", "out-of-bounds"),
    ]


def test_findings_as_sarif(damaged: Path) -> None:
    ran = run("check", damaged.name, "--format", "sarif", cwd=damaged.parent)
    assert (ran.status, ran.err) == (1, "")
    (log,) = ran.json["runs"]
    assert [result["ruleId"] for result in log["results"]] == ["size-mismatch", "out-of-bounds"]
    place = log["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "damaged%20dump.txt"}


def test_statistics_take_the_place_of_findings(damaged: Path) -> None:
    ran = run("check", damaged, "--statistics", COLUMNS="20")
    assert ran.status == 1
    assert ran.out == (
        "      1  error out-of-bounds in 1 file\n      1  error size-mismatch in 1 file\n"
    )
    assert ran.err == "2 problems in 1 of 1 file\n"
    ran = run("check", damaged, "--statistics", "--format", "json")
    assert ran.json == [
        {"code": code, "severity": "error", "count": 1, "files": 1}
        for code in ("out-of-bounds", "size-mismatch")
    ]


def test_statistics_of_a_clean_dump_are_empty(sample: Path) -> None:
    assert run("check", sample, "--statistics", "--severity", "error").out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "sarif", "--statistics"], "--statistics goes with --format text or json"),
        (["--format", "github", "--statistics"], "--statistics goes with --format text or json"),
        (["--format", "json", "--watch"], "--watch goes with --format text"),
    ],
)
def test_options_that_do_not_go_together(sample: Path, arguments: list[str], said: str) -> None:
    ran = run("check", sample, *arguments)
    assert (ran.status, ran.out, ran.err) == (2, "", f"hlo-lsp: {said}\n")


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_every_format_says_nothing_of_an_intact_dump(sample: Path, form: str) -> None:
    ran = run("check", sample, "--format", form, "--severity", "error")
    assert (ran.status, ran.err) == (0, "")
    found = json.loads(ran.out)["runs"][0]["results"] if form == "sarif" else ran.out.strip("[]\n")
    assert not found
