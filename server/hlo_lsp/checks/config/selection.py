"""The rules that run, with their thresholds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.config.options import DEFAULT, CheckOptions, Thresholds, codes_of
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.rule import AnyRule


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
