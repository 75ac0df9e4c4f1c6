"""Which rule reports a contradiction that several rules find.

One wrong number often contradicts several others, so that several rules report it. A rule does not
search for the culprit: this table says which of the findings on the same lines is kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from hlo_lsp.checks.finding import Finding
from hlo_lsp.model.dump_file import DumpFile


class Scope(Enum):
    """What a finding and the findings that it suppresses have in common."""

    LINE = "line"  # a line of one, or of a place related to it, is a line of the other
    FILE = "file"  # a file of one, or of a place related to it, is a file of the other


# For each code: the codes that it suppresses, and where. A suppressed finding suppresses nothing.
SUPPRESSES: Mapping[str, Mapping[Scope, frozenset[str]]] = {}


def unsuppressed(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that no other one suppresses, in the same order."""
    rank = _RANKS
    kept: set[int] = set()
    by_line: dict[tuple[DumpFile, int], set[str]] = defaultdict(set)
    by_file: dict[DumpFile, set[str]] = defaultdict(set)
    for number in sorted(range(len(findings)), key=lambda at: rank.get(findings[at].code, 0)):
        finding = findings[number]
        places = [finding.place, *(related.place for related in finding.related)]
        if any(
            finding.code in by_line[place.file, place.line] or finding.code in by_file[place.file]
            for place in places
        ):
            continue
        kept.add(number)
        scopes = SUPPRESSES.get(finding.code, {})
        for place in places:
            by_line[place.file, place.line] |= scopes.get(Scope.LINE, frozenset())
            by_file[place.file] |= scopes.get(Scope.FILE, frozenset())
    return [finding for number, finding in enumerate(findings) if number in kept]


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
