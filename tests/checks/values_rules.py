"""The rules on what entries, headers, sections and files have to do with each other, by themselves.

Each damage is to be reported once by all of them together; other rules have tests of their own.
"""

from collections.abc import Callable
from pathlib import Path

from checks.damage import Report, dump_of, quoted, replaced
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_set import DumpSet
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


def findings_of(dump: DumpSet) -> list[Finding]:
    """Return the findings of these rules in all files of a compile."""
    return [found for file in dump.files for found in check(dump, file, RULES)]


def reports_of(text: str, path: str = "dump.txt") -> list[Report]:
    """Code, place and sentence of what is wrong with a dump in one file."""
    return [
        (found.code, quoted(found.place), found.message)
        for found in findings_of(dump_of(text, path))
    ]


def reports_in(folder: Path) -> list[tuple[str, str, str, str]]:
    """Return the findings in a folder: end of the file name, code, place, message."""
    path = min(folder.glob("*after_optimizations*.txt"), key=lambda path: path.name)
    library = DumpWorkspace()
    dump = library.set_of(library.file(path))
    return [
        (
            found.place.file.label.rpartition("after_optimizations")[2],
            found.code,
            quoted(found.place),
            found.message,
        )
        for found in findings_of(dump)
    ]


def edited(folder: Path, end: str, change: Callable[[str], str]) -> None:
    """Change the text of the file whose name ends so."""
    (path,) = folder.glob(f"*{end}")
    path.write_text(change(path.read_text()))


def put(old: str, new: str) -> Callable[[str], str]:
    """Return a function that replaces the only occurrence of ``old``."""
    return lambda text: replaced(text, old, new)
