"""The order of the sections of a memory file, and texts that end too early."""

from collections.abc import Iterator

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.files.sections import Astray, Disorder, Late, Missing, Repeated, disorder
from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.text.checkpoint import checkpoint


def section_order(survey: Survey) -> Iterator[Finding]:
    """The sections of a file stand in the order in which XLA prints them, each once.

    Two dumps in one file are told where the second begins, a section line that is gone at the row
    below it.
    """
    for file in survey.dump.files:
        for fault in disorder(file):
            yield _out_of_order(survey, file, fault)
        checkpoint()


def _out_of_order(survey: Survey, file: DumpFile, fault: Disorder) -> Finding:
    title = f"`{fault.section.title}`"
    if isinstance(fault, Repeated):
        first = LocatedRecord(file, fault.first)
        return survey.finding(
            LocatedRecord(file, fault.head),
            None,
            f"{title} begins a second time, the first time on line {first.number:,}: "
            "this text is more than one dump",
            Related(field_place(file, fault.first), "the first time"),
        )
    if isinstance(fault, Late):
        message = f"{title} stands in front of `{fault.behind.title}` in a dump, not behind it"
        return survey.finding(LocatedRecord(file, fault.head), None, message)
    if isinstance(fault, Missing):
        message = f"{title} is missing in front of this line"
        return survey.finding(LocatedRecord(file, fault.before), None, message)
    assert isinstance(fault, Astray)
    message = f"this line is one of those below {title}, and stands below `{fault.among.title}`"
    return survey.finding(LocatedRecord(file, fault.first), None, message)


def truncated(survey: Survey) -> Iterator[Finding]:
    """A text goes on to the end of its last record, and of its last section.

    The accused place is the last line. Of lists that do not say how long they are the other files
    of the compile know.
    """
    for file in survey.dump.files:
        found = ending(file)
        if found is not None:
            message = f"the text ends here: {found.missing} should follow"
            yield survey.accuse(_line_place(file, found.line), message)
        checkpoint()
    headers = disagreements(survey.dump)
    for short in headers.short:
        values = "another value" if short.missing == 1 else f"{short.missing:,} more values"
        yield survey.accuse(
            _line_place(short.file, short.line),
            f"the text ends here: the {short.what} of {values} should follow",
        )


def _line_place(file: DumpFile, line: int) -> Place:
    text = file.lines[line]
    return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))


_PRINTED = frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("section-order", Severity.ERROR, section_order, _PRINTED, needs_whole_files=False),
    WholeRule("truncated", Severity.ERROR, truncated, frozenset(Part), needs_whole_files=False),
)
