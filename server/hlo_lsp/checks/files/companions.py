"""The files of one compile beside each other."""

from collections.abc import Iterator

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import top_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.foreign_files import foreign_files, missing_companions


def sibling_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """The files of one stem are of one compile: they have the same values, names and shapes."""
    for file, other, comparison in foreign_files(survey.context.whole):
        yield survey.report(
            top_place(file),
            f"this file is of another compile than `{_name(other)}`: {comparison.agreeing:,} of "
            f"{comparison.compared:,} compared {comparison.what} are the same",
            Related(top_place(other), "the other compile"),
        )


def sibling_missing(survey: CompileCheck) -> Iterator[Finding]:
    """XLA writes the used values and the live ranges together, and never without the others."""
    for file, problem in missing_companions(survey.context.whole):
        yield survey.report(top_place(file), f"{problem}, which is written with this file")


def _name(file: DumpFile) -> str:
    return file.label if file.path is None else file.path.name


_READ = frozenset(Part)
RULES: tuple[AnyRule, ...] = (
    WholeRule("sibling-mismatch", Severity.ERROR, sibling_mismatch, _READ, needs_whole_files=False),
    WholeRule(
        "sibling-missing", Severity.INFORMATION, sibling_missing, _READ, needs_whole_files=False
    ),
)
