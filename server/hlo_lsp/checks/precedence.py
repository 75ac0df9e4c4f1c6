"""Which rule reports a contradiction that several rules find.

One wrong number often contradicts several others, so that several rules report it. A rule does not
search for the culprit: this table says which of the findings on the same lines is kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from hlo_lsp.checks.finding import Finding
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.records import Record


class Scope(Enum):
    """What a finding and the findings that it suppresses have in common."""

    LINE = "line"  # a line of one, or of a place related to it, is a line of the other
    RECORD = "record"  # the same for records: an entry of `Used values` has several lines
    FILE = "file"  # a file of one, or of a place related to it, is a file of the other


# For each code: the codes that it suppresses, and where. A suppressed finding suppresses nothing.
SUPPRESSES: Mapping[str, Mapping[Scope, frozenset[str]]] = {
    # Values and files.
    "syntax": {
        Scope.LINE: frozenset(
            {"parameter-mismatch", "report-mismatch", "shape-definition-mismatch"}
        )
    },
    "section-order": {Scope.FILE: frozenset({"truncated"})},
    "truncated": {
        Scope.FILE: frozenset(
            {"position-mismatch", "sibling-mismatch", "total-mismatch", "value-set-mismatch"}
        )
    },
    "allocation-numbering": {Scope.FILE: frozenset({"value-order", "value-set-mismatch"})},
    "value-in-two-allocations": {
        Scope.LINE: frozenset(
            {
                "allocation-slack",
                "allocation-too-small",
                "color-mismatch",
                "duplicate-value-id",
                "flag-contradiction",
                "nonzero-offset",
                "out-of-bounds",
                "overlap",
                "parameter-mismatch",
                "value-order",
            }
        ),
        Scope.FILE: frozenset({"report-mismatch"}),
    },
    "color-mismatch": {
        Scope.LINE: frozenset({"header-mismatch"}),
        Scope.FILE: frozenset({"report-mismatch"}),
    },
    "size-mismatch": {
        Scope.LINE: frozenset(
            {
                "allocation-slack",
                "allocation-too-small",
                "out-of-bounds",
                "overlap",
                "parameter-mismatch",
                "peak-bytes",
                "peak-list",
                "shape-definition-mismatch",
            }
        ),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "duplicate-value-id": {
        Scope.LINE: frozenset({"flag-contradiction"}),
        Scope.RECORD: frozenset(
            {
                "position-mismatch",
                "shape-definition-mismatch",
                "use-mismatch",
                "value-order",
                "value-set-mismatch",
            }
        ),
        Scope.FILE: frozenset({"report-mismatch"}),
    },
    "value-set-mismatch": {
        Scope.LINE: frozenset({"flag-contradiction"}),
        Scope.RECORD: frozenset({"value-order"}),
        Scope.FILE: frozenset({"position-mismatch"}),
    },
    "header-mismatch": {
        Scope.LINE: frozenset({"flag-contradiction", "parameter-mismatch"}),
        Scope.RECORD: frozenset({"position-mismatch", "shape-definition-mismatch", "use-mismatch"}),
    },
    "position-mismatch": {Scope.RECORD: frozenset({"use-mismatch"})},
    "undefined-instruction": {Scope.LINE: frozenset({"use-mismatch"})},
    "operand-count": {Scope.LINE: frozenset({"use-mismatch"})},
    "shape-mismatch": {Scope.LINE: frozenset({"position-mismatch"})},
    "shape-definition-mismatch": {
        Scope.LINE: frozenset(
            {"parameter-mismatch", "peak-bytes", "peak-list", "position-mismatch"}
        ),
        Scope.FILE: frozenset({"peak-moment", "report-mismatch"}),
    },
    # Allocations and the memory usage report, which is made of them alone.
    "duplicate-allocation": {
        Scope.LINE: frozenset({"allocation-numbering", "output-mismatch", "parameter-mismatch"}),
        Scope.FILE: frozenset({"duplicate-value-id"}),
    },
    "value-order": {Scope.FILE: frozenset({"report-mismatch"})},
    "flag-contradiction": {
        Scope.LINE: frozenset(
            {
                "allocation-too-small",
                "nonzero-offset",
                "out-of-bounds",
                "output-mismatch",
                "overlap",
                "parameter-mismatch",
            }
        ),
        Scope.FILE: frozenset({"allocation-slack", "report-mismatch"}),
    },
    "parameter-mismatch": {Scope.FILE: frozenset({"report-mismatch"})},
    "output-mismatch": {Scope.FILE: frozenset({"report-mismatch"})},
    "nonzero-offset": {
        Scope.LINE: frozenset({"allocation-too-small", "out-of-bounds"}),
        Scope.FILE: frozenset({"report-mismatch"}),
    },
    "out-of-bounds": {Scope.FILE: frozenset({"report-mismatch"})},
    "allocation-too-small": {Scope.FILE: frozenset({"report-mismatch", "total-mismatch"})},
    "allocation-slack": {Scope.FILE: frozenset({"report-mismatch", "total-mismatch"})},
    "total-mismatch": {Scope.FILE: frozenset({"report-mismatch"})},
    "overlap": {Scope.FILE: frozenset({"report-mismatch"})},
    "report-mismatch": {Scope.LINE: frozenset({"human-size"})},
    # Live ranges and the peak, which is computed from them.
    "schedule-numbering": {
        Scope.LINE: frozenset(
            {
                "live-range-bounds",
                "live-range-parameter",
                "live-range-start",
                "schedule-mismatch",
            }
        )
    },
    "schedule-mismatch": {Scope.LINE: frozenset({"live-range-parameter", "live-range-start"})},
    "live-range-unknown": {
        Scope.LINE: frozenset({"live-range-missing", "live-range-order", "peak-list"}),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "live-range-missing": {Scope.FILE: frozenset({"peak-moment"})},
    "live-range-order": {
        Scope.LINE: frozenset(
            {"live-range-missing", "live-range-parameter", "live-range-start", "peak-list"}
        ),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "live-range-bounds": {
        Scope.LINE: frozenset({"live-range-parameter", "live-range-start", "overlap", "peak-list"}),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "live-range-start": {
        Scope.LINE: frozenset({"overlap", "peak-list"}),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "live-range-parameter": {
        Scope.LINE: frozenset({"peak-list"}),
        Scope.FILE: frozenset({"peak-moment"}),
    },
    "peak-moment": {Scope.LINE: frozenset({"peak-list", "peak-understated"})},
    "peak-list": {
        Scope.LINE: frozenset({"peak-bytes", "peak-understated"}),
        Scope.FILE: frozenset({"peak-cumulative"}),
    },
    "peak-bytes": {Scope.LINE: frozenset({"peak-cumulative"})},
    "stack-total": {Scope.LINE: frozenset({"stack-order", "stack-percent"})},
}


def unsuppressed(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that no other one suppresses, in the same order."""
    rank = _RANKS
    kept: set[int] = set()
    by_line: dict[tuple[DumpFile, int], set[str]] = defaultdict(set)
    by_record: dict[tuple[DumpFile, Record | int], set[str]] = defaultdict(set)
    by_file: dict[DumpFile, set[str]] = defaultdict(set)
    for number in sorted(range(len(findings)), key=lambda at: rank.get(findings[at].code, 0)):
        finding = findings[number]
        places = [finding.place, *(related.place for related in finding.related)]
        if any(
            finding.code in by_line[place.file, place.line]
            or finding.code in by_record[_record(place)]
            or finding.code in by_file[place.file]
            for place in places
        ):
            continue
        kept.add(number)
        scopes = SUPPRESSES.get(finding.code, {})
        for place in places:
            by_line[place.file, place.line] |= scopes.get(Scope.LINE, frozenset())
            by_record[_record(place)] |= scopes.get(Scope.RECORD, frozenset())
            by_file[place.file] |= scopes.get(Scope.FILE, frozenset())
    return [finding for number, finding in enumerate(findings) if number in kept]


def _record(place: Place) -> tuple[DumpFile, Record | int]:
    return place.file, place.file.records.at(place.line) or place.line


def suppressors_of(codes: Iterable[str]) -> set[str]:
    """Return the codes that suppress some of these, directly or through others."""
    found: set[str] = set()
    left = set(codes)
    while left:
        left = {
            code
            for code, scopes in SUPPRESSES.items()
            if code not in found and any(left & suppressed for suppressed in scopes.values())
        }
        found |= left
    return found


def ranks(
    table: Mapping[str, Mapping[Scope, Iterable[str]]],
) -> dict[str, int]:
    """Return a number for each code of a table, greater than those of the codes that suppress it.

    Raises:
        ValueError: a code suppresses itself, directly or through others.
    """
    found: dict[str, int] = {}

    def visit(code: str, path: tuple[str, ...]) -> int:
        if code in path:
            raise ValueError(f"{' suppresses '.join((*path, code))}")
        if code not in found:
            above = [
                visit(other, (*path, code))
                for other, scopes in table.items()
                if any(code in codes for codes in scopes.values())
            ]
            found[code] = max(above, default=-1) + 1
        return found[code]

    for code, scopes in table.items():
        visit(code, ())
        for codes in scopes.values():
            for each in codes:
                visit(each, ())
    return found


_RANKS = ranks(SUPPRESSES)
