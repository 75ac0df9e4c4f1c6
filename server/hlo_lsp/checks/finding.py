"""A finding: something that a dump printed by a compiler would not say."""

from dataclasses import dataclass, replace
from enum import Enum

from hlo_lsp.checks.fix import Fix
from hlo_lsp.model.place import Place


class Severity(Enum):
    """How bad a finding is; the value is the name that scripts see."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong and where; the message is a sentence with both numbers in it.

    ``fixes`` are other ways to put it right, each enough alone.
    """

    code: str
    severity: Severity
    place: Place
    message: str
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def fixed(self, *fixes: Fix) -> "Finding":
        """The same, with what puts it right; the best first."""
        return replace(self, fixes=(*self.fixes, *fixes))

    def put(self, text: str, *, is_sure: bool = True) -> "Finding":
        """The same, where other text at the place puts it right."""
        return self.fixed(Fix.put(self.place, text, is_sure=is_sure))
