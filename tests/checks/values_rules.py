"""Helpers that return the findings of rules on entries, headers, sections, and files.

Together, these rules report each damage once. Other rules have separate tests.
"""

from collections.abc import Callable
from pathlib import Path

from checks.damage import Report, dump_of, quoted, replace_once
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace

CODES = {
    "duplicate-value-id",
    "header-mismatch",
    "human-size",
    "position-mismatch",
    "section-order",
    "shape-definition-mismatch",
    "sibling-mismatch",
    "sibling-missing",
    "truncated",
    "use-mismatch",
    "value-order",
    "value-set-mismatch",
}
RULES = [rule for rule in CATALOGUE if rule.code in CODES]


def findings_of(dump: Compile) -> list[Finding]:
    """Return the findings of these rules in all files of a compile."""
    return [found for file in dump.files for found in check(dump, file, RULES)]


def reports_of(text: str, path: str = "dump.txt") -> list[Report]:
    """Return the code, place, and message of each finding in a dump of one file."""
    return [
        (found.code, quoted(found.place), found.message)
        for found in findings_of(dump_of(text, path))
    ]


def reports_in(folder: Path) -> list[tuple[str, str, str, str]]:
    """Return the file name suffix, code, place, and message of each finding in a folder."""
    path = min(folder.glob("*after_optimizations*.txt"), key=lambda path: path.name)
    library = DumpWorkspace()
    dump = library.compile_of(library.file(path))
    return [
        (
            found.place.file.label.rpartition("after_optimizations")[2],
            found.code,
            quoted(found.place),
            found.message,
        )
        for found in findings_of(dump)
    ]


def edit_file(folder: Path, end: str, change: Callable[[str], str]) -> None:
    """Change the text of the file whose name ends with `end`."""
    (path,) = folder.glob(f"*{end}")
    path.write_text(change(path.read_text()))


def replacement(old: str, new: str) -> Callable[[str], str]:
    """Return a function that replaces the only occurrence of ``old`` with ``new``."""
    return lambda text: replace_once(text, old, new)
