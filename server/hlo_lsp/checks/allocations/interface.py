"""Rules on the flags, the parameter, and the output that an allocation names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.model.buffer_assignment import (
    AllocationBlock,
    buffer_assignment,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.place import LocatedRecord, field_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import ending
from hlo_lsp.model.shape import shape_indexes, subshape_text, without_layout
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, LiveRangeLabel
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.scanners import fields_of_line
from hlo_lsp.syntax.used_value import defining_text


class ValueKind(Enum):
    """The kind of a value, which decides on the flags of its allocation."""

    PARAMETER = "a parameter of the program"
    CONSTANT = "a constant"
    THREAD_LOCAL = "thread-local"
    SCHEDULED = "computed by the schedule"


class ValueOrigin(NamedTuple):
    """The instruction that defines a value.

    Attributes:
        is_in_entry: whether a parameter is in the entry computation; None if unknown.
    """

    opcode: str
    parameter: int | None
    is_in_entry: bool | None


@query
def interface_origins(dump: Compile) -> "Origins":
    """Return the origins of the values of a compile."""
    for file in dump.files:  # Read here what the origins read later, in other queries.
        memory = file.memory
        _ = file.module, memory.label(LiveRangeLabel)
        _ = len(memory.entries), len(memory.ranges), len(memory.steps)
    return Origins(dump)


class Origins:
    """Origins of the values of one compile. None means that no file of the compile states it."""

    def __init__(self, dump: Compile) -> None:
        self._dump = dump
        self.file: DumpFile | None = None  # the module text
        self._module: ModuleIndex | None = None
        self.entry_line: ComputationLine | None = None
        memories = [file.memory for file in dump.files]
        self._live = frozenset[str]().union(*(one.ranges.keys for one in memories))
        self._scheduled = frozenset[str]().union(*(one.step_names.keys for one in memories))
        for file in dump.files:
            if file.module.header is not None or len(file.module.computations):
                self.file, self._module = file, file.module
                # The last computation of a text that was cut off need not be the entry.
                self.entry_line = None if ending(file) is not None else file.module.entry
                break

    def of(self, value: AssignedValue) -> ValueOrigin | None:
        """Return the origin of a value."""
        line = None if self._module is None else self._module.instructions.first(value.name)
        if self._module is not None and line is not None:
            in_entry = None
            if line.opcode == "parameter" and self.entry_line is not None:
                in_entry = self._module.scope_of(line) is self.entry_line
            return ValueOrigin(line.opcode, parameter_number(line), in_entry)
        entry = self._dump.find(lambda index: index.entries, value.id)
        text = None if entry is None else defining_text(entry.record)
        if text is None or text.name.text.lstrip("%") != value.name:
            return None
        literal = text.literal.text.strip()
        is_parameter = text.opcode.text == "parameter" and _NUMBER.fullmatch(literal)
        return ValueOrigin(text.opcode.text, int(literal) if is_parameter else None, None)

    def kind(self, value: AssignedValue) -> ValueKind | None:
        """Return the kind of a value; None if unknown, or if live ranges and schedule disagree."""
        checkpoint()
        origin = self.of(value)
        if origin is None:
            return None
        if origin.opcode == "constant":
            return ValueKind.CONSTANT
        if origin.parameter is not None and origin.is_in_entry:
            return ValueKind.PARAMETER
        is_live, is_scheduled = value.key in self._live, value.name in self._scheduled
        if not self._has_schedule or is_live is not is_scheduled:
            return None
        if not is_live:
            return ValueKind.THREAD_LOCAL
        is_undecided = origin.parameter is not None and origin.is_in_entry is None
        return None if is_undecided else ValueKind.SCHEDULED

    @cached_property
    def entry(self) -> Computation | None:
        """The entry computation, if every line of the module text is readable."""
        if self._module is None or self.entry_line is None or self._module.damaged:
            return None
        return self._module.computation(self.entry_line)

    @property
    def root(self) -> InstructionLine | None:
        """The instruction that gives the result of the program."""
        return None if self.entry is None else self.entry.root

    @cached_property
    def returned(self) -> dict[int, bool] | None:
        """The ids of the values that the program returns; True for one that is the whole result."""
        if self.root is None:
            return None
        found: dict[int, bool] = {}
        parts: set[str | None] = set()
        for entry in self._dump.entries_at(self.root.name):
            if entry.record.id is not None and entry.record.whole:
                rows = entry.record.positions
                indexes = {row.index for row in rows if row.name == self.root.name}
                parts |= indexes
                found[entry.record.id] = not indexes.isdisjoint({None, "{}"})
        is_complete = parts == set(shape_indexes(self.root.shape)) and sum(found.values()) == 1
        return found if is_complete else None

    def is_returned(self, value: AssignedValue) -> bool | None:
        """Return whether the program returns a value; None if its id is another one's."""
        checkpoint()
        if self.returned is None:
            return None
        entry = self._dump.find(lambda index: index.entries, value.id)
        is_known = entry is not None and entry.record.key == value.key
        return value.id in self.returned if is_known else None

    @cached_property
    def _has_schedule(self) -> bool:
        label = self._dump.label(LiveRangeLabel)
        if label is None:
            return False
        memory = label.file.memory
        return len(memory.steps) == label.record.max > 0 and bool(len(memory.ranges))


class Flag(Enum):
    """A flag of an allocation: the name is its terminal in the grammar."""

    PARAMETER = "parameter"
    CONSTANT = "constant"
    THREAD_LOCAL = "thread-local"
    MAYBE_LIVE_OUT = "maybe-live-out"
    PREALLOCATED_TEMP = "preallocated-temp"


# The flags of the allocations that may hold a value of each kind. A value that is computed may
# take the allocation of a donated parameter.
_FITTING = {
    ValueKind.CONSTANT: {Flag.CONSTANT},
    ValueKind.THREAD_LOCAL: {Flag.THREAD_LOCAL},
    ValueKind.PARAMETER: {Flag.PARAMETER},
    ValueKind.SCHEDULED: {Flag.PARAMETER, Flag.MAYBE_LIVE_OUT, Flag.PREALLOCATED_TEMP},
}
# A flag that does not fit (None where one is missing), the reason, and a value that contradicts it.
_Contradiction = tuple[Flag | None, str, AssignedValue | None]
_Kinds = dict[AssignedValue, ValueKind | None]


def flag_contradiction(context: CompileContext) -> Iterator[Finding]:
    """Report allocations whose flags contradict each other or their values, once each."""
    assignment, origins = buffer_assignment(context.dump), interface_origins(context.dump)
    file, known = assignment.file, _known_kinds(context, origins)
    for block in assignment.blocks:
        checkpoint()
        allocation = block.allocation
        if block in known.clean or not block.is_whole or _has_unknown_flag(file, allocation):
            continue
        found = next(_contradictions(block, origins, known.kinds), None)
        if found is None:
            known.clean.add(block)
        else:
            flag, reason, value = found
            subject = f"allocation {allocation.number}"
            related = []
            if value is not None:
                place = field_place(file, value, "VALUE_ID")
                related.append(Related(place, f"`{value.key}` is in {subject}"))
            but = "" if flag is None else f" is {flag.value}, but"
            yield context.report(
                field_place(file, allocation, "ALLOCATION" if flag is None else flag.name),
                f"{subject}{but} {reason}",
                *related,
            )


@dataclass(slots=True)
class _KnownKinds:
    """The kinds of values that edits elsewhere did not change; both sets may be extended.

    Attributes:
        interface: The entry computation and the returned values for which they hold.
        clean: Allocations of such values without contradictions.
    """

    interface: object
    kinds: _Kinds = field(default_factory=dict)
    clean: set[AllocationBlock] = field(default_factory=set)


def _known_kinds(context: CompileContext, origins: Origins) -> _KnownKinds:
    clean, interface = context.clean, (origins.entry_line, origins.returned)
    known: _KnownKinds = clean.facts or _KnownKinds(interface)
    clean.records = {*known.kinds}
    clean.refresh(context.dump, origins.file)
    if known.interface != interface:
        known = _KnownKinds(interface)
    outdated = known.kinds.keys() - clean.records
    for value in outdated:
        del known.kinds[value]
    blocks = buffer_assignment(context.dump).blocks
    known.clean.intersection_update(one for one in blocks if outdated.isdisjoint(one.values))
    clean.facts = known
    return known


def _contradictions(
    block: AllocationBlock, origins: Origins, kinds: _Kinds
) -> Iterator[_Contradiction]:
    values, flags = block.values, _flags_of(block.allocation)
    if not flags:
        yield None, "has no flag", values[0] if values else None
        return
    if len(flags) > 1 and not set(flags) <= {Flag.PARAMETER, Flag.MAYBE_LIVE_OUT}:
        yield flags[-1], f"also {flags[0].value}", None
    fitting = {None, *(kind for kind in ValueKind if not _FITTING[kind].isdisjoint(flags))}
    for value in values:
        if value not in kinds:
            kinds[value] = origins.kind(value)
        kind = kinds[value]
        if kind is not None and kind not in fitting:
            yield flags[-1], f"`{value.key}` is {kind.value}", value
    checkpoint()
    if Flag.CONSTANT in flags and len(values) > 1:
        yield Flag.CONSTANT, f"has {len(values)} values", values[-1]
    is_temp = Flag.PREALLOCATED_TEMP in flags
    offsets = [] if is_temp else [value for value in values if value.offset]
    if len(offsets) > 1:
        reason = f"{len(offsets)} of its values have offsets, as in a preallocated-temp allocation"
        yield flags[-1], reason, offsets[0]
    yield from _of_interface(values, flags, origins)


def _of_interface(
    values: Sequence[AssignedValue], flags: Sequence[Flag], origins: Origins
) -> Iterator[_Contradiction]:
    """Yield the contradictions with the parameters and the result of the program."""
    checkpoint()
    if Flag.MAYBE_LIVE_OUT not in flags:
        returned = origins.returned or {}
        for value in (value for value in values if value.id in returned):
            if origins.is_returned(value):
                yield None, f"is not maybe-live-out, but the program returns `{value.key}`", value
    elif values and all(origins.is_returned(value) is False for value in values):
        yield Flag.MAYBE_LIVE_OUT, "the program returns none of its values", values[0]
    if Flag.PARAMETER in flags and values:
        found = [origins.of(value) for value in values]
        if all(one and (one.parameter is None or one.is_in_entry is False) for one in found):
            yield Flag.PARAMETER, "none of its values is a parameter of the program", values[0]


def _flags_of(allocation: AllocationLine) -> list[Flag]:
    is_set = (
        allocation.parameter is not None,
        allocation.constant,
        allocation.thread_local,
        allocation.maybe_live_out,
        allocation.preallocated_temp,
    )
    return [flag for flag, is_on in zip(Flag, is_set, strict=True) if is_on]


def _has_unknown_flag(file: DumpFile, allocation: AllocationLine) -> bool:
    """Return whether the only flag is one that a later compiler prints."""
    line = file.lines[allocation.line]
    return not _flags_of(allocation) and any(
        field.role == "OTHER_FIELD" for field in fields_of_line(allocation.rule, line)
    )


_NUMBER = re.compile(r"\d{1,9}")
_UNKNOWN_SHAPE = "<unknownshape>"  # without blanks


def parameter_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report allocations that do not hold the part of a parameter that they name."""
    assignment = buffer_assignment(context.dump)
    first: dict[tuple[int, str | None], AllocationLine] = {}
    is_wrong = False
    for block in assignment.blocks:
        checkpoint()
        allocation = block.allocation
        if allocation.parameter is None:
            continue
        wrong = _wrong_part(block, context.dump)
        located = LocatedRecord(assignment.file, allocation)
        finding = None if wrong is None else _parameter_finding(context, located, *wrong)
        part = allocation.parameter, allocation.parameter_index
        other = first.setdefault(part, allocation)
        if finding is None and other is not allocation and not is_wrong:
            place = field_place(assignment.file, other, "PARAMETER")
            finding = context.report(
                field_place(assignment.file, allocation, "PARAMETER"),
                f"parameter {part[0]} at ShapeIndex {part[1]} is also in allocation {other.number}",
                Related(place, "the other allocation"),
            )
        if finding is not None:
            is_wrong = True
            yield finding


def output_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report allocations that do not hold the output that they name, or do not name it."""
    assignment, origins = buffer_assignment(context.dump), interface_origins(context.dump)
    file, ids = assignment.file, origins.returned or {}
    heads = [block.allocation for block in assignment.blocks]
    holders = [head for head in heads if head.output_shape is not None]
    output = [one for id_ in ids if ids[id_] for one in file.memory.assigned.all(id_)]
    found = set(map(file.records.head_of, output))
    homes = [block for block in assignment.blocks if block.allocation in found]
    is_known = len(homes) == 1 and homes[0].is_whole
    if not is_known and not holders:
        return
    expected = homes[0].allocation if is_known else holders[0]
    place = field_place(file, expected, "ALLOCATION")
    for holder in holders:
        if holder is not expected:
            message = f"allocation {holder.number} does not hold the output: allocation "
            message += f"{expected.number} does"
            printed = field_place(file, holder, "OUTPUT_SHAPE")
            yield context.report(printed, message, Related(place, "the output"))
    if not holders:
        message = f"allocation {expected.number} holds the output, but does not name it"
        yield context.report(place, message)
    elif expected in holders and origins.root is not None:
        shape, stated = without_layout(origins.root.shape), expected.output_shape or ""
        if shape != without_layout(stated):
            message = f"output shape is {stated}, but the program returns {shape}"
            yield context.report(field_place(file, expected, "OUTPUT_SHAPE"), message)


@query
def _wrong_part(
    block: AllocationBlock, dump: Compile
) -> tuple[AssignedValue, int | None, str] | None:
    """Return a value of an allocation, its parameter, and the field that contradicts it."""
    allocation, origins = block.allocation, interface_origins(dump)
    found = list(_parameter_values(block, origins)) if block.is_whole else []
    matching = (each for each in found if each[1] == allocation.parameter)
    fields = [_field(allocation, *each) for each in found]
    if not found or None in fields:
        return None
    value, number = next(matching, found[0])
    return value, number, _field(allocation, value, number) or "PARAMETER"


def _parameter_finding(
    context: CompileContext,
    located: LocatedRecord[AllocationLine],
    value: AssignedValue,
    number: int | None,
    role: str,
) -> Finding:
    file, allocation = located.file, located.record
    said, is_ = f"parameter {allocation.parameter}", f"is parameter {number}"
    if role == "PARAMETER_INDEX":
        said, is_ = f"ShapeIndex {allocation.parameter_index}", f"is at {value.index or '{}'}"
    elif role == "PARAMETER_SHAPE":
        said, is_ = (
            f"shape {allocation.parameter_shape}",
            f"has the shape {without_layout(value.shape)}",
        )
    return context.report(
        field_place(file, allocation, role),
        f"allocation {allocation.number} names {said}, but `{value.key}` {is_}",
        Related(field_place(file, value, "VALUE_ID"), f"`{value.key}`"),
    )


def _parameter_values(
    block: AllocationBlock, origins: Origins
) -> Iterator[tuple[AssignedValue, int | None]]:
    for value in block.values:
        origin = origins.of(value)
        if origin is None and origins.entry is None:
            yield value, None
        elif origin is None or origin.parameter is None or value.phi:
            continue
        elif origin.is_in_entry is not False:
            yield value, origin.parameter


def _field(allocation: AllocationLine, value: AssignedValue, number: int | None) -> str | None:
    if number not in {None, allocation.parameter}:
        return "PARAMETER"
    if (value.index or "{}") != allocation.parameter_index:
        return "PARAMETER_INDEX"
    shape = without_layout(allocation.parameter_shape or "")
    # Up to 2023 XLA printed the shape of the whole parameter.
    shapes = {shape, subshape_text(shape, value.index)}
    return None if shapes & {without_layout(value.shape), _UNKNOWN_SHAPE} else "PARAMETER_SHAPE"


RULES: tuple[AnyRule, ...] = (
    WholeRule("flag-contradiction", Severity.ERROR, flag_contradiction),
    WholeRule("parameter-mismatch", Severity.ERROR, parameter_mismatch),
    WholeRule("output-mismatch", Severity.ERROR, output_mismatch),
)
