"""``hlo-lsp rule``: rules explained."""

from pathlib import Path

import pytest

from cli.running import run
from hlo_lsp.checks.explanations import explanations

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_a_rule_is_explained() -> None:
    ran = run("rule", "size-mismatch")
    told = explanations()["size-mismatch"]
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert lines[0] == "size-mismatch"
    assert lines[1] == f"says      {told.what}"
    assert lines[2] == "severity  error"
    assert lines[3] == f"why       {told.why}"
    assert "\x1b" not in ran.out


def test_first_words_name_several_rules() -> None:
    ran = run("rule", "undefined", "syntax", "--format", "json")
    assert [rule["code"] for rule in ran.json] == [
        code for code in explanations() if code.startswith("undefined-") or code == "syntax"
    ]
    assert set(ran.json[0]) == {
        "code", "severity", "default", "what", "why", "source", "example", "remedy"
    }  # fmt: skip


def test_without_a_code_all_are_listed() -> None:
    ran = run("rule")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == list(explanations())
    assert lines == [line.rstrip() for line in lines]
    assert len(run("rule", "--format", "json").json) == len(lines)


def test_the_page_of_all_rules_is_markdown() -> None:
    ran = run("rule", "--all")
    assert ran.out == PAGE.read_text("utf-8")
    assert ran.out.startswith("# Rules\n")
    assert run("rule", "--format", "markdown").out == ran.out
    for code in explanations():
        assert f"\n### {code}\n" in ran.out
    assert run("rule", "overlap", "--format", "markdown").out in ran.out


def test_an_unknown_rule_is_told_with_the_nearest() -> None:
    ran = run("rule", "overlaps")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "hlo-lsp: unknown rule `overlaps`; did you mean `overlap`?\n"


@pytest.mark.parametrize("arguments", [["--all", "syntax"], ["--format", "xml"]])
def test_wrong_usage(arguments: list[str]) -> None:
    assert run("rule", *arguments).status == 2
