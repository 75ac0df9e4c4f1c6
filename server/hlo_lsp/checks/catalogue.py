"""The catalogue of all rules.

Codes are a public interface: scripts and settings use them.
"""

from collections.abc import Mapping
from functools import cache

from hlo_lsp.checks.advice import advice_rules, time_rules
from hlo_lsp.checks.allocations import bounds, interface, overlaps, sizes
from hlo_lsp.checks.budgets import budget_rules
from hlo_lsp.checks.files import file_rules
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import Selection
from hlo_lsp.checks.framework.rule import AnyRule
from hlo_lsp.checks.live_ranges import live_range_rules
from hlo_lsp.checks.module import calls, names, shapes, source_tables
from hlo_lsp.checks.module import syntax as module_syntax
from hlo_lsp.checks.peaks import peak_rules, stack_traces
from hlo_lsp.checks.schedule import schedule_rules
from hlo_lsp.checks.usage_report import usage_report_rules
from hlo_lsp.checks.values import headers, positions, uses

_MODULES = (
    *(file_rules, sizes, bounds, interface, overlaps),
    *(headers, positions, uses, schedule_rules, live_range_rules, peak_rules, stack_traces),
    *(module_syntax, names, shapes, calls, source_tables),
    *(usage_report_rules, advice_rules, time_rules, budget_rules),
)
CATALOGUE: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
DEFAULT_RULES = tuple(rule for rule in CATALOGUE if explanations()[rule.code].is_on)


@cache
def severities() -> Mapping[str, Severity]:
    """Return the severity of every code; for a code with several rules the highest."""
    found: dict[str, Severity] = {}
    for rule in CATALOGUE:
        known = found.get(rule.code, rule.severity)
        found[rule.code] = min(known, rule.severity, key=lambda severity: severity.rank)
    return found


def selected_rules(selection: Selection) -> tuple[AnyRule, ...]:
    """Return the rules of a selection, without those below its lowest severity."""
    return tuple(
        rule
        for rule in CATALOGUE
        if rule.code in selection.codes
        and (selection.severity is None or rule.severity.rank <= selection.severity.rank)
    )
