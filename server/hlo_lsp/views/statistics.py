"""How many findings there are of each code."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.told import Told


@dataclass(frozen=True, slots=True)
class Count:
    """The findings of a code, and in how many files they are."""

    code: str
    severity: Severity
    count: int
    files: int


def counts_of(findings: Iterable[Told]) -> list[Count]:
    """What there is of each code: the worst first, then what there is most of."""
    counts: Counter[tuple[Severity, str]] = Counter()
    files: dict[tuple[Severity, str], set[str]] = {}
    for told in findings:
        key = told.severity, told.code
        counts[key] += 1
        files.setdefault(key, set()).add(told.spot.path)
    found = [Count(key[1], key[0], count, len(files[key])) for key, count in counts.items()]
    return sorted(found, key=lambda one: (one.severity.rank, -one.count, one.code))


def count_json(one: Count) -> dict[str, Any]:
    """What ``check --statistics --format json`` prints of a code. The keys are a promise."""
    return {
        "code": one.code,
        "severity": one.severity.value,
        "count": one.count,
        "files": one.files,
    }
