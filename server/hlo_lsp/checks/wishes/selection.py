"""Which rules run, and with which thresholds."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.rule import AnyRule
from hlo_lsp.checks.wishes.thresholds import Thresholds
from hlo_lsp.checks.wishes.wishes import DEFAULT, Wishes, codes_of


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome of what everybody wished.

    ``severity`` is the lowest that is shown and counts; without one everything is shown, and
    errors and warnings count.
    """

    codes: frozenset[str] = field(default_factory=lambda: codes_of(DEFAULT))
    severity: Severity | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    @classmethod
    def of(cls, wishes: Iterable[Wishes]) -> "Selection":
        """What is checked when these were said, of which later ones have the last word."""
        return reduce(Selection.then, wishes, cls())

    def then(self, wishes: Wishes) -> "Selection":
        """What is checked when this was said, too.

        Codes that are selected stand in the place of all that were before, those that are ignored
        are taken away from what there is.
        """
        begun = self.codes if wishes.select is None else wishes.select
        return Selection(
            begun - wishes.ignore,
            wishes.severity or self.severity,
            replace(self.thresholds, **wishes.thresholds),
        )

    @property
    def rules(self) -> tuple[AnyRule, ...]:
        """The rules of the codes; not those that would find what is not of interest."""
        return tuple(
            rule
            for rule in CATALOGUE
            if rule.code in self.codes
            and (self.severity is None or rule.severity.rank <= self.severity.rank)
        )

    def counts(self, severity: Severity) -> bool:
        """Whether findings that are so bad are a reason to fail."""
        return severity.rank <= (self.severity or Severity.WARNING).rank
