"""Advice on memory usage: padding, gaps, constants, long live ranges."""

from collections import defaultdict
from collections.abc import Iterator

from hlo_lsp.checks.case import CompileCheck, field_place, name_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.memory.liveness import largest_lifetimes
from hlo_lsp.memory.occupancy import allocation_occupancy
from hlo_lsp.memory.padding import padded_arrays
from hlo_lsp.model.backend import is_on_chip
from hlo_lsp.model.display import format_bytes, format_short_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.passes import ConstantOrigin, constant_origin
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.checkpoint import checkpoint


def padding_waste(survey: CompileCheck) -> Iterator[Finding]:
    """Report arrays with much padding."""
    limits, target = survey.thresholds, target_of(survey.dump)
    for group in padded_arrays(survey.dump, target, limits.padding_ratio, limits.padding_bytes):
        size, why = group.padded.bytes, "; ".join(map(str, group.padded.padding))
        more = (
            f"; {group.values:,} values have it, {format_short_bytes(group.wasted)} of padding in"
        )
        more = f"{more} {group.places:,} places" if group.places > 1 else ""
        yield survey.finding(
            group.value,
            "SHAPE",
            f"`{group.value.record.key}` takes {format_bytes(size)} for "
            f"{format_bytes(group.logical)} of elements, {size / group.logical:.3g} times as much: "
            f"{why}{more}. Let a larger dimension come last in the layout, or merge small ones",
        )


def fragmentation(survey: CompileCheck) -> Iterator[Finding]:
    """Report temp allocations that are much larger than the maximum of live bytes in them."""
    dump, limits, backend = survey.dump, survey.thresholds, target_of(survey.dump).backend
    for allocation in dump.allocations():
        record = allocation.record
        if not record.preallocated_temp or is_on_chip(record.color, backend):
            continue
        is_small = record.size < limits.fragmentation_bytes
        found = None if is_small else allocation_occupancy(dump, allocation)
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


_Constant = tuple[LocatedRecord[AllocationLine], AssignedValue | None]


def large_constant(survey: CompileCheck) -> Iterator[Finding]:
    """Report large constants, which take memory for as long as the program is loaded."""
    dump, least = survey.dump, survey.thresholds.constant_bytes
    found: defaultdict[ConstantOrigin, list[_Constant]] = defaultdict(list)
    for allocation in dump.allocations():
        if allocation.record.constant and allocation.record.size >= least:
            value = next(iter(dump.assigned_to(allocation)), None)
            origin = ConstantOrigin.UNKNOWN if value is None else constant_origin(dump, value.shape)
            found[origin].append((allocation, value))
    checkpoint()
    for origin, constants in found.items():
        constants.sort(key=lambda constant: -constant[0].record.size)
        yield _constants_finding(survey, origin, constants)


def _constants_finding(
    survey: CompileCheck, origin: ConstantOrigin, constants: list[_Constant]
) -> Finding:
    (first, value), count = constants[0], len(constants)
    name = "a constant" if value is None else f"`{value.name}`"
    is_made = origin is ConstantOrigin.XLA
    line = survey.dump.instruction(value.name) if is_made and value is not None else None
    purpose = "" if line is None else _purpose(survey.dump, line)
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
        Related(field_place(other.file, other.record, "SIZE"), format_bytes(other.record.size))
        for other, _ in constants[1:4]
    ]
    if line is not None:
        related.append(Related(name_place(line.file, line.record), "the constant in the program"))
    return survey.finding(first, "SIZE", f"{what}. {_remedy(origin, count)}", *related)


def _purpose(dump: DumpSet, line: LocatedRecord[InstructionLine]) -> str:
    """Return the operation and the Python line of a constant: `` for `jit(f)/add` (f.py:3)``."""
    text = line.record.parsed
    operation = text.metadata.get("op_name", "").replace("`", "'")
    stack = dump.stack(text)
    return (f" for `{operation}`" if operation else "") + (f" ({stack[0]})" if stack else "")


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


def long_lived(survey: CompileCheck) -> Iterator[Finding]:
    """Report large values with long live ranges, which are live at most peaks."""
    dump, limits = survey.dump, survey.thresholds
    of = "" if dump.last_step is None else f" of {dump.last_step:,}"
    for one in largest_lifetimes(dump, limits.long_lived_count, limits.long_lived_bytes):
        row = one.live.record
        running, text = dump.at_step(row.end_step), dump.text_of(row.name)
        until = "the end" if running is None else f"`{running.record.name}`"
        copied = ""
        if text is not None and text.opcode.text == "copy-start" and text.operands:
            copied = f", a copy of `{text.operands[0].text}`,"
        value = dump.find(lambda index: index.assigned, one.value.id)
        places = [] if value is None else [field_place(value.file, value.record, "SIZE")]
        yield survey.finding(
            one.live,
            "END",
            f"`{row.key}`{copied} keeps {format_bytes(one.value.size)} for {one.steps:,}{of} "
            f"steps, until {until}. Compute it again nearer to its last use (`jax.checkpoint`), "
            "or use it earlier",
            *(Related(place, "assigned here") for place in places),
        )


RULES: tuple[AnyRule, ...] = (
    WholeRule("padding-waste", Severity.INFORMATION, padding_waste),
    WholeRule("fragmentation", Severity.INFORMATION, fragmentation),
    WholeRule("large-constant", Severity.INFORMATION, large_constant),
    WholeRule("long-lived", Severity.HINT, long_lived),
)
