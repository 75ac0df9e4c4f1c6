"""The files of one compile beside each other."""

from collections.abc import Iterator

from hlo_lsp.analysis.files.siblings import missing_siblings, strangers
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.checkpoint import checkpoint


def sibling_mismatch(survey: Survey) -> Iterator[Finding]:
    """The files of one stem speak of one compile: the same values, names and shapes.

    Told once, on the first line of the file that differs from the others.
    """
    for stranger in strangers(survey.context.whole):
        comparison, home = stranger.comparison, stranger.home
        yield survey.accuse(
            _top(stranger.file),
            f"this file is of another compile than `{_name(home)}`: of {comparison.compared:,} "
            f"{comparison.what} that were compared {comparison.agreeing:,} are the same there",
            Related(_top(home), "the other compile"),
        )


def sibling_missing(survey: Survey) -> Iterator[Finding]:
    """XLA writes the used values and the live ranges together, and never without the others."""
    for missing in missing_siblings(survey.context.whole):
        yield survey.accuse(
            _top(missing.beside),
            f"`{missing.name}` {missing.trouble}, which is written with this file",
        )
    checkpoint()


def _top(file: DumpFile) -> Place:
    line = next((row for row, text in enumerate(file.lines) if text.strip()), 0)
    return Place(file, line, 0, len(file.lines[line]))


def _name(file: DumpFile) -> str:
    return file.label if file.path is None else file.path.name


_READ = frozenset(Part)
RULES: tuple[AnyRule, ...] = (
    WholeRule("sibling-mismatch", Severity.ERROR, sibling_mismatch, _READ, needs_whole_files=False),
    WholeRule(
        "sibling-missing", Severity.INFORMATION, sibling_missing, _READ, needs_whole_files=False
    ),
)
