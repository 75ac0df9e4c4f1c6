"""Rules as cards, JSON, and Markdown, and the reference page of all rules."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.framework.explanations import Explanation, explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.text.inert import markdown_row

_INTRODUCTION = """\
# Rules

This page lists the rules of `hlo-lsp check` and of the diagnostics in an editor.
`hlo-lsp check --explain CODE` prints one rule.

A dump that a compiler printed contains no errors, except violations of a budget. Advice is about
the program, not about the dump.
Rules that are off run only if `select` includes them.
"""
_GROUPS = (
    ("Errors and warnings", (Severity.ERROR, Severity.WARNING)),
    ("Advice", (Severity.INFORMATION, Severity.HINT)),
)


def rule_paragraphs(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield the heading and text of each paragraph that explains a rule."""
    yield "Why", explanation.why
    yield "Example", explanation.example
    if explanation.remedy:
        yield "What to do", explanation.remedy
    yield "Source", explanation.source


def severity_word(explanation: Explanation) -> str:
    """Return the severity of a rule, followed by ``, off`` if it runs on request only."""
    name = severities()[explanation.code].value
    return name if explanation.is_on else f"{name}, off"


def rule_card(explanation: Explanation) -> Card:
    """Return a rule as a card for the terminal."""
    facts = [Fact("meaning", explanation.what), Fact("severity", severity_word(explanation))]
    facts += [Fact(head.lower(), text) for head, text in rule_paragraphs(explanation)]
    return Card(explanation.code, tuple(facts))


def rule_json(explanation: Explanation) -> dict[str, Any]:
    """Return a rule as JSON. The keys are a public interface."""
    return {
        "code": explanation.code,
        "severity": severities()[explanation.code].value,
        "default": explanation.is_on,
        **{key: getattr(explanation, key) for key in ("what", "why", "source", "example")},
        "remedy": explanation.remedy or None,
    }


def rule_markdown(explanation: Explanation) -> str:
    """Return a rule as Markdown, without a heading."""
    paragraphs = (f"**{head}.** {text}" for head, text in rule_paragraphs(explanation))
    return "\n\n".join([explanation.what, *paragraphs]) + "\n"


def rules_page() -> str:
    """Return the reference page of all rules as Markdown."""
    return "\n".join([_INTRODUCTION, *_page()])


def _page() -> Iterator[str]:
    for title, group in _GROUPS:
        members = [one for one in explanations().values() if severities()[one.code] in group]
        yield f"## {title}\n"
        yield "| code | severity | meaning |"
        yield "|---|---|---|"
        for one in members:
            yield markdown_row(f"[{one.code}](#{one.code})", severity_word(one), one.what)
        for one in members:
            yield f"\n### {one.code}\n\n{rule_markdown(one).rstrip()}"
        yield ""
