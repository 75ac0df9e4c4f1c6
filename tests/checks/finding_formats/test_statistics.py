"""Tests for the number of findings by code."""

from hlo_lsp.checks.check_jobs import FindingSummary, Spot
from hlo_lsp.checks.finding_formats import Count, count_json, counts_of
from hlo_lsp.checks.framework.finding import Severity


def summary(code: str, severity: Severity, path: str = "a.txt") -> FindingSummary:
    return FindingSummary(code, severity, Spot(path, 1, 1, 2), "m")


def test_severe_rules_come_first_then_frequent_ones() -> None:
    findings = [
        summary("padding-waste", Severity.INFORMATION),
        summary("padding-waste", Severity.INFORMATION),
        summary("overlap", Severity.ERROR),
        summary("size-mismatch", Severity.ERROR, "b.txt"),
        summary("size-mismatch", Severity.ERROR),
        summary("size-mismatch", Severity.ERROR),
        summary("color-mismatch", Severity.ERROR),
    ]
    assert counts_of(findings) == [
        Count("size-mismatch", Severity.ERROR, 3, 2),
        Count("color-mismatch", Severity.ERROR, 1, 1),
        Count("overlap", Severity.ERROR, 1, 1),
        Count("padding-waste", Severity.INFORMATION, 2, 1),
    ]
    assert counts_of([]) == []


def test_json_contains_counts() -> None:
    assert count_json(Count("overlap", Severity.ERROR, 3, 2)) == {
        "code": "overlap",
        "severity": "error",
        "count": 3,
        "files": 2,
    }
