"""Helpers that damage real dumps and return the findings of the rules.

New scanners read each text, so tests are independent.
"""

from pathlib import Path

from checks.checked import check_paths
from hlo_lsp.checks import check_jobs
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner

Report = tuple[str, str, str]
_PROBLEM_SEVERITIES = {Severity.ERROR, Severity.WARNING}  # Other severities are advice.


def replace_once(text: str, old: str, new: str) -> str:
    """Return the text with the only occurrence of ``old`` replaced."""
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)


def dump_of(text: str, path: str = "dump.txt") -> Compile:
    """Return a compile of one file."""
    memory_scanner.cache_clear()
    module_scanner.cache_clear()
    return Compile([DumpFile.of_text(text, path)])


def findings(text: str, path: str = "dump.txt") -> list[Finding]:
    """Return the findings in a dump of one file, without advice."""
    dump = dump_of(text, path)
    return [one for one in check(dump, dump.files[0]) if one.severity in _PROBLEM_SEVERITIES]


def quoted(place: Place) -> str:
    """Return the line of a place with its number from 1, and the place between ``»`` and ``«``."""
    line = place.file.lines[place.line]
    marked = f"{line[: place.start]}»{line[place.start : place.end]}«{line[place.end :]}"
    return f"{place.line + 1}: {marked}"


def report_of(finding: Finding) -> Report:
    """Return the code, the quoted place, and the message of a finding."""
    return finding.code, quoted(finding.place), finding.message


def reports(text: str, path: str = "dump.txt") -> list[Report]:
    """Return the code, place, and message of each finding in a dump of one file, without advice."""
    return [report_of(finding) for finding in findings(text, path)]


def related(finding: Finding) -> list[tuple[str, str]]:
    """Return the related places of a finding with their messages."""
    return [(quoted(other.place), other.message) for other in finding.related]


def found_in(folder: Path) -> list[tuple[str, check_jobs.FindingSummary]]:
    """Return the findings in a folder, each with the end of its file name."""
    memory_scanner.cache_clear()
    module_scanner.cache_clear()
    return [
        (one.path.name.rpartition("after_optimizations")[2], finding)
        for one in check_paths([folder])
        for finding in one.findings
        if finding.severity in _PROBLEM_SEVERITIES
    ]
