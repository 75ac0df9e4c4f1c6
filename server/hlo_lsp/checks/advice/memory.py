"""Advice on memory usage: padding, gaps, constants, long live ranges."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.checks.case import CompileCheck, field_place, name_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.memory.liveness import largest_lifetimes
from hlo_lsp.memory.occupancy import allocation_occupancy
from hlo_lsp.memory.padding import PaddedArrays, padded_arrays
from hlo_lsp.model.backend import is_on_chip
from hlo_lsp.model.display import format_bytes, format_short_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.passes import ConstantOrigin, constant_origin
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.checkpoint import checkpoint


def padding_waste(survey: CompileCheck) -> Iterator[Finding]:
    """Report arrays with much padding.

    On TPU, the minor dimensions of an array are rounded up to the tile of its layout.
    """
    limits = survey.thresholds
    found = padded_arrays(
        survey.dump, target_of(survey.dump), limits.padding_ratio, limits.padding_bytes
    )
    for group in found:
        yield _padding(survey, group)


def _padding(survey: CompileCheck, group: PaddedArrays) -> Finding:
    size, record = group.padded.bytes, group.value.record
    why = "; ".join(map(str, group.padded.padding))
    more = ""
    if group.places > 1:
        more = (
            f"; {group.values:,} values have it, {format_short_bytes(group.wasted)} of padding in "
            f"{group.places:,} places"
        )
    return survey.finding(
        group.value,
        "SHAPE",
        f"`{record.key}` takes {format_bytes(size)} for {format_bytes(group.logical)} of elements, "
        f"{size / group.logical:.3g} times as much: {why}{more}. Let a larger dimension come last "
        "in the layout, or merge small ones",
    )


def fragmentation(survey: CompileCheck) -> Iterator[Finding]:
    """Report temp allocations that are much larger than the maximum of live bytes in them."""
    dump, limits = survey.dump, survey.thresholds
    for allocation in dump.allocations():
        record = allocation.record
        if not record.preallocated_temp or record.size < limits.fragmentation_bytes:
            continue
        if is_on_chip(record.color, target_of(survey.dump).backend):
            continue
        found = allocation_occupancy(dump, allocation)
        if found is None or found.idle <= limits.fragmentation_bytes:
            continue
        if found.idle > limits.fragmentation_ratio * found.end:
            yield survey.finding(
                allocation,
                "SIZE",
                f"at most {format_bytes(found.live)} of the {format_bytes(found.end)} in "
                f"allocation {record.number} are live at once, at step {found.step:,}: "
                f"{format_bytes(found.idle)} ({found.idle / found.end:.0%}) are gaps between "
                "values. Shorten the live ranges of large values, or split them",
            )


def large_constant(survey: CompileCheck) -> Iterator[Finding]:
    """Report large constants, which take memory for as long as the program is loaded.

    The remedy depends on the origin of a constant (program or XLA), so each origin is one finding.
    """
    dump, least = survey.dump, survey.thresholds.constant_bytes
    found: dict[ConstantOrigin, list[_Constant]] = {}
    for allocation in dump.allocations():
        if allocation.record.constant and allocation.record.size >= least:
            value = next(iter(dump.assigned_to(allocation)), None)
            origin = ConstantOrigin.UNKNOWN if value is None else constant_origin(dump, value.shape)
            found.setdefault(origin, []).append(_Constant(allocation, value))
    checkpoint()
    for origin, constants in found.items():
        constants.sort(key=lambda constant: -constant.size)
        yield _constants_finding(survey, origin, constants)


@dataclass(frozen=True, slots=True)
class _Constant:
    allocation: LocatedRecord[AllocationLine]
    value: AssignedValue | None

    @property
    def size(self) -> int:
        return self.allocation.record.size

    @property
    def name(self) -> str:
        return "a constant" if self.value is None else f"`{self.value.name}`"


def _constants_finding(
    survey: CompileCheck, origin: ConstantOrigin, constants: list[_Constant]
) -> Finding:
    first, count = constants[0], len(constants)
    made = origin is ConstantOrigin.XLA
    line = None
    if made and first.value is not None:
        line = survey.dump.instruction(first.value.name)
    purpose = "" if line is None else _purpose(survey.dump, line)
    what = f"{first.name} takes {format_bytes(first.size)} as a constant "
    what += f"that XLA made{purpose}" if made else "of the program"
    if count > 1:
        total = format_bytes(sum(constant.size for constant in constants))
        what = (
            f"{count:,} constants {'that XLA made ' if made else ''}take {total} in the program, "
            f"the largest is {first.name} with {format_bytes(first.size)}{purpose}"
        )
    if made:
        what += ": no constant before optimizations has as many elements"
    related = [
        Related(
            field_place(one.allocation.file, one.allocation.record, "SIZE"), format_bytes(one.size)
        )
        for one in constants[1:4]
    ]
    if line is not None:
        related.append(Related(name_place(line.file, line.record), "the constant in the program"))
    return survey.finding(first.allocation, "SIZE", f"{what}. {_remedy(origin, count)}", *related)


def _purpose(dump: DumpSet, line: LocatedRecord[InstructionLine]) -> str:
    """Return the operation and the Python line of a constant: `` for `jit(f)/add` (f.py:3)``."""
    text = line.record.parsed
    operation = text.metadata.get("op_name", "").replace("`", "'")
    stack = dump.stack(text)
    return (f" for `{operation}`" if operation else "") + (f" ({stack[0]})" if stack else "")


def _remedy(origin: ConstantOrigin, count: int) -> str:
    if origin is ConstantOrigin.PROGRAM:
        return "Pass arrays as arguments instead of closing over them"
    if origin is ConstantOrigin.UNKNOWN:
        if count > 1:
            return "If the program closes over arrays of these sizes, pass them as arguments"
        return "If the program closes over an array of this size, pass it as an argument"
    return (
        "If its operation depends on no argument, XLA evaluates it; pass one of its "
        "inputs as an argument to compute it at run time"
    )


def long_lived(survey: CompileCheck) -> Iterator[Finding]:
    """Report large values with long live ranges, which are live at most peaks."""
    dump, limits = survey.dump, survey.thresholds
    last = dump.last_step
    found = largest_lifetimes(dump, limits.long_lived_count, limits.long_lived_bytes)
    for one in found:
        row = one.live.record
        running = dump.at_step(row.end_step)
        until = "the end" if running is None else f"`{running.record.name}`"
        kept = f"keeps {format_bytes(one.value.size)}"
        of = "" if last is None else f" of {last:,}"
        text = dump.text_of(row.name)
        copied = ""
        if text is not None and text.opcode.text == "copy-start" and text.operands:
            copied = f", a copy of `{text.operands[0].text}`,"
        yield survey.finding(
            one.live,
            "END",
            f"`{row.key}`{copied} {kept} for {one.steps:,}{of} steps, until {until}. Compute it "
            "again nearer to its last use (`jax.checkpoint`), or use it earlier",
            Related(_assigned_place(survey, one.value.id), "assigned here"),
        )


def _assigned_place(survey: CompileCheck, value_id: int) -> Place:
    found = survey.dump.find(lambda index: index.assigned, value_id)
    assert found is not None  # the value was found in the same index
    return field_place(found.file, found.record, "SIZE")


RULES: tuple[AnyRule, ...] = (
    WholeRule("padding-waste", Severity.INFORMATION, padding_waste),
    WholeRule("fragmentation", Severity.INFORMATION, fragmentation),
    WholeRule("large-constant", Severity.INFORMATION, large_constant),
    WholeRule("long-lived", Severity.HINT, long_lived),
)
