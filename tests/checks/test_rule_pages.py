"""Tests for the descriptions of rules and the page of all rules."""

from pathlib import Path

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.rule_pages import rule_card, rule_json, rule_markdown, rules_page

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_page_of_the_repository_is_current() -> None:
    """Compare the page; CONTRIBUTING.md has the command that updates it."""
    assert PAGE.read_text("utf-8") == rules_page()


def test_every_row_links_to_a_heading() -> None:
    lines = rules_page().split("\n")
    rows = [line.split("](#")[1].split(")")[0] for line in lines if line.startswith("| [")]
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert rows == headings
    assert sorted(rows) == sorted(explanations())


def test_rule_has_all_its_texts() -> None:
    for explanation in explanations().values():
        reported = rule_json(explanation)
        texts = [
            explanation.what,
            explanation.why,
            explanation.source,
            explanation.example,
            *filter(None, [explanation.remedy]),
        ]
        card = {fact.text for fact in rule_card(explanation).facts}
        for text in texts:
            assert text in reported.values()
            assert text in card
            assert text in rule_markdown(explanation)
        assert reported["default"] is explanation.is_on
        assert reported["remedy"] == (explanation.remedy or None)


def test_page_names_rules_that_are_off() -> None:
    for explanation in explanations().values():
        (severity,) = (
            fact.text for fact in rule_card(explanation).facts if fact.label == "severity"
        )
        assert severity.endswith(", off") is not explanation.is_on
