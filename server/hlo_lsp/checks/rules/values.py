"""The headers of values: once in an allocation, and once in an entry under ``Used values``."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.analysis.values.header_faults import Alone, Renumbered
from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Fix
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.used_value import UsedValue

_MOST = 20  # values that one side lacks before they are told together
_WORDS = {"NAME": "name", "INDEX": "index", "PHI": "mark `(phi)`", "COLOR": "memory space"}


def duplicate_value_id(survey: Survey) -> Iterator[Finding]:
    """An id stands once among the values of the allocations and once under `Used values`.

    Of two lines with one id that is accused which differs from the other file, or is out of order.
    """
    headers = disagreements(survey.dump)
    for doubled in headers.doubled:
        intruder, twin = doubled.intruder, doubled.twin
        id_, same = intruder.record.id, intruder.record.key == twin.record.key
        message = f"the id {id_} is that of `{twin.record.key}` on line {twin.number:,}"
        if same:
            message = f"value {id_} `{twin.record.key}` stands on line {twin.number:,} already"
        elif doubled.own is not None:
            message += f"; {_elsewhere(intruder)} `{intruder.record.key}` is value {doubled.own}"
        finding = survey.finding(
            intruder, "VALUE_ID", message, _related(twin, "VALUE_ID", "the same id")
        )
        record = intruder.record
        if same:
            if not (isinstance(record, UsedValue) and record.shares_lines):
                finding = finding.fixed(Fix.drop(intruder.file, record.line, record.line_count))
        elif doubled.own is not None:
            finding = finding.put(str(doubled.own))
        yield finding


def value_order(survey: Survey) -> Iterator[Finding]:
    """Ids ascend inside an allocation, and under `Used values`."""
    headers = disagreements(survey.dump)
    for fault in headers.out_of_order:
        header, other = fault.header, fault.exchanged or fault.before
        id_ = header.record.id
        if other is None:
            yield survey.finding(
                header, "VALUE_ID", f"ids ascend, but value {id_} stands in front of smaller ones"
            )
            continue
        if fault.exchanged is not None:
            message = f"ids ascend, but values {id_} and {other.record.id} have changed places"
        else:
            message = f"ids ascend, but value {id_} is not in front of value {other.record.id}"
        where = f"value {other.record.id}"
        yield survey.finding(header, "VALUE_ID", message, _related(other, "VALUE_ID", where))


def value_set_mismatch(survey: Survey) -> Iterator[Finding]:
    """The values in the allocations are those under `Used values`."""
    headers = disagreements(survey.dump)
    yield from _alone(survey, headers.unassigned, "lies in no allocation", "lie in no allocation")
    no_entry = "no entry under `Used values`"
    yield from _alone(survey, headers.unused, f"has {no_entry}", f"have {no_entry}")
    for fault in headers.renumbered:
        yield _renumbered(survey, fault)


def _alone(survey: Survey, alone: list[Alone], one: str, many: str) -> Iterator[Finding]:
    """A finding for each value, or one for all if they are so many that a whole part is gone."""
    if len(alone) > _MOST:
        first = alone[0].header
        message = f"{len(alone):,} values from {first.record.id} `{first.record.key}` on {many}"
        yield survey.finding(first, "VALUE_ID", message)
        return
    for value in alone:
        record = value.header.record
        message = f"value {record.id} `{record.key}` {one}"
        yield survey.finding(value.header, "VALUE_ID", message)


def _renumbered(survey: Survey, fault: Renumbered) -> Finding:
    accused, other = fault.accused, fault.other
    return survey.finding(
        accused,
        "VALUE_ID",
        f"`{accused.record.key}` is value {accused.record.id} here and value {other.record.id} "
        f"{_elsewhere(accused)}",
        _related(other, "VALUE_ID", f"value {other.record.id}"),
    ).put(str(other.record.id))


def header_mismatch(survey: Survey) -> Iterator[Finding]:
    """Name, index, phi and memory space of a value are the same in its allocation and its entry."""
    headers = disagreements(survey.dump)
    for fault in headers.renamed:
        accused, other, role = fault.accused, fault.other, fault.field
        here, there = _said(accused, role), _said(other, role)
        finding = survey.finding(
            accused,
            role if _has(accused, role) else "NAME",
            f"the {_WORDS[role]} of value {accused.record.id} is {here} here and {there} "
            f"{_elsewhere(accused)}",
            _related(other, role if _has(other, role) else "NAME", f"{there} here"),
        )
        text = _text(other, role) if _has(accused, role) else None
        yield finding if text is None else finding.put(text)


def _has(header: LocatedRecord[Any], role: str) -> bool:
    record = header.record
    present = {"INDEX": record.index is not None, "PHI": record.phi, "COLOR": record.color}
    return present.get(role) not in {False, None} if role in present else True


def _text(header: LocatedRecord[Any], role: str) -> str | None:
    """What a header says in a field, where other text in the same field is all that it takes."""
    return (
        header.record.name if role == "NAME" else header.record.index if role == "INDEX" else None
    )


def _said(header: LocatedRecord[Any], role: str) -> str:
    record = header.record
    if role == "NAME":
        return f"`{record.name}`"
    if role == "INDEX":
        return "missing" if record.index is None else f"`{record.index}`"
    if role == "PHI":
        return "there" if record.phi else "missing"
    return "missing" if record.color is None else f"{record.color}"


def _elsewhere(header: LocatedRecord[Any]) -> str:
    return "in its allocation" if isinstance(header.record, UsedValue) else "under `Used values`"


def _related(header: LocatedRecord[Any], role: str, message: str) -> Related:
    return Related(field_place(header.file, header.record, role), message)


_LISTS = frozenset({Part.ALLOCATIONS, Part.ENTRIES})
RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "duplicate-value-id", Severity.ERROR, duplicate_value_id, _LISTS, needs_whole_files=False
    ),
    WholeRule("value-order", Severity.ERROR, value_order, _LISTS, needs_whole_files=False),
    WholeRule(
        "value-set-mismatch", Severity.ERROR, value_set_mismatch, _LISTS, needs_whole_files=False
    ),
    WholeRule("header-mismatch", Severity.ERROR, header_mismatch, _LISTS, needs_whole_files=False),
)
