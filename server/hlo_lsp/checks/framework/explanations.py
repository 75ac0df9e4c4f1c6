"""The texts of the rules, from the ``rules.toml`` of each topic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hlo_lsp.hlo.vocabulary import read_toml

# The packages of checks with a rules.toml, in the order in which rules are listed.
_TOPICS = (
    *("files", "module", "allocations", "values", "schedule"),
    *("live_ranges", "peaks", "usage_report", "advice", "budgets"),
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The text of a rule: what it reports, why it holds, the source of the rule, and an example.

    ``remedy`` is empty where only a damaged dump breaks the rule. ``is_on`` is false for rules that
    run on request only.
    """

    code: str
    what: str
    why: str
    source: str
    example: str
    remedy: str = ""
    is_on: bool = True


@cache
def explanations() -> Mapping[str, Explanation]:
    """Read the texts of all codes, in the order of the topics.

    Raises:
        TypeError: an entry lacks a key or has an unknown one.
    """
    return {
        code: Explanation(code, **entry)
        for topic in _TOPICS
        for code, entry in read_toml("rules", f"hlo_lsp.checks.{topic}").items()
    }
