"""How bad the findings of each code are."""

from collections.abc import Mapping
from functools import cache

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Severity


@cache
def severities() -> Mapping[str, Severity]:
    """The severity of every code; of a code with several rules the worst."""
    found: dict[str, Severity] = {}
    for rule in CATALOGUE:
        known = found.get(rule.code, rule.severity)
        found[rule.code] = min(known, rule.severity, key=lambda severity: severity.rank)
    return found
