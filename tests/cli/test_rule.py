"""``hlo-lsp rule``."""

from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.checks.framework.explanations import explanations

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_rule_is_explained() -> None:
    result = run("check", "--explain", "size-mismatch")
    rule = explanations()["size-mismatch"]
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert lines[0] == "size-mismatch"
    assert lines[1] == f"meaning   {rule.what}"
    assert lines[2] == "severity  error"
    assert lines[3] == f"why       {rule.why}"
    assert "\x1b" not in result.out


def test_prefix_selects_several_rules() -> None:
    result = run("check", "--explain", "undefined", "syntax", "--format", "json")
    assert [rule["code"] for rule in result.json["rules"]] == [
        code for code in explanations() if code.startswith("undefined-") or code == "syntax"
    ]
    assert set(result.json["rules"][0]) == {
        "code", "severity", "default", "what", "why", "source", "example", "remedy"
    }  # fmt: skip


def test_all_rules_are_listed_without_code() -> None:
    result = run("check", "--explain")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines] == list(explanations())
    assert lines == [line.rstrip() for line in lines]
    assert len(run("check", "--explain", "--format", "json").json["rules"]) == len(lines)


def test_all_rules_as_markdown() -> None:
    result = run("check", "--explain", "all", "--format", "markdown")
    assert result.out == PAGE.read_text("utf-8")
    assert result.out.startswith("# Rules\n")
    assert run("check", "--explain", "--format", "markdown").out == result.out
    for code in explanations():
        assert f"\n### {code}\n" in result.out
    assert run("check", "--explain", "overlap", "--format", "markdown").out in result.out


def test_unknown_rule_suggests_the_nearest() -> None:
    result = run("check", "--explain", "overlaps")
    assert (result.status, result.out) == (2, "")
    assert result.err == "hlo-lsp: unknown rule `overlaps`; did you mean `overlap`?\n"


@pytest.mark.parametrize("arguments", [["--select", "syntax"], ["--format", "sarif"]])
def test_wrong_usage(arguments: list[str]) -> None:
    assert run("check", "--explain", *arguments).status == 2
