"""The catalogue of all rules, and the selection of those that run.

Codes are a public interface: scripts and settings use them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce

from hlo_lsp.checks.advice import rules as advice
from hlo_lsp.checks.allocations import bounds, interface, overlaps, sizes
from hlo_lsp.checks.config import DEFAULT, CheckOptions, Thresholds, codes_of
from hlo_lsp.checks.explanations import explanations
from hlo_lsp.checks.files import sections, syntax
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.live_ranges import rules as live_ranges
from hlo_lsp.checks.module import calls, names, shapes, source_tables
from hlo_lsp.checks.module import syntax as module_syntax
from hlo_lsp.checks.peaks import rules as peaks
from hlo_lsp.checks.peaks import stack_traces
from hlo_lsp.checks.reports import memory_report
from hlo_lsp.checks.rule import AnyRule
from hlo_lsp.checks.schedule import rules as schedules
from hlo_lsp.checks.values import headers, positions, uses

_MODULES = (
    *(syntax, sizes, bounds, interface, overlaps, sections),
    *(headers, positions, uses, schedules, live_ranges, peaks, stack_traces),
    *(module_syntax, names, shapes, calls, source_tables, memory_report, advice),
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


@dataclass(frozen=True, slots=True)
class Selection:
    """The options of all sources together.

    ``severity`` is the lowest one that is shown and counts; without one everything is shown, and
    errors and warnings count.
    """

    codes: frozenset[str] = field(default_factory=lambda: codes_of(DEFAULT))
    severity: Severity | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    @classmethod
    def of(cls, options: Iterable[CheckOptions]) -> "Selection":
        """Combine the options of several sources; later ones override."""
        return reduce(Selection.then, options, cls())

    def then(self, options: CheckOptions) -> "Selection":
        """Add the options of one more source.

        Selected codes replace those before; ignored codes are removed.
        """
        begun = self.codes if options.select is None else options.select
        return Selection(
            begun - options.ignore,
            options.severity or self.severity,
            replace(self.thresholds, **options.thresholds),
        )

    @property
    def rules(self) -> tuple[AnyRule, ...]:
        """The rules of the codes, without those below the lowest severity."""
        return tuple(
            rule
            for rule in CATALOGUE
            if rule.code in self.codes
            and (self.severity is None or rule.severity.rank <= self.severity.rank)
        )

    def counts(self, severity: Severity) -> bool:
        """Return whether findings of this severity make a check fail."""
        return severity.rank <= (self.severity or Severity.WARNING).rank
