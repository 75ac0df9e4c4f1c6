"""Texts of rules: the output of ``hlo-lsp rule``, and the reference page."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.checks.catalogue import severities
from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.finding import Severity
from hlo_lsp.model.display import Card, Fact

_INTRODUCTION = """\
# Rules

What `hlo-lsp check` and the diagnostics in an editor look at. This page is what
`hlo-lsp rule --all` prints; `hlo-lsp rule CODE` prints a part of it.

A dump that a compiler printed contains none of the errors. Advice is about the program, not about
the dump. Rules that are off run when `select` names them.
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
    facts = [Fact("says", explanation.what), Fact("severity", severity_word(explanation))]
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
        yield "| code | severity | what it says |"
        yield "|---|---|---|"
        for one in members:
            what = one.what.replace("|", "\\|")
            yield f"| [{one.code}](#{one.code}) | {severity_word(one)} | {what} |"
        for one in members:
            yield f"\n### {one.code}\n\n{rule_markdown(one).rstrip()}"
        yield ""
