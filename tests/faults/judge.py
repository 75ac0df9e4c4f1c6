"""Findings in a damaged compile, compared with the expected ones."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from faults.dump import Damage, Dump
from faults.fault import Fault
from hlo_lsp.checks import run
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.model.dump_set import DumpSet

# Advice and budgets are about programs, not about dumps. A missing file is about a dump, though not
# an error.
_OF_DUMPS = {Severity.ERROR, Severity.WARNING}
RULES = [
    rule
    for rule in CATALOGUE
    if (rule.severity in _OF_DUMPS and not rule.code.startswith("budget-"))
    or rule.code == "sibling-missing"
]


class Verdict(Enum):
    """How a damage was reported."""

    RIGHT = "right"  # at one of the places that contradict each other, with the code of the fault
    OTHERWISE = "otherwise"  # on another line or with another code
    MISSED = "missed"  # nothing was reported


@dataclass(frozen=True, slots=True)
class Outcome:
    """One damage and what was reported of it.

    ``echoes`` is the number of findings on lines that nothing was done to, ``doubles`` that of
    other codes on the right ones.
    """

    code: str
    name: str
    where: str
    done: str
    verdict: Verdict
    echoes: int
    doubles: int
    findings: tuple[str, ...]
    failures: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{self.verdict.value}: {self.code}, {self.name} at {self.where}: {self.done[:200]}"
        return "\n  ".join((head, *self.failures, *self.findings[:4]))


def judge(fault: Fault, dump: Dump, damage: Damage) -> Outcome:
    """Check a damaged compile."""
    with failures_of_rules() as failures:
        found = findings(dump.after(damage))
    on_spot = [any(at in damage.right for at in lines_of(one)) for one in found]
    right = [
        is_right and one.code == fault.code for one, is_right in zip(found, on_spot, strict=True)
    ]
    verdict = Verdict.RIGHT if any(right) else Verdict.OTHERWISE if found else Verdict.MISSED
    reported = tuple(
        f"{Path(one.place.file.label).name}:{one.place.line + 1}: {one.message} [{one.code}]"
        for one in found
    )
    spots = sorted((path.name, line + 1) for path, line in damage.right)
    where = f"{dump.name} {spots[0][0].rpartition('after_optimizations')[2]}:" + ",".join(
        str(line) for _, line in spots
    )
    return Outcome(
        fault.code,
        fault.name,
        where,
        damage.description,
        verdict,
        on_spot.count(False),
        sum(on_spot) - sum(right),
        reported,
        tuple(failures),
    )


def lines_of(finding: Finding) -> list[tuple[Path | None, int]]:
    """Return the lines that contradict each other according to a finding."""
    places = [finding.place, *(related.place for related in finding.related)]
    return [(place.file.path, place.line) for place in places]


def findings(dump: DumpSet) -> list[Finding]:
    """Return the findings in all files of a compile."""
    return [found for file in dump.files for found in run.check(dump, file, RULES)]


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.seen.append(f"{record.getMessage()}: {error!r}")


@contextmanager
def failures_of_rules() -> Iterator[list[str]]:
    """Return the rules that fail in the block, which a run skips."""
    handler, logger = _Kept(), logging.getLogger("hlo_lsp.checks")  # of rules on compiles, too
    logger.addHandler(handler)
    was = logger.propagate
    logger.propagate = False
    try:
        yield handler.seen
    finally:
        logger.removeHandler(handler)
        logger.propagate = was
