"""The files of one compile beside each other."""

from collections.abc import Iterable, Iterator
from typing import Any

from hlo_lsp.checks.case import CompileCheck, field_place, top_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.place import LocatedRecord, Place
from hlo_lsp.model.sections import disorder, ending, is_joined, last_record
from hlo_lsp.program.foreign_files import foreign_files, missing_companions
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint


def sibling_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report files of one stem that are of different compiles."""
    for file, other, comparison in foreign_files(survey.folder):
        yield survey.report(
            top_place(file),
            f"this file is of another compile than `{_name(other)}`: {comparison.agreeing:,} of "
            f"{comparison.compared:,} compared {comparison.what} are the same",
            Related(top_place(other), "the other compile"),
        )


def sibling_missing(survey: CompileCheck) -> Iterator[Finding]:
    """XLA writes the used values and the live ranges together, and never without the others."""
    for file, problem in missing_companions(survey.folder):
        yield survey.report(top_place(file), f"{problem}, which is written with this file")


def _name(file: DumpFile) -> str:
    return file.label if file.path is None else file.path.name


def section_order(survey: CompileCheck) -> Iterator[Finding]:
    """Report sections that are not in the order in which XLA prints them, each once."""
    for file in survey.dump.files:
        for fault in disorder(file):
            twin = fault.twin
            first = [] if twin is None else [Related(field_place(file, twin), "the first one")]
            yield survey.finding(LocatedRecord(file, fault.record), None, fault.message, *first)
        checkpoint()


def truncated(survey: CompileCheck) -> Iterator[Finding]:
    """Report texts that end inside their last record or section."""
    for file in survey.dump.files:
        found = ending(file)
        if found is not None:
            message = f"the text ends here, expected {found.missing}"
            yield survey.report(_line_place(file, found.line), message)
        checkpoint()
    yield from _short_lists(survey)


def _short_lists(survey: CompileCheck) -> Iterator[Finding]:
    """Report a list of values that ends before that of the other file does."""
    files = [file for file in survey.dump.files if ending(file) is None and not is_joined(file)]
    assigned = next((file for file in files if len(file.memory.allocations)), None)
    entries = next((file for file in files if len(file.memory.entries)), None)
    if assigned is None or entries is None:
        return
    values, known = assigned.memory.assigned, entries.memory.entries
    highest = max(known)
    after = [LocatedRecord(assigned, one) for one in values.firsts() if one.id > highest]
    if not survey.dump.has_broken_used_values and isinstance(_last(entries), UsedValue):
        yield from _short(survey, entries, "entries", after, entries.memory.entry_keys)
    lacking = [LocatedRecord(entries, one) for one in known.firsts() if (one.id or 0) not in values]
    if (
        lacking
        and not survey.dump.has_broken_assigned_values
        and _ends_early(survey, assigned, lacking)
    ):
        yield from _short(survey, assigned, "allocations", lacking, assigned.memory.assigned_keys)


def _ends_early(
    survey: CompileCheck, file: DumpFile, lacking: list[LocatedRecord[UsedValue]]
) -> bool:
    """Return whether the last allocations are missing, or the last values of the last one."""
    allocations, last = file.memory.allocations, _last(file)
    head = file.records.head_of(last) if isinstance(last, AssignedValue) else last
    if not isinstance(head, AllocationLine) or max(allocations) != len(allocations) - 1:
        return False
    total = survey.dump.total_bytes
    if total is not None and total > sum(one.size for one in allocations.records()):
        return True
    values = [one for one in file.records.members(head) if isinstance(one, AssignedValue)]
    end = max((value.offset + value.size for value in values), default=0)
    is_short = end < head.size or len(lacking) > 1
    highest = max((value.id for value in values), default=-1)
    return is_short and all((one.record.id or 0) > highest for one in lacking)


def _short(
    survey: CompileCheck,
    file: DumpFile,
    what: str,
    values: "Iterable[LocatedRecord[Any]]",
    keys: MultiMap[str, Any],
) -> Iterator[Finding]:
    found = last_record(file)
    missing = sorted(
        (one for one in values if one.record.key not in keys), key=lambda one: one.line
    )
    if missing and found is not None:
        first = min(missing, key=lambda one: one.line)
        place = field_place(first.file, first.record, "VALUE_ID")
        count = "1 more value" if len(missing) == 1 else f"{len(missing):,} more values"
        yield survey.report(
            _line_place(file, found[0]),
            f"the text ends here, expected the {what} of {count}",
            Related(place, "the next value"),
        )


def _last(file: DumpFile) -> Record | None:
    found = last_record(file)
    return None if found is None else found[1]


def _line_place(file: DumpFile, line: int) -> Place:
    text = file.lines[line]
    return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))


RULES: tuple[AnyRule, ...] = (
    WholeRule("sibling-mismatch", Severity.ERROR, sibling_mismatch, needs_whole_files=False),
    WholeRule("sibling-missing", Severity.INFORMATION, sibling_missing, needs_whole_files=False),
    WholeRule("section-order", Severity.ERROR, section_order, needs_whole_files=False),
    WholeRule("truncated", Severity.ERROR, truncated, needs_whole_files=False),
)
