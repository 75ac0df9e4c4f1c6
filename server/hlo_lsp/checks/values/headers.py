"""The headers of values: once in an allocation, and once in an entry under ``Used values``.

XLA prints both, ``<ID NAME{INDEX} (phi) @COLOR>``, from one ``HloValue`` and in the order of ids
(``BufferAssignment::ToString`` in buffer_assignment.cc).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hlo_lsp.checks.case import CompileCheck, field_place, top_place
from hlo_lsp.checks.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

Header = AssignedValue | UsedValue
_MOST_SINGLE = 20  # missing values that are reported one by one
_NOUNS = {"NAME": "name", "INDEX": "index", "PHI": "mark `(phi)`", "COLOR": "memory space"}


@dataclass(frozen=True, slots=True)
class HeaderList:
    """The headers of a file, by id and by name and index."""

    file: DumpFile
    name: str
    ids: MultiMap[int, Any]
    keys: MultiMap[str, Any]

    def located(self, header: Header) -> LocatedRecord[Any]:
        """Return a header with its file."""
        return LocatedRecord(self.file, header)

    def related(self, header: Header, message: str, role: str = "VALUE_ID") -> Related:
        """Return a header as the place of related information."""
        return Related(field_place(self.file, header, role), message)

    def descents(self) -> Iterator[tuple[Header, Header]]:
        """Yield headers that are next to each other and whose ids do not ascend."""
        headers: list[Header] = sorted(self.ids.records(), key=lambda header: header.line)
        for one, other in pairwise(headers):
            # Ids ascend inside an allocation.
            is_next = isinstance(one, UsedValue) or other.line == one.line + 1
            if is_next and (one.id or 0) > (other.id or 0):
                yield one, other


def _lists(dump: DumpSet) -> tuple[HeaderList | None, HeaderList | None]:
    """Return the headers in the allocations, and those under ``Used values``."""
    assigned = entries = None
    for file in reversed(dump.files):
        index = file.memory
        if len(index.allocations) or len(index.assigned):
            assigned = HeaderList(file, "in its allocation", index.assigned, index.assigned_keys)
        if len(index.entries):
            entries = HeaderList(file, "under `Used values`", index.entries, index.entry_keys)
    return assigned, entries


def duplicate_value_id(survey: CompileCheck) -> Iterator[Finding]:
    """Report ids that occur twice in the allocations or under `Used values`."""
    assigned, entries = _lists(survey.dump)
    for mine, other in ((assigned, entries), (entries, assigned)):
        if mine is None or sum(1 for _ in mine.ids.records()) == len(mine.ids):
            continue
        for id_ in mine.ids:
            first, *rest = mine.ids.all(id_)
            for second in rest:
                pair = sorted((second, first), key=lambda one: not _own_header(one, mine, other))
                yield _duplicate(survey, mine, other, *pair)


def _duplicate(
    survey: CompileCheck, mine: HeaderList, other: HeaderList | None, header: Header, twin: Header
) -> Finding:
    message = f"id {header.id} is repeated: line {mine.located(twin).number:,} has it"
    related = [mine.related(twin, "the same id")]
    if header.key == twin.key:
        message += " for the same value"
        finding = survey.finding(mine.located(header), "VALUE_ID", message, *related)
        shares_lines = isinstance(header, UsedValue) and header.shares_lines
        drop = Fix.drop(mine.file, header.line, header.line_count)
        return finding if shares_lines else finding.fixed(drop)
    message += f" for `{twin.key}`"
    own = _own_header(header, mine, other)
    if own is None or other is None:
        return survey.finding(mine.located(header), "VALUE_ID", message, *related)
    message += f", and `{header.key}` has id {own.id} {other.name}"
    related.append(other.related(own, f"id {own.id}"))
    finding = survey.finding(mine.located(header), "VALUE_ID", message, *related)
    return finding.put(str(own.id))


def _own_header(header: Header, mine: HeaderList, other: HeaderList | None) -> Header | None:
    """Return the header of the same value in the other list, if its id is missing in this one."""
    if other is None or header.key is None:
        return None
    found = [one for one in other.keys.all(header.key) if one.id not in mine.ids]
    return found[0] if len(found) == 1 else None


def value_order(survey: CompileCheck) -> Iterator[Finding]:
    """Ids ascend inside an allocation, and under `Used values`."""
    for mine in filter(None, _lists(survey.dump)):
        for one, other in mine.descents():
            message = f"ids must ascend: value {other.id} is after value {one.id}"
            related = mine.related(one, f"value {one.id}")
            yield survey.finding(mine.located(other), "VALUE_ID", message, related)
        checkpoint()


def value_set_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report values that are only in the allocations, or only under `Used values`."""
    dump = survey.dump
    assigned, entries = _lists(dump)
    if assigned is None or entries is None:
        return
    unused = [] if dump.has_broken_used_values else _missing(assigned, entries)
    unassigned = [] if dump.has_broken_assigned_values else _missing(entries, assigned)
    by_key = {value.key: value for value in unused}
    pairs = [(entry, by_key[entry.key]) for entry in unassigned if entry.key in by_key]
    lists = assigned, entries
    disordered = {one for each in lists for pair in each.descents() for one in pair if pairs}
    for entry, value in pairs:
        # Reported is the one that does not ascend, if only one does not.
        mine, one, other, twin = entries, entry, assigned, value
        if value in disordered and entry not in disordered:
            mine, one, other, twin = assigned, value, entries, entry
        message = f"`{one.key}` has id {one.id} here and id {twin.id} {other.name}"
        related = other.related(twin, f"id {twin.id}")
        finding = survey.finding(mine.located(one), "VALUE_ID", message, related)
        is_sure = one in disordered and twin not in disordered
        yield finding.put(str(twin.id)) if is_sure else finding
    paired = {header for pair in pairs for header in pair}
    alone = [header for header in unassigned if header not in paired]
    yield from _alone(survey, entries, alone, assigned, "in any allocation")
    alone = [header for header in unused if header not in paired]
    yield from _alone(survey, assigned, alone, entries, "under `Used values`")


def _missing(mine: HeaderList, other: HeaderList) -> list[Header]:
    missing = [header for id_ in mine.ids if id_ not in other.ids for header in mine.ids.all(id_)]
    checkpoint()
    return sorted(missing, key=lambda header: header.line)


def _alone(
    survey: CompileCheck, mine: HeaderList, missing: Sequence[Header], other: HeaderList, where: str
) -> Iterator[Finding]:
    """Report each value, or all at once if they are so many that a whole part is missing."""
    lacking = Related(top_place(other.file), "this list")
    is_part = len(missing) > _MOST_SINGLE
    for header in missing[: 1 if is_part else None]:
        message = f"value {header.id} `{header.key}` is not {where}"
        if is_part:
            message = f"{len(missing):,} values are not {where}, first {header.id} `{header.key}`"
        yield survey.finding(mine.located(header), "VALUE_ID", message, lacking)


def header_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Name, index, phi and memory space of a value are the same in its allocation and its entry."""
    assigned, entries = _lists(survey.dump)
    if assigned is None or entries is None:
        return
    for entry in entries.ids.records():
        checkpoint()
        value = assigned.ids.first(entry.id)
        if value is None or _text(value) == _text(entry):
            continue
        if len(entries.ids.all(value.id)) + len(assigned.ids.all(value.id)) == 2:
            yield _differing(survey, entries, entry, assigned, value)


def _text(header: Header) -> tuple[object, ...]:
    return header.name, header.index, header.phi, header.color


def _differing(
    survey: CompileCheck,
    entries: HeaderList,
    entry: UsedValue,
    assigned: HeaderList,
    value: AssignedValue,
) -> Finding:
    """Report two headers at the one that the first position of the entry contradicts, if any."""
    here, there = _fields(entry), _fields(value)
    role = next(role for role in here if here[role] != there[role])
    position = next(entry.positions, None) if role in {"NAME", "INDEX"} else None
    definition = None if position is None else (position.name, position.index)
    mine, text, other, right = entries, here[role], assigned, there[role]
    header: Header = entry
    twin: Header = value
    if definition == _text(entry)[:2]:
        mine, header, text, other, twin, right = assigned, value, right, entries, entry, text
    finding = survey.finding(
        mine.located(header),
        role if text else "NAME",
        f"the {_NOUNS[role]} of value {header.id} is {text or 'missing'} here and "
        f"{right or 'missing'} {other.name}",
        other.related(twin, f"{right or 'missing'} here", role if right else "NAME"),
    )
    is_sure = definition == _text(twin)[:2] and text and right
    return finding.put(right.strip("`")) if is_sure else finding


def _fields(header: Header) -> dict[str, str]:
    """Return the fields of a header by their names in the grammar, empty if it lacks them."""
    return {
        "NAME": f"`{header.name}`",
        "INDEX": f"`{header.index}`" if header.index else "",
        "PHI": "present" if header.phi else "",
        "COLOR": "" if header.color is None else str(header.color),
    }


RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-value-id", Severity.ERROR, duplicate_value_id, ignores_sizes=True),
    WholeRule("value-order", Severity.ERROR, value_order, ignores_sizes=True),
    WholeRule("value-set-mismatch", Severity.ERROR, value_set_mismatch, ignores_sizes=True),
    WholeRule("header-mismatch", Severity.ERROR, header_mismatch, ignores_sizes=True),
)
