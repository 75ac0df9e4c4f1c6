"""Rules in words: what ``hlo-lsp rule`` prints, and the page of all of them."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.checks.config.selection import severities
from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.finding import Severity
from hlo_lsp.model.card import Card, Fact

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


def rule_paragraphs(told: Explanation) -> Iterator[tuple[str, str]]:
    """What there is to say of a rule beside what it says itself, each with a heading."""
    yield "Why", told.why
    yield "Example", told.example
    if told.remedy:
        yield "What to do", told.remedy
    yield "Source", told.source


def severity_word(told: Explanation) -> str:
    """How bad its findings are, and whether one has to ask for them."""
    name = severities()[told.code].value
    return name if told.is_on else f"{name}, off"


def rule_card(told: Explanation) -> Card:
    """A rule for the terminal."""
    facts = [Fact("says", told.what), Fact("severity", severity_word(told))]
    facts += [Fact(head.lower(), text) for head, text in rule_paragraphs(told)]
    return Card(told.code, tuple(facts))


def rule_json(told: Explanation) -> dict[str, Any]:
    """What ``hlo-lsp rule --format json`` prints. The keys are a public interface."""
    return {
        "code": told.code,
        "severity": severities()[told.code].value,
        "default": told.is_on,
        "what": told.what,
        "why": told.why,
        "source": told.source,
        "example": told.example,
        "remedy": told.remedy or None,
    }


def rule_markdown(told: Explanation) -> str:
    """A rule as Markdown, without a heading."""
    parts = [told.what, *(f"**{head}.** {text}" for head, text in rule_paragraphs(told))]
    return "\n\n".join(parts) + "\n"


def rules_page() -> str:
    """All rules as a page in Markdown."""
    return "\n".join([_INTRODUCTION, *_page()])


def _page() -> Iterator[str]:
    for title, group in _GROUPS:
        members = [told for told in explanations().values() if severities()[told.code] in group]
        if not members:
            continue
        yield f"## {title}\n"
        yield "| code | severity | what it says |"
        yield "|---|---|---|"
        for told in members:
            what = told.what.replace("|", "\\|")
            yield f"| [{told.code}](#{told.code}) | {severity_word(told)} | {what} |"
        for told in members:
            yield f"\n### {told.code}\n\n{rule_markdown(told).rstrip()}"
        yield ""
