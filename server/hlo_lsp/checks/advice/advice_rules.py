"""Advice: padding, gaps, constants, long live ranges, donations, copies, and duplicates.

What the memory summary advises comes from ``memory/advice.py``, and is a finding here.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Places, WholeRule
from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.memory.advice import Advice, AdviceKind, advice_at_peaks
from hlo_lsp.memory.occupancy_and_peaks import allocation_occupancy, memory_space_occupancies
from hlo_lsp.memory.padded_arrays import padded_arrays
from hlo_lsp.memory.savings import MIN_SAVED_BYTES, is_negligible, largest_peak_bytes
from hlo_lsp.model.backend import is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import padded_size_of_text, target_of
from hlo_lsp.model.place import LocatedRecord, Place, field_place, name_place
from hlo_lsp.program.argument_names import buffer_name
from hlo_lsp.program.donation import (
    DonationCandidates,
    InterfaceLeaf,
    UnusedDonation,
    donation_of,
    is_part_of_program,
)
from hlo_lsp.program.instruction_matching import find_duplicate_computations
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.program.stages import (
    ConstantOrigin,
    constant_origin,
    scheduled_module,
    unoptimized_module,
)
from hlo_lsp.program.transfers import host_transfers, relayouts
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_bytes, format_short_bytes


def padding_waste(context: CompileContext) -> Iterator[Finding]:
    """Report arrays with much padding, and the padding at a peak if it is that of other arrays."""
    limits, target = context.thresholds, target_of(context.dump)
    is_found = False
    for group in padded_arrays(context.dump, target, limits.share, limits.size):
        if _is_negligible(context, group.wasted, min(limits.size, MIN_SAVED_BYTES)):
            continue
        is_found = True
        size, why = group.padded.bytes, "; ".join(map(str, group.padded.padding))
        more = ""
        if group.places > 1:
            more = f"; {group.values:,} values of this shape have "
            more += f"{format_short_bytes(group.wasted)} of padding at {group.places:,} offsets"
        yield context.report(
            group.value.place("SHAPE"),
            f"`{group.value.record.key}` takes {format_bytes(size)} for "
            f"{format_bytes(group.logical)} of elements, {size / group.logical:.3g} times as much: "
            f"{why}{more}. Make a larger dimension the most minor one, or merge small dimensions",
        )
    for one in () if is_found else _advised(context, AdviceKind.PADDING):
        if one.bytes >= limits.size:
            yield from _advice_finding(context, one)


_WITH_OTHER_RULES = {AdviceKind.DONATION, AdviceKind.PADDING}


def memory_advice(context: CompileContext) -> Iterator[Finding]:
    """Report the advice of the memory summary that no other rule reports."""
    for one in advice_at_peaks(context.dump, context.thresholds.with_negligible):
        if one.kind not in _WITH_OTHER_RULES:
            yield from _advice_finding(context, one)


def _advised(context: CompileContext, kind: AdviceKind) -> list[Advice]:
    found = advice_at_peaks(context.dump, context.thresholds.with_negligible)
    return [one for one in found if one.kind is kind]


def _advice_finding(context: CompileContext, one: Advice) -> Iterator[Finding]:
    value = None if one.buffer is None else one.buffer.value
    if one.buffer is not None:
        place = one.buffer.allocation.place("SIZE") if value is None else value.place("SIZE")
        yield context.report(place, f"{capitalized(one.text)}: {one.price}")


def _is_negligible(context: CompileContext, saved: int, least: int) -> bool:
    """Return whether advice is left out: it saves less than ``least``, or a small share."""
    if context.thresholds.with_negligible:
        return False
    return is_negligible(saved, largest_peak_bytes(context.dump), least)


def fragmentation(context: CompileContext) -> Iterator[Finding]:
    """Report temp allocations whose size is much larger than the maximum of their live bytes."""
    dump, limits, backend = context.dump, context.thresholds, target_of(context.dump).backend
    for allocation in dump.allocations():
        record = allocation.record
        if not record.preallocated_temp or is_on_chip(record.color, backend):
            continue
        is_small = record.size < limits.size
        found = None if is_small else allocation_occupancy(dump, allocation)
        if found is None or found.idle <= limits.size:
            continue
        if found.idle > limits.share * found.end:
            alignment = found.end - found.used
            more = f", and {format_short_bytes(alignment)} align them" if alignment else ""
            yield context.report(
                allocation.place("SIZE"),
                f"at most {format_bytes(found.live)} of the {format_bytes(found.end)} in "
                f"allocation {record.number} are live at the same time (step {found.step:,}): "
                f"{format_bytes(found.idle)} ({found.idle / found.end:.0%}) are gaps between "
                f"values{more}. Shorten the live ranges of large values, or split them",
            )


_Constant = tuple[LocatedRecord[AllocationLine], AssignedValue | None]


def large_constant(context: CompileContext) -> Iterator[Finding]:
    """Report large constants, which take memory for as long as the program is loaded."""
    dump, least = context.dump, context.thresholds.size
    found: defaultdict[ConstantOrigin, list[_Constant]] = defaultdict(list)
    for allocation in dump.allocations():
        if allocation.record.constant and allocation.record.size >= least:
            value = next(iter(dump.assigned_to(allocation)), None)
            origin = ConstantOrigin.UNKNOWN if value is None else constant_origin(dump, value.shape)
            found[origin].append((allocation, value))
    checkpoint()
    for origin, constants in found.items():
        constants.sort(key=lambda constant: -constant[0].record.size)
        yield _constants_finding(context, origin, constants)


def _constants_finding(
    context: CompileContext, origin: ConstantOrigin, constants: list[_Constant]
) -> Finding:
    (first, value), count = constants[0], len(constants)
    name = "a constant" if value is None else f"`{value.name}`"
    is_made = origin is ConstantOrigin.XLA
    line = context.dump.instruction(value.name) if is_made and value is not None else None
    purpose = "" if line is None else _purpose(context.dump, line)
    what = f"{name} takes {format_bytes(first.record.size)} as a constant "
    what += f"that XLA made{purpose}" if is_made else "of the program"
    if count > 1:
        total = format_bytes(sum(allocation.record.size for allocation, _ in constants))
        what = (
            f"{count:,} constants {'that XLA made ' if is_made else ''}take {total} in the "
            f"program, the largest is {name} with {format_bytes(first.record.size)}{purpose}"
        )
    if is_made:
        what += ": no constant before optimizations has as many elements"
    related = [
        Related(other.place("SIZE"), format_bytes(other.record.size)) for other, _ in constants[1:4]
    ]
    if line is not None:
        related.append(Related(name_place(line.file, line.record), "the constant in the program"))
    return context.report(first.place("SIZE"), f"{what}. {_remedy(origin, count)}", *related)


def _purpose(dump: Compile, line: LocatedRecord[InstructionLine]) -> str:
    """Return the operation and the Python line of a constant: `` for `jit(f)/add` (f.py:3)``."""
    owner = owner_of(dump, line.record.name)
    if owner is None:
        return ""
    operation = owner.op_name.replace("`", "'")
    place = "" if owner.source is None else f" ({owner.source})"
    return (f" for `{operation}`" if operation else "") + place


def _remedy(origin: ConstantOrigin, count: int) -> str:
    if origin is ConstantOrigin.PROGRAM:
        return "Pass arrays as arguments instead of closing over them"
    if origin is ConstantOrigin.XLA:
        return (
            "If its operation depends on no argument, XLA evaluates it; pass one of its "
            "inputs as an argument to compute it at run time"
        )
    if count > 1:
        return "If the program closes over arrays of these sizes, pass them as arguments"
    return "If the program closes over an array of this size, pass it as an argument"


def long_lived(context: CompileContext) -> Iterator[Finding]:
    """Report large values with long live ranges, which are live at most peaks."""
    dump, limits = context.dump, context.thresholds
    of = "" if dump.last_step is None else f" of {dump.last_step:,}"
    for one in _largest_lifetimes(dump, _MAX_LONG_LIVED, limits.size):
        row = one.live.record
        running, text = dump.at_step(row.end_step), dump.text_of(row.name)
        until = "the end" if running is None else f"`{running.record.name}`"
        copied = ""
        if text is not None and text.opcode.text == "copy-start" and text.operands:
            copied = f", a copy of `{text.operands[0].text}`,"
        value = dump.find(lambda index: index.assigned, one.value.id)
        places = [] if value is None else [value.place("SIZE")]
        yield context.report(
            one.live.place("END"),
            f"`{row.key}`{copied} keeps {format_bytes(one.value.size)} for {one.steps:,}{of} "
            f"steps, until {until}. Recompute it shortly before its last use (`jax.checkpoint`), "
            "or use it earlier",
            *(Related(place, "assigned here") for place in places),
        )


_MAX_LONG_LIVED = 10  # values, those with most bytes times steps
_MIN_STEPS = 3  # from the definition to an instruction after the next one


@dataclass(frozen=True, slots=True)
class _BufferLifetime:
    """A value of a temp allocation with its live range."""

    value: AssignedValue
    live: LocatedRecord[RangeRow]

    @property
    def steps(self) -> int:
        """Number of steps in the live range; both ends are inclusive."""
        return self.live.record.end_step - self.live.record.start_step + 1

    @property
    def weight(self) -> int:
        """Padded size in bytes times number of steps."""
        return self.value.size * self.steps


def _largest_lifetimes(dump: Compile, count: int, least: int) -> list[_BufferLifetime]:
    """Return the values of temp allocations with the largest product of bytes and steps.

    Parameters and outputs are excluded: the caller determines how long they are live. So are values
    of less than ``least`` bytes, those that only the next instruction uses, and those on the chip,
    which are mostly prefetched copies. Each slot of an allocation contributes one value.
    """
    found: dict[tuple[int, int, int], _BufferLifetime] = {}
    for allocation in dump.allocations():
        record = allocation.record
        if not record.preallocated_temp or is_on_chip(record.color, dump.backend):
            continue
        for value in dump.assigned_to(allocation):
            checkpoint()
            live = dump.live(value.key) if value.size >= least else None
            if live is None:
                continue
            lifetime = _BufferLifetime(value, live)
            if lifetime.steps < _MIN_STEPS:
                continue
            slot = record.number, value.offset, value.size
            other = found.get(slot)
            if other is None or other.weight < lifetime.weight:
                found[slot] = lifetime
    ordered = sorted(found.values(), key=lambda one: (-one.weight, one.value.id))
    return ordered[:count]


_MAX_LISTED_BUFFERS = 3  # in a message


def unused_donation(context: CompileContext) -> Iterator[Finding]:
    """Report outputs that could reuse the buffer of a parameter, and refused donations."""
    file, original = scheduled_module(context.dump), unoptimized_module(context.dump)
    if file is None or file.module.damaged or is_part_of_program(file.module):
        return
    found = donation_of(file.module, None if original is None else original.module)
    checkpoint()
    if found is not None:
        yield from _could(context, file, found.matches)
        yield from _refused(context, file, found.refused)


def _could(
    context: CompileContext, file: DumpFile, matches: Sequence[DonationCandidates]
) -> Iterator[Finding]:
    sized = [(match.count * _size(context, match.parameters[0]), match) for match in matches]
    total = sum(size for size, _ in sized)
    if total < context.thresholds.size or not _is_worth_donating(context):
        return
    sized.sort(key=lambda pair: -pair[0])
    count = count_noun(sum(match.count for _, match in sized), "output")
    words = _first([_match_words(context, match) for _, match in sized], " more shapes")
    yield context.report(
        _place(context, file, sized[0][1].parameters[0]),
        f"{count} could reuse the buffer of a parameter, {format_bytes(total)} in total: {words}. "
        "Donate the arguments that the caller does not need afterwards "
        "(`donate_argnums` of `jax.jit`)",
    )


def _is_worth_donating(context: CompileContext) -> bool:
    """Return whether the memory summary gives the advice, or has no live ranges to judge by."""
    limits = context.thresholds
    is_set = limits.size < MIN_SAVED_BYTES
    if limits.with_negligible or is_set or not memory_space_occupancies(context.dump):
        return True
    return bool(_advised(context, AdviceKind.DONATION))


def _match_words(context: CompileContext, match: DonationCandidates) -> str:
    leaf, others, outputs = match.parameters[0], len(match.parameters) - 1, len(match.outputs)
    more = f" {'or' if match.count == 1 else 'and'} {count_noun(others, 'other')}" if others else ""
    used = f"{match.count:,} of {count_noun(outputs, 'output')}"
    if match.count == outputs:
        used = f"output {match.outputs[0].index_text}" if outputs == 1 else f"{outputs:,} outputs"
    return f"`{leaf.shape}` of {_name(context, leaf)}{more} for {used}"


def _refused(
    context: CompileContext, file: DumpFile, refused: Sequence[UnusedDonation]
) -> Iterator[Finding]:
    sized = [(_size(context, one.parameter), one) for one in refused]
    if not sized:
        return
    sized.sort(key=lambda pair: -pair[0])
    limits, total_bytes = context.thresholds, sum(size for size, _ in sized)
    least = min(limits.size, MIN_SAVED_BYTES)
    is_small = total_bytes < limits.size and not limits.with_negligible
    if is_small or _is_negligible(context, total_bytes, least):
        return
    total = format_bytes(total_bytes)
    by_reason: dict[str, list[str]] = defaultdict(list)
    for _, one in sized:
        by_reason[one.why].append(f"`{one.parameter.shape}` of {_name(context, one.parameter)}")
    items = [f"{_first(arrays, ' more')}: {why}" for why, arrays in by_reason.items()]
    count = count_noun(len(sized), "donated buffer")
    are = "is" if len(sized) == 1 else "are"
    yield context.report(
        _place(context, file, sized[0][1].parameter),
        f"{count} (`buffer_donor`) {are} not used by an output, {total} in total: "
        f"{_first(items, ' more reasons')}. {_module_remedy(refused)}, or do not donate",
    )


def _first(items: Sequence[str], more: str) -> str:
    left = len(items) - _MAX_LISTED_BUFFERS
    return "; ".join([*items[:_MAX_LISTED_BUFFERS], *([f"{left:,}{more}"] if left > 0 else [])])


def _module_remedy(refused: Sequence[UnusedDonation]) -> str:
    shape = "Return an array of the same shape, layout, and memory space"
    sharding = "give the output the sharding of the parameter (`out_shardings` of `jax.jit`)"
    if not any(one.is_resharded for one in refused):
        return shape
    if all(one.is_resharded for one in refused):
        return capitalized(sharding)
    return f"{shape}, {sharding}"


def _size(context: CompileContext, leaf: InterfaceLeaf) -> int:
    size = padded_size_of_text(leaf.shape, target_of(context.dump))
    return 0 if size is None else size.bytes


def _name(context: CompileContext, leaf: InterfaceLeaf) -> str:
    name = buffer_name(context.dump, leaf.parameter or 0, leaf.index)
    return name if name.startswith("parameter ") else f"`{name}`"


def _place(context: CompileContext, file: DumpFile, leaf: InterfaceLeaf) -> Place:
    for allocation in context.dump.allocations():
        record = allocation.record
        if (record.parameter, record.parameter_index) == (leaf.parameter, leaf.index_text):
            return field_place(allocation.file, record, "PARAMETER")
    return name_place(file, file.module.parameters[leaf.parameter or 0])


_USE_ONE_LAYOUT = "Use one layout for the producer and the users"
_LEAVE_ROOM = (
    "XLA moves values that do not fit in fast memory: smaller values or another order leave more "
    "room"
)
_MIN_DUPLICATED = 10  # instructions of each computation
_MAX_RELATED = 4  # duplicates that a finding lists as related places
_MAX_FINDINGS_PER_RULE = 10


def layout_copy(context: CompileContext) -> Iterator[Finding]:
    """Report copies that change only the layout or memory space of a large array."""
    file = scheduled_module(context.dump)
    if file is None:
        return
    least = context.thresholds.size
    found = [one for one in relayouts(file.module) if one.total >= least]
    for group in found[:_MAX_FINDINGS_PER_RULE]:
        first, count = group.instructions[0], len(group.instructions)
        remedy = _LEAVE_ROOM if group.what == "the memory space" else _USE_ONE_LAYOUT
        what = f"{group.what} of {format_bytes(group.bytes)}"
        text = f"`{first.name}` changes only {what}"
        if count > 1:
            text = f"{count:,} instructions like `{first.name}` change only {what} each"
        yield context.report(
            name_place(file, first),
            f"{text}: `{group.source}` becomes `{first.shape}`. {remedy}",
            *(
                Related(name_place(file, one), "an equal copy")
                for one in group.instructions[1:_MAX_RELATED]
            ),
        )


def duplicate_computation(context: CompileContext) -> Iterator[Finding]:
    """Report computations with equal bodies, each of which is compiled and loaded."""
    file = scheduled_module(context.dump)
    if file is None or file.module.damaged:
        return
    for group in find_duplicate_computations(file.module, _MIN_DUPLICATED)[:_MAX_FINDINGS_PER_RULE]:
        first, *others = group.computations
        yield context.report(
            name_place(file, first),
            f"{count_noun(len(others), 'computation')} {'is' if len(others) == 1 else 'are'} "
            f"identical to `{first.name}`: {group.saved:,} duplicate instructions. A loop over "
            "the repeated part (`jax.lax.scan`) compiles the body once",
            *(Related(name_place(file, other), "the same body") for other in others[:_MAX_RELATED]),
        )


def host_transfer(context: CompileContext) -> Iterator[Finding]:
    """Report host transfers: the host link is far slower than device memory."""
    file = scheduled_module(context.dump)
    if file is None:
        return
    for transfer in host_transfers(file.module):
        way = "to the host" if transfer.to_host else "from the host"
        yield context.report(
            name_place(file, transfer.instruction),
            f"`{transfer.instruction.name}` moves {format_bytes(transfer.bytes)} {way} each time "
            "that it runs. Keep data that is reused soon on the device; start other transfers "
            "early",
        )


RULES: tuple[AnyRule, ...] = (
    WholeRule("padding-waste", Severity.INFORMATION, padding_waste, places=Places.ALLOCATIONS),
    WholeRule("memory-advice", Severity.HINT, memory_advice, places=Places.ALLOCATIONS),
    WholeRule("fragmentation", Severity.INFORMATION, fragmentation, places=Places.ALLOCATIONS),
    WholeRule("large-constant", Severity.INFORMATION, large_constant, places=Places.ALLOCATIONS),
    WholeRule("long-lived", Severity.HINT, long_lived),
    WholeRule("unused-donation", Severity.INFORMATION, unused_donation, places=Places.ALL),
    WholeRule("layout-copy", Severity.HINT, layout_copy, places=Places.ALL),
    WholeRule("duplicate-computation", Severity.HINT, duplicate_computation, places=Places.ALL),
    WholeRule("host-transfer", Severity.HINT, host_transfer, places=Places.ALL),
)
