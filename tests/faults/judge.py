"""Comparison of the findings in a damaged compile with the expected ones."""

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
from hlo_lsp.checks.framework.options import DEFAULTS
from hlo_lsp.checks.framework.rule import WholeRule
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.foreign_files import same_compile

# Advice and budgets concern programs, not dumps. A missing file concerns a dump, but its finding is
# not an error.
_DUMP_SEVERITIES = {Severity.ERROR, Severity.WARNING}
RULES = [
    rule
    for rule in CATALOGUE
    if (rule.severity in _DUMP_SEVERITIES and not rule.code.startswith("budget-"))
    or rule.code == "sibling-missing"
]


class Verdict(Enum):
    """Classification of the findings that a damage causes."""

    EXACT = "exact"  # on an expected line, with the code of the fault
    INEXACT = "inexact"  # on another line or with another code
    MISSED = "missed"  # no finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """One damage and its findings.

    Attributes:
        findings_elsewhere: number of findings on unexpected lines.
        findings_of_other_codes: number of findings with other codes on the expected lines.
    """

    code: str
    name: str
    location: str
    description: str
    verdict: Verdict
    findings_elsewhere: int
    findings_of_other_codes: int
    findings: tuple[str, ...]
    failures: tuple[str, ...]

    def __str__(self) -> str:
        head = (
            f"{self.verdict.value}: {self.code}, {self.name} at {self.location}: "
            f"{self.description[:200]}"
        )
        return "\n  ".join((head, *self.failures, *self.findings[:4]))


def judge(fault: Fault, dump: Dump, damage: Damage) -> Outcome:
    """Check a damaged compile and return the outcome."""
    with failures_of_rules() as failures:
        damaged = dump.damaged_compile(damage)
        found = findings(damaged)
        failures.extend(_misplaced(damaged))
    is_expected = [any(spot in damage.expected for spot in lines_of(one)) for one in found]
    is_exact = [
        is_on_line and one.code == fault.code
        for one, is_on_line in zip(found, is_expected, strict=True)
    ]
    verdict = Verdict.EXACT if any(is_exact) else Verdict.INEXACT if found else Verdict.MISSED
    reported = tuple(
        f"{Path(one.place.file.label).name}:{one.place.line + 1}: {one.message} [{one.code}]"
        for one in found
    )
    spots = sorted((path.name, line + 1) for path, line in damage.expected)
    location = f"{dump.name} {spots[0][0].rpartition('after_optimizations')[2]}:" + ",".join(
        str(line) for _, line in spots
    )
    return Outcome(
        fault.code,
        fault.name,
        location,
        damage.description,
        verdict,
        is_expected.count(False),
        sum(is_expected) - sum(is_exact),
        reported,
        tuple(failures),
    )


def lines_of(finding: Finding) -> list[tuple[Path | None, int]]:
    """Return the lines of a finding and of its related places."""
    places = [finding.place, *(related.place for related in finding.related)]
    return [(place.file.path, place.line) for place in places]


def findings(dump: Compile) -> list[Finding]:
    """Return the findings in all files of a compile."""
    return [found for file in dump.files for found in run.check(dump, file, RULES)]


def _misplaced(dump: Compile) -> Iterator[str]:
    """Yield the findings of rules on compiles that are in files that these rules exclude."""
    for rule in RULES:
        if isinstance(rule, WholeRule):
            for found in rule.findings(same_compile(dump, dump.files[0]), dump, DEFAULTS):
                if not rule.may_find_in(found.place.file):
                    yield f"{rule.code} is in {found.place.file.label}, unlike {rule.places}"


class _RecordingHandler(logging.Handler):
    """Log handler that records messages with their exceptions."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.messages.append(f"{record.getMessage()}: {error!r}")


@contextmanager
def failures_of_rules() -> Iterator[list[str]]:
    """Yield the messages about rules that raise in the block, which a run logs and skips."""
    handler, logger = _RecordingHandler(), logging.getLogger("hlo_lsp.checks")
    logger.addHandler(handler)
    propagate = logger.propagate
    logger.propagate = False
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
