"""Findings: inconsistencies in dumps, and advice on programs."""

from dataclasses import dataclass, replace
from enum import Enum

from hlo_lsp.checks.fix import Fix
from hlo_lsp.model.place import Place


class Severity(Enum):
    """The severity of a finding. The values are the names in JSON output."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """The rank of the severity, 0 for the most severe."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding refers to."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a place. The message states the actual and the expected number.

    ``fixes`` are alternatives, each of which resolves the finding.
    """

    code: str
    severity: Severity
    place: Place
    message: str
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def fixed(self, *fixes: Fix) -> "Finding":
        """Return the finding with additional fixes, the best first."""
        return replace(self, fixes=(*self.fixes, *fixes))

    def put(self, text: str, *, is_sure: bool = True) -> "Finding":
        """Return the finding with a fix that replaces the text at its place."""
        return self.fixed(Fix.put(self.place, text, is_sure=is_sure))
