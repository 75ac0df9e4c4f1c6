"""Findings without references to their files, which are large."""

from dataclasses import dataclass

from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.model.place import Place


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of one line: line and columns from 1, in code points, the end exclusive."""

    path: str
    line: int
    column: int
    end_column: int

    @classmethod
    def of(cls, place: Place) -> "Spot":
        """Return the spot of a place in the text of the file on disk."""
        return cls(place.file.label, place.number, place.start + 1, place.end + 1)


@dataclass(frozen=True, slots=True)
class RelatedSpot:
    """A second spot that a finding refers to."""

    spot: Spot
    message: str


@dataclass(frozen=True, slots=True)
class FindingSummary:
    """A finding with spots instead of places, so that it can outlive its file."""

    code: str
    severity: Severity
    spot: Spot
    message: str
    related: tuple[RelatedSpot, ...] = ()

    @classmethod
    def of(cls, finding: Finding) -> "FindingSummary":
        """Return the report of a finding."""
        related = (RelatedSpot(Spot.of(other.place), other.message) for other in finding.related)
        spot = Spot.of(finding.place)
        return cls(finding.code, finding.severity, spot, finding.message, tuple(related))
