"""A finding: something that a dump printed by a compiler would not say."""

from dataclasses import dataclass
from enum import Enum

from hlo_lsp.model.place import Place


class Severity(Enum):
    """How bad a finding is; the value is the name that scripts see."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong and where; the message is a sentence with both numbers in it."""

    code: str
    severity: Severity
    place: Place
    message: str
    related: tuple[Related, ...] = ()
