"""Precedence of rules: the one that reports a contradiction that several rules find.

One wrong number often contradicts several others, so that several rules report it. A rule does not
decide which number is wrong: ``precedence.toml`` selects the finding that is kept on a line.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from graphlib import TopologicalSorter

from hlo_lsp.checks.explanations import read_table
from hlo_lsp.checks.finding import Finding
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.records import Record


class Scope(Enum):
    """The part of a dump that a finding shares with the findings that it suppresses."""

    LINE = "line"
    RECORD = "record"
    FILE = "file"


Table = Mapping[str, Mapping[Scope, frozenset[str]]]
SUPPRESSES: Table = {
    code: {Scope(scope): frozenset(codes) for scope, codes in scopes.items()}
    for code, scopes in read_table("hlo_lsp.checks", "precedence.toml").items()
}


def ranks(table: Table) -> dict[str, int]:
    """Return a number for each code of a table, greater than those of the codes that suppress it.

    Raises:
        CycleError: a code suppresses itself, directly or through others.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for code, scopes in table.items():
        for suppressed in frozenset().union(*scopes.values()):
            sorter.add(suppressed, code)
    return {code: rank for rank, code in enumerate(sorter.static_order())}


_RANKS = ranks(SUPPRESSES)


def unsuppressed(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that no other one suppresses, in the same order."""
    kept: set[int] = set()
    suppressed: defaultdict[tuple[Scope, DumpFile, object], set[str]] = defaultdict(set)
    for number in sorted(range(len(findings)), key=lambda at: _RANKS.get(findings[at].code, 0)):
        finding = findings[number]
        places = (finding.place, *(related.place for related in finding.related))
        if any(finding.code in suppressed[key] for place in places for key in _keys(place)):
            continue
        kept.add(number)
        for scope, codes in SUPPRESSES.get(finding.code, {}).items():
            for key in (key for place in places for key in _keys(place) if key[0] is scope):
                suppressed[key] |= codes
    return [finding for number, finding in enumerate(findings) if number in kept]


def _keys(place: Place) -> Iterable[tuple[Scope, DumpFile, object]]:
    file, line = place.file, place.line
    record: Record | int = file.records.at(line) or line
    return (Scope.LINE, file, line), (Scope.RECORD, file, record), (Scope.FILE, file, None)


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
