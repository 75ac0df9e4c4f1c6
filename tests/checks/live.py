"""Helpers that damage live ranges of real dumps and return the findings of their rules."""

from pathlib import Path

from checks.damage import Report, replace_once, report_of, reports
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.run import check
from hlo_lsp.model.workspace import DumpWorkspace

PREFIXES = ("schedule-", "live-range-", "peak-", "stack-")


def live_range_reports(text: str, path: str = "dump.txt") -> list[Report]:
    """Return the findings of the rules on live ranges in a dump in one file."""
    return [found for found in reports(text, path) if found[0].startswith(PREFIXES)]


def change(folder: Path, old: str, new: str, of: str = "-live-range.txt") -> Path:
    """Replace text in the file of a compile whose name ends with `of`, and return its path."""
    (path,) = folder.glob(f"*{of}")
    path.write_text(replace_once(path.read_text("utf-8"), old, new), "utf-8")
    return path


def reports_after_change(
    folder: Path, old: str, new: str, of: str = "-live-range.txt"
) -> list[Report]:
    """Return the findings of the rules on live ranges in a compile after a change of one file."""
    change(folder, old, new, of)
    return [report_of(one) for one in problems(folder) if one.code.startswith(PREFIXES)]


def problems(folder: Path, severity: Severity = Severity.ERROR) -> list[Finding]:
    """Return the findings of one severity in the files of a compile."""
    library = DumpWorkspace()
    found: list[Finding] = []
    for path in sorted(folder.glob("*.txt")):
        file = library.file(path)
        found += check(library.compile_of(file), file)
    return [one for one in found if one.severity is severity]
