"""The headers of values: once in an allocation, and once in an entry under ``Used values``.

XLA prints both, ``<ID NAME{INDEX} (phi) @COLOR>``, from one ``HloValue`` and in the order of ids
(``BufferAssignment::ToString`` in buffer_assignment.cc). The shape is the sub-shape of the defining
instruction at the value's index, including the layout (``HloValue::shape`` in hlo_value.h).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.incremental_values import CleanValues
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Places, Reads, WholeRule
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.place import LocatedRecord, Place, field_place, shape_place, top_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import arrays_of, subshape_text, try_shape
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue, defining_text, instruction_column

Header = AssignedValue | UsedValue
_MAX_SINGLE_FINDINGS = 20  # missing values that are reported one by one
_NOUNS = {"NAME": "name", "INDEX": "index", "PHI": "mark `(phi)`", "COLOR": "memory space"}


@dataclass(frozen=True, slots=True)
class HeaderList:
    """The headers of a file, by id and by name and index."""

    file: DumpFile
    name: str
    ids: MultiMap[int, Any]
    keys: MultiMap[str, Any]

    def place(self, header: Header, role: str = "VALUE_ID") -> Place:
        """Return the place of a field of a header."""
        return field_place(self.file, header, role)

    def related(self, header: Header, message: str, role: str = "VALUE_ID") -> Related:
        """Return a header as the place of related information."""
        return Related(self.place(header, role), message)

    def descents(self) -> list[tuple[Header, Header]]:
        """Return headers that are next to each other and whose ids do not ascend."""
        is_of_entries = self.ids is self.file.memory.entries
        return _descents_of_entries(self.file) if is_of_entries else _descents(self.ids)


@query
def _descents_of_entries(file: DumpFile) -> list[tuple[Header, Header]]:
    return _descents(file.memory.entries)


def _descents(ids: MultiMap[int, Any]) -> list[tuple[Header, Header]]:
    headers: list[Header] = ids.in_order()
    return [
        (one, other)
        for one, other in pairwise(headers)
        # Ids ascend inside an allocation.
        if (one.id or 0) > (other.id or 0)
        and (isinstance(one, UsedValue) or other.line == one.line + 1)
    ]


def _lists(dump: Compile) -> tuple[HeaderList | None, HeaderList | None]:
    """Return the headers in the allocations, and those under ``Used values``."""
    assigned = entries = None
    for file in reversed(dump.files):
        index = file.memory
        if len(index.allocations) or len(index.assigned):
            assigned = HeaderList(file, "in its allocation", index.assigned, index.assigned_keys)
        if len(index.entries):
            entries = HeaderList(file, "under `Used values`", index.entries, index.entry_keys)
    return assigned, entries


def duplicate_value_id(context: CompileContext) -> Iterator[Finding]:
    """Report ids that occur twice in the allocations or under `Used values`."""
    assigned, entries = _lists(context.dump)
    for mine, other in ((assigned, entries), (entries, assigned)):
        if mine is None:
            continue
        for id_ in mine.ids.repeated:
            first, *rest = mine.ids.all(id_)
            for second in rest:
                pair = sorted((second, first), key=lambda one: not _own_header(one, mine, other))
                yield _duplicate(context, mine, other, *pair)


def _duplicate(
    context: CompileContext,
    mine: HeaderList,
    other: HeaderList | None,
    header: Header,
    counterpart: Header,
) -> Finding:
    message = f"id {header.id} is repeated: line {mine.place(counterpart).number:,} has it"
    related = [mine.related(counterpart, "the same id")]
    if header.key == counterpart.key:
        message += " for the same value"
        finding = context.report(mine.place(header), message, *related)
        shares_lines = isinstance(header, UsedValue) and header.shares_lines
        drop = Fix.drop(mine.file, header.line, header.line_count)
        return finding if shares_lines else finding.fixed(drop)
    message += f" for `{counterpart.key}`"
    own = _own_header(header, mine, other)
    if own is None or other is None:
        return context.report(mine.place(header), message, *related)
    message += f", and `{header.key}` has id {own.id} {other.name}"
    related.append(other.related(own, f"id {own.id}"))
    finding = context.report(mine.place(header), message, *related)
    return finding.put(str(own.id))


def _own_header(header: Header, mine: HeaderList, other: HeaderList | None) -> Header | None:
    """Return the header of the same value in the other list, if its id is missing in this one."""
    if other is None or header.key is None:
        return None
    found = [one for one in other.keys.all(header.key) if one.id not in mine.ids]
    return found[0] if len(found) == 1 else None


def value_order(context: CompileContext) -> Iterator[Finding]:
    """Report ids that do not ascend inside an allocation, or under `Used values`."""
    for mine in filter(None, _lists(context.dump)):
        for one, other in mine.descents():
            message = f"ids must ascend: value {other.id} is after value {one.id}"
            related = mine.related(one, f"value {one.id}")
            yield context.report(mine.place(other), message, related)
        checkpoint()


def value_set_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report values that are only in the allocations, or only under `Used values`."""
    dump = context.dump
    assigned, entries = _lists(dump)
    if assigned is None or entries is None:
        return
    unused = [] if dump.has_broken_used_values else _missing(assigned, entries)
    checkpoint()
    unassigned = [] if dump.has_broken_assigned_values else _missing(entries, assigned)
    by_key = {value.key: value for value in unused}
    pairs = [(entry, by_key[entry.key]) for entry in unassigned if entry.key in by_key]
    checkpoint()
    lists = assigned, entries
    disordered = {one for each in lists for pair in each.descents() for one in pair if pairs}
    for entry, value in pairs:
        # Reported is the one that does not ascend, if only one does not.
        mine, one, other, counterpart = entries, entry, assigned, value
        if value in disordered and entry not in disordered:
            mine, one, other, counterpart = assigned, value, entries, entry
        message = f"`{one.key}` has id {one.id} here and id {counterpart.id} {other.name}"
        related = other.related(counterpart, f"id {counterpart.id}")
        finding = context.report(mine.place(one), message, related)
        is_sure = one in disordered and counterpart not in disordered
        yield finding.put(str(counterpart.id)) if is_sure else finding
    paired = {header for pair in pairs for header in pair}
    alone = [header for header in unassigned if header not in paired]
    yield from _alone(context, entries, alone, assigned, "in any allocation")
    alone = [header for header in unused if header not in paired]
    yield from _alone(context, assigned, alone, entries, "under `Used values`")


def _missing(mine: HeaderList, other: HeaderList) -> list[Header]:
    missing = (mine.ids.all(id_) for id_ in mine.ids.keys - other.ids.keys)
    return sorted(chain.from_iterable(missing), key=lambda header: header.line)


def _alone(
    context: CompileContext,
    mine: HeaderList,
    missing: Sequence[Header],
    other: HeaderList,
    where: str,
) -> Iterator[Finding]:
    """Report each value, or all in one finding if a whole part seems to be missing."""
    is_part = len(missing) > _MAX_SINGLE_FINDINGS
    lacking = "the list that lacks the values" if is_part else "the list that lacks the value"
    for header in missing[: 1 if is_part else None]:
        message = f"value {header.id} `{header.key}` is not {where}"
        if is_part:
            message = (
                f"{len(missing):,} values are not {where}, the first is {header.id} `{header.key}`"
            )
        yield context.report(mine.place(header), message, Related(top_place(other.file), lacking))


def header_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report names, indexes, phis, and memory spaces that differ from those in the other header."""
    assigned, entries = _lists(context.dump)
    if assigned is None or entries is None:
        return
    listed = list(entries.ids.records())
    values = assigned.ids.first_of_each(entry.id for entry in listed)
    for entry, value in zip(listed, values, strict=True):
        checkpoint()
        if value is None or _text(value) == _text(entry):
            continue
        if len(entries.ids.all(value.id)) + len(assigned.ids.all(value.id)) == 2:
            yield _differing(context, entries, entry, assigned, value)


def _text(header: Header) -> tuple[object, ...]:
    return header.name, header.index, header.phi, header.color


def _differing(
    context: CompileContext,
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
    counterpart: Header = value
    if definition == _text(entry)[:2]:
        mine, header, text, other, counterpart, right = assigned, value, right, entries, entry, text
    finding = context.report(
        field_place(mine.file, header, role if text else "NAME"),
        f"the {_NOUNS[role]} of value {header.id} is {text or 'missing'} here and "
        f"{right or 'missing'} {other.name}",
        other.related(counterpart, f"{right or 'missing'} here", role if right else "NAME"),
    )
    is_sure = definition == _text(counterpart)[:2] and text and right
    return finding.put(right.strip("`")) if is_sure else finding


def _fields(header: Header) -> dict[str, str]:
    """Return the fields of a header by their names in the grammar, empty if it lacks them."""
    return {
        "NAME": f"`{header.name}`",
        "INDEX": f"`{header.index}`" if header.index else "",
        "PHI": "present" if header.phi else "",
        "COLOR": "" if header.color is None else str(header.color),
    }


_MAX_SHOWN = 80  # characters of a shape in a message
_MAX_RELATED = 8
_ALLOCATION = "in its allocation"


@dataclass(frozen=True, slots=True)
class _PrintedShape:
    """A printed shape: that of an instruction, and its part at the index of the value."""

    place: Place
    whole: str | None
    part: str | None
    where: str


def shape_definition_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report values whose shape is not that of their instruction at their index."""
    found: dict[str, list[list[_PrintedShape]]] = {}
    for header, shapes in _disagreeing(context.dump, context.clean):
        if _differ(shapes):
            found.setdefault(header.name or "", []).append(shapes)
        else:
            context.clean.records.add(header)
    for values in found.values():  # after edits, records are in another order than in the file
        yield _mismatch(context, sorted(values, key=lambda shapes: shapes[0].place.line))


def _disagreeing(dump: Compile, clean: CleanValues) -> Iterator[tuple[Header, list[_PrintedShape]]]:
    module = module_at_buffer_assignment(dump)
    holder, entries = dump.assigned_values_file, dump.used_values_file
    headers: Iterator[Any] = iter(())
    if holder is not None:
        headers = holder.memory.assigned.records()
    elif entries is not None:
        headers = entries.memory.entries.records()
    clean.refresh(dump, module)
    for header in headers:
        checkpoint()
        if header in clean.records:
            continue
        value = header if isinstance(header, AssignedValue) else None
        entry = None if entries is None else entries.memory.entries.first(header.id)
        if entry is not None and not (entry.whole and entry.key == header.key):
            entry = None
        lines = [] if module is None else module.module.instructions.all(header.name)
        line = lines[0] if len(lines) == 1 and lines[0].shape else None
        if _are_equal(value, entry, line):
            clean.records.add(header)
        else:
            located = [
                LocatedRecord(file, record)
                for file, record in ((holder, value), (entries, entry), (module, line))
                if file is not None and record is not None
            ]
            shapes = [_printed(one, header.index) for one in located]
            yield header, [shape for shape in shapes if shape.part is not None]


def _are_equal(
    value: AssignedValue | None, entry: UsedValue | None, line: InstructionLine | None
) -> bool:
    """Return whether all shapes are the same, without reading those that are equal as text."""
    if line is None or (
        value is not None and subshape_text(line.shape, value.index) != value.shape
    ):
        return False
    text = "" if entry is None else entry.lines[-1]
    at = instruction_column(text)
    at += text.startswith("%", at)
    return not text or text.startswith(f"{line.name} = {line.shape} ", at)


def _printed(found: "LocatedRecord[Any]", index: str | None) -> _PrintedShape:
    """Return the shape in a line; a part that cannot be read is None."""
    file, record = found.file, found.record
    if isinstance(record, AssignedValue):
        shape = record.shape if try_shape(record.shape) is not None else None
        return _PrintedShape(field_place(file, record, "SHAPE"), shape, shape, _ALLOCATION)
    if isinstance(record, InstructionLine):
        place, part = shape_place(file, record), subshape_text(record.shape, index)
        return _PrintedShape(place, record.shape, part, "in the module text")
    text = defining_text(record)
    if text is None or text.name.text != record.name:
        return _PrintedShape(field_place(file, record), None, None, "")
    span, row = text.shape, record.line + len(record.lines) - 1
    place, part = Place(file, row, span.start, span.end), subshape_text(span.text, index)
    return _PrintedShape(place, span.text, part, "after `from instruction`")


def _differ(shapes: list[_PrintedShape]) -> bool:
    """Return whether shapes differ other than in unknown element types and letters of layouts.

    Later compilers may print such types and letters, perhaps not in all places.
    """
    whole = {one.whole for one in shapes if one.where != _ALLOCATION}
    if len(whole) < 2 and len({one.part for one in shapes}) < 2:
        return False
    return len({tuple(_unknown(one.part or "")) for one in shapes}) == 1


def _unknown(shape: str) -> Iterator[str]:
    for array in arrays_of(try_shape(shape)):
        if array.bits is None:
            yield array.element_type
        if array.layout is not None:
            yield from array.layout.others


def _mismatch(context: CompileContext, values: list[list[_PrintedShape]]) -> Finding:
    """Report the one of three shapes that differs from the others, else the first one."""
    shapes = values[0]
    if len({one.part for one in shapes}) == 1:  # another element of the tuple differs
        shapes = [one for one in shapes if one.where != _ALLOCATION]
    parts = [one.part for one in shapes]
    here = next((one for one in shapes if parts.count(one.part) == 1), shapes[0])
    others = [one for one in reversed(shapes) if one is not here]
    other = next((one for one in others if one.part != here.part), others[0])
    is_part = _ALLOCATION in {here.where, other.where}
    shape, right = (here.part, other.part) if is_part else (here.whole, other.whole)
    pairs = enumerate(zip(shape or "", right or "", strict=False))
    at = next((at for at, (one, two) in pairs if one != two), 0)
    related = (
        Related(one.place, f"`{_shown(one.whole)}` {one.where}")
        for one in chain.from_iterable(values)
        if one.place != here.place
    )
    message = f"shape `{_shown(shape, at)}` does not match `{_shown(right, at)}` {other.where}"
    finding = context.report(here.place, message, *islice(related, _MAX_RELATED))
    if len(shapes) != 3 or len(set(parts)) != 2:
        return finding
    if here.where == _ALLOCATION:
        return finding.put(others[0].part or "")
    return finding.put(next(one.whole for one in others if one.where != _ALLOCATION) or "")


def _shown(shape: str | None, at: int = 0) -> str:
    text = shape or ""
    start = max(0, at - _MAX_SHOWN // 2) if len(text) > _MAX_SHOWN else 0
    end = start + _MAX_SHOWN
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-value-id", Severity.ERROR, duplicate_value_id, reads=Reads.STRUCTURE),
    WholeRule("value-order", Severity.ERROR, value_order, reads=Reads.STRUCTURE),
    WholeRule("value-set-mismatch", Severity.ERROR, value_set_mismatch, reads=Reads.STRUCTURE),
    WholeRule("header-mismatch", Severity.ERROR, header_mismatch, reads=Reads.STRUCTURE),
    WholeRule(
        *("shape-definition-mismatch", Severity.ERROR, shape_definition_mismatch),
        reads=Reads.STRUCTURE,
        places=Places.ALL,
    ),
)
