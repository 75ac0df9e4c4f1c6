"""The headers of values: once in an allocation, and once in an entry under ``Used values``.

XLA prints both, ``<ID NAME{INDEX} (phi) @COLOR>``, from one ``HloValue`` and in the order of ids
(``BufferAssignment::ToString`` in buffer_assignment.cc).
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hlo_lsp.checks.case import CompileCheck, field_place, top_place
from hlo_lsp.checks.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

Header = AssignedValue | UsedValue
_MOST_SINGLE = 20  # missing values that are reported one by one
_CHUNK = 5000  # headers between two checkpoints: a few milliseconds
_NOUNS = {"NAME": "name", "INDEX": "index", "PHI": "mark `(phi)`", "COLOR": "memory space"}


@dataclass(frozen=True, slots=True)
class HeaderList:
    """The headers of a file, by id and by name and index."""

    file: DumpFile
    ids: MultiMap[int, Any]
    keys: MultiMap[str, Any]

    def descents(self) -> Iterator[tuple[Header, Header]]:
        """Yield headers that are next to each other and whose ids do not ascend."""
        headers: list[Header] = sorted(self.ids.records(), key=lambda header: header.line)
        for one, other in pairwise(headers):
            # Ids ascend inside an allocation.
            is_next = isinstance(one, UsedValue) or other.line == one.line + 1
            if is_next and (one.id or 0) > (other.id or 0):
                yield one, other

    def disordered(self) -> set[Header]:
        """Return the headers that do not ascend with one next to them."""
        return {header for pair in self.descents() for header in pair}


def _lists(dump: DumpSet) -> tuple[HeaderList | None, HeaderList | None]:
    """Return the headers in the allocations, and those under ``Used values``."""
    assigned = entries = None
    for file in reversed(dump.files):
        index = file.memory
        if len(index.allocations) or len(index.assigned):
            assigned = HeaderList(file, index.assigned, index.assigned_keys)
        if len(index.entries):
            entries = HeaderList(file, index.entries, index.entry_keys)
    return assigned, entries


def duplicate_value_id(survey: CompileCheck) -> Iterator[Finding]:
    """An id occurs once in the allocations and once under `Used values`."""
    assigned, entries = _lists(survey.dump)
    for mine, other in ((assigned, entries), (entries, assigned)):
        if mine is None or sum(1 for _ in mine.ids.records()) == len(mine.ids):
            continue
        disordered = mine.disordered()
        for id_ in mine.ids:
            first, *rest = mine.ids.all(id_)
            for second in rest:
                if _is_in_two_allocations(mine.file, first, second):
                    continue
                # The header of which the other list has another id, or that does not ascend.
                ranked = {
                    header: (_own_header(header, mine, other) is None, header not in disordered)
                    for header in (second, first)
                }
                header, twin = sorted(ranked, key=ranked.__getitem__)
                yield _duplicate(survey, mine, other, header, twin)


def _is_in_two_allocations(file: DumpFile, one: Header, other: Header) -> bool:
    """Return whether a value is repeated below another allocation, which has its own rule."""
    heads = [file.records.head_of(header) for header in (one, other)]
    return isinstance(one, AssignedValue) and one.key == other.key and heads[0] is not heads[1]


def _duplicate(
    survey: CompileCheck, mine: HeaderList, other: HeaderList | None, header: Header, twin: Header
) -> Finding:
    found, first = LocatedRecord(mine.file, header), LocatedRecord(mine.file, twin)
    message = f"id {header.id} is repeated: line {first.number:,} has it"
    related = _related(first, "the same id")
    if header.key == twin.key:
        finding = survey.finding(found, "VALUE_ID", f"{message} for the same value", related)
        if isinstance(header, UsedValue) and header.shares_lines:
            return finding
        return finding.fixed(Fix.drop(mine.file, header.line, header.line_count))
    message += f" for `{twin.key}`"
    own = _own_header(header, mine, other)
    if own is None or other is None:
        return survey.finding(found, "VALUE_ID", message, related)
    message += f", and `{header.key}` has id {own.id} {_place_name(own)}"
    there = _related(LocatedRecord(other.file, own), f"id {own.id}")
    return survey.finding(found, "VALUE_ID", message, related, there).put(str(own.id))


def _own_header(header: Header, mine: HeaderList, other: HeaderList | None) -> Header | None:
    """Return the header of the same value in the other list, if its id is missing in this one."""
    if other is None or header.key is None:
        return None
    found = [one for one in other.keys.all(header.key) if one.id not in mine.ids]
    return found[0] if len(found) == 1 else None


def value_order(survey: CompileCheck) -> Iterator[Finding]:
    """Ids ascend inside an allocation, and under `Used values`."""
    for mine in _lists(survey.dump):
        for one, other in () if mine is None else mine.descents():
            assert mine is not None
            message = f"ids must ascend: value {other.id} is after value {one.id}"
            related = _related(LocatedRecord(mine.file, one), f"value {one.id}")
            yield survey.finding(LocatedRecord(mine.file, other), "VALUE_ID", message, related)
        checkpoint()


def value_set_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """The values in the allocations are those under `Used values`."""
    assigned, entries = _lists(survey.dump)
    if assigned is None or entries is None:
        return
    context = survey.context
    unused = [] if context.misses_entries else _missing(assigned, entries)
    unassigned = [] if context.misses_assigned else _missing(entries, assigned)
    by_key = {value.key: value for value in unused}
    pairs = [(entry, by_key[entry.key]) for entry in unassigned if entry.key in by_key]
    disordered = assigned.disordered() | entries.disordered() if pairs else set()
    for entry, value in pairs:
        one, other = LocatedRecord(entries.file, entry), LocatedRecord(assigned.file, value)
        yield _renumbered(survey, disordered, one, other)
    paired = {header for pair in pairs for header in pair}
    alone = [entry for entry in unassigned if entry not in paired]
    yield from _alone(survey, entries, alone, assigned, "in any allocation")
    alone = [value for value in unused if value not in paired]
    yield from _alone(survey, assigned, alone, entries, "under `Used values`")


def _missing(mine: HeaderList, other: HeaderList) -> list[Header]:
    """Return the headers of one list whose ids the other list does not have."""
    missing = [header for id_ in mine.ids if id_ not in other.ids for header in mine.ids.all(id_)]
    checkpoint()
    return sorted(missing, key=lambda header: header.line)


def _alone(
    survey: CompileCheck, mine: HeaderList, missing: Sequence[Header], other: HeaderList, where: str
) -> Iterator[Finding]:
    """Report each value, or all at once if they are so many that a whole part is missing."""
    lacking = Related(top_place(other.file), "this list")
    for header in missing[: 1 if len(missing) > _MOST_SINGLE else None]:
        message = f"value {header.id} `{header.key}` is not {where}"
        if len(missing) > _MOST_SINGLE:
            message = f"{len(missing):,} values are not {where}, first {header.id} `{header.key}`"
        yield survey.finding(LocatedRecord(mine.file, header), "VALUE_ID", message, lacking)


def _renumbered(
    survey: CompileCheck,
    disordered: Set[Header],
    one: LocatedRecord[Any],
    other: LocatedRecord[Any],
) -> Finding:
    """Report a value with two ids at the one that does not ascend, if only one does not."""
    if other.record in disordered and one.record not in disordered:
        one, other = other, one
    id_ = other.record.id
    message = f"`{one.record.key}` has id {one.record.id} here and id {id_}"
    finding = survey.finding(
        one, "VALUE_ID", f"{message} {_place_name(other.record)}", _related(other, f"id {id_}")
    )
    is_sure = one.record in disordered and other.record not in disordered
    return finding.put(str(id_)) if is_sure else finding


def header_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Name, index, phi and memory space of a value are the same in its allocation and its entry."""
    assigned, entries = _lists(survey.dump)
    if assigned is None or entries is None:
        return
    for count, entry in enumerate(entries.ids.records()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        value = assigned.ids.first(entry.id)
        if value is None or _text(value) == _text(entry):
            continue
        if len(entries.ids.all(value.id)) + len(assigned.ids.all(value.id)) == 2:
            yield _differing(
                survey, LocatedRecord(entries.file, entry), LocatedRecord(assigned.file, value)
            )


def _text(header: Header) -> tuple[object, ...]:
    return header.name, header.index, header.phi, header.color


def _differing(
    survey: CompileCheck, entry: LocatedRecord[UsedValue], value: LocatedRecord[AssignedValue]
) -> Finding:
    """Report two headers at the one that the first position of the entry contradicts, if any."""
    here, there = _fields(entry.record), _fields(value.record)
    role = next(role for role in here if here[role] != there[role])
    found: tuple[LocatedRecord[Any], str] = (entry, here[role])
    other: tuple[LocatedRecord[Any], str] = (value, there[role])
    is_sure = False
    if role in {"NAME", "INDEX"}:
        position = next(entry.record.positions, None)
        definition = None if position is None else (position.name, position.index)
        is_sure = definition in {_text(entry.record)[:2], _text(value.record)[:2]}
        if definition == _text(entry.record)[:2]:
            found, other = other, found
    (header, text), (twin, right) = found, other
    finding = survey.finding(
        header,
        role if text else "NAME",
        f"the {_NOUNS[role]} of value {header.record.id} is {text or 'missing'} here and "
        f"{right or 'missing'} {_place_name(twin.record)}",
        _related(twin, f"{right or 'missing'} here", role if right else "NAME"),
    )
    return finding.put(right.strip("`")) if is_sure and text and right else finding


def _fields(header: Header) -> dict[str, str]:
    """Return the fields of a header by their names in the grammar, empty if it lacks them."""
    return {
        "NAME": f"`{header.name}`",
        "INDEX": f"`{header.index}`" if header.index else "",
        "PHI": "present" if header.phi else "",
        "COLOR": "" if header.color is None else str(header.color),
    }


def _related(header: "LocatedRecord[Any]", message: str, role: str = "VALUE_ID") -> Related:
    return Related(field_place(header.file, header.record, role), message)


def _place_name(header: Header) -> str:
    return "under `Used values`" if isinstance(header, UsedValue) else "in its allocation"


_LISTS = frozenset({Part.VALUES, Part.ENTRIES})
RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-value-id", Severity.ERROR, duplicate_value_id, _LISTS),
    WholeRule("value-order", Severity.ERROR, value_order, _LISTS),
    WholeRule("value-set-mismatch", Severity.ERROR, value_set_mismatch, _LISTS),
    WholeRule("header-mismatch", Severity.ERROR, header_mismatch, _LISTS),
)
