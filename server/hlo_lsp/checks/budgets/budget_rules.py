"""Violations of the budgets in ``hlo-lsp.toml``."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.options import Budget
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Places, Reads, WholeRule
from hlo_lsp.cost.chips import Chip, configured_chip
from hlo_lsp.cost.descriptions import unknown_parts
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.memory.lost_bytes import lost_bytes
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import Backend, is_on_chip, space_title
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.place import name_place, top_place
from hlo_lsp.model.sections import missing_part
from hlo_lsp.program.argument_names import tupled_argument_names
from hlo_lsp.program.donation import argument_name, donated_buffers, donated_parameters
from hlo_lsp.program.stages import is_at_assignment, is_optimized, module_at_buffer_assignment
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_bytes, format_flops, format_short_bytes, format_time

_Amount = TypeVar("_Amount", int, float)
_MAX_RELATED = 4
_MAX_NAMES = 5  # of arguments in a message
_MIN_ON_CHIP_BYTES = 1 << 20  # padding is most of the few bytes in SMEM
# XLA writes this text beside that of the optimized module, and it has the same instructions.
_SAME_MODULE_AGAIN = FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT


def budget_peak(context: CompileContext) -> Iterator[Finding]:
    """Report memory spaces whose peak is above a budget."""
    for budget in _budgets(context):
        for occupancy in memory_space_occupancies(context.dump) if budget.peak else ():
            title, count = space_title(occupancy.space, context.dump.backend), occupancy.peak_bytes
            limit = _limit(budget.peak, occupancy.space, context.dump.backend)
            if limit is not None and count > limit:
                yield _in_space(
                    context,
                    occupancy.space,
                    f"the peak of {title} is {format_bytes(count)} at step "
                    f"{occupancy.peak_step:,}, {_above(count, limit)}",
                )


def budget_total(context: CompileContext) -> Iterator[Finding]:
    """Report memory spaces with more allocated bytes than a budget allows."""
    for budget in _budgets(context):
        totals: Counter[int] = Counter()
        for located in context.dump.allocations() if budget.total else ():
            totals[located.record.color] += located.record.size
        for space, total in sorted(totals.items()):
            title = space_title(space, context.dump.backend)
            limit = _limit(budget.total, space, context.dump.backend)
            if limit is not None and total > limit:
                text = f"{format_bytes(total)} of {title} are allocated, {_above(total, limit)}"
                yield _in_space(context, space, text)


def budget_padding(context: CompileContext) -> Iterator[Finding]:
    """Report memory spaces with a larger share of padding at the peak than a budget allows."""
    dump = context.dump
    for budget in _budgets(context):
        for occupancy in () if budget.padding is None else memory_space_occupancies(dump):
            is_small = occupancy.peak_bytes < _MIN_ON_CHIP_BYTES
            if is_small and is_on_chip(occupancy.space, dump.backend):
                continue
            padding = lost_bytes(dump, occupancy.space, occupancy.peak_step).array_padding
            share = padding / occupancy.peak_bytes if occupancy.peak_bytes else 0.0
            if budget.padding is not None and share > budget.padding:
                yield _in_space(
                    context,
                    occupancy.space,
                    f"{format_bytes(padding)} of the {format_short_bytes(occupancy.peak_bytes)} at"
                    f" the peak of {space_title(occupancy.space, dump.backend)} are padding: "
                    f"{share:.1%}, above the budget of {budget.padding:.1%}",
                )


def budget_constant(context: CompileContext) -> Iterator[Finding]:
    """Report constants that are larger than a budget allows."""
    for budget in _budgets(context):
        for allocation in context.dump.allocations() if budget.constant is not None else ():
            assert budget.constant is not None
            size = allocation.record.size
            if allocation.record.constant and size > budget.constant:
                yield context.report(
                    allocation.place("SIZE"),
                    f"the constant takes {format_bytes(size)}, {_above(size, budget.constant)}",
                )


def budget_opcode(context: CompileContext) -> Iterator[Finding]:
    """Report instructions whose opcode a budget forbids; once for each opcode."""
    forbidden = {opcode for budget in _budgets(context) for opcode in budget.forbidden}
    file = _module(context) if forbidden else None
    if file is None:
        return
    found: dict[str, list[InstructionLine]] = {}
    for record in file.module.instructions.records():
        checkpoint()
        opcode = record.opcode.removesuffix("-start")
        for name in {record.opcode, opcode} & forbidden:
            found.setdefault(name, []).append(record)
    for opcode, records in sorted(found.items()):
        records.sort(key=lambda record: record.line)
        related = [
            Related(name_place(file, record), f"another `{record.opcode}`")
            for record in records[1 : 1 + _MAX_RELATED]
        ]
        yield context.report(
            name_place(file, records[0]),
            f"the budget forbids `{opcode}`, and the module has {len(records):,}",
            *related,
        )


def budget_donation(context: CompileContext) -> Iterator[Finding]:
    """Report arguments that are not donated although a budget requires it."""
    budgets = [budget for budget in _budgets(context) if budget.donated]
    file = _module(context) if budgets else None
    header = None if file is None else file.module.header
    entry = None if file is None else file.module.entry
    if file is None or header is None or entry is None:
        return
    donated = donated_parameters(header.text)
    parameters = file.module.computation(entry).parameters
    arguments = [
        (argument_name(record), number in donated, record)
        for number, record in sorted(parameters.items())
    ]
    if tupled := tupled_argument_names(context.dump):
        buffers = donated_buffers(header.text)
        arguments = [(name, (0, path) in buffers, parameters[0]) for path, name in tupled.items()]
    names = [name for name, _, _ in arguments]
    for budget in budgets:
        missing = [
            (name, name_place(file, record))
            for name, is_donated, record in arguments
            if not is_donated and name.startswith(budget.donated)
        ]
        if missing:
            related = [
                Related(place, f"`{name}` is not donated")
                for name, place in missing[1 : 1 + _MAX_RELATED]
            ]
            what = f"`{missing[0][0]}` is not donated, but the budget requires it"
            more = f"; nor are {len(missing) - 1:,} others" if len(missing) > 1 else ""
            yield context.report(missing[0][1], what + more, *related)
        # A pattern can match modules without these arguments, for example of initializations.
        for prefix in budget.donated if budget.module == header.name else ():
            if not any(name.startswith(prefix) for name in names):
                yield context.report(name_place(file, entry), _no_argument(prefix, names))


def budget_flops(context: CompileContext) -> Iterator[Finding]:
    """Report modules that compute more FLOPs in one run than a budget allows, or may do so."""
    for budget in _budgets(context):
        yield from _of_amount(context, budget.flops, "FLOPs", _computed, format_flops)


def budget_bytes(context: CompileContext) -> Iterator[Finding]:
    """Report modules that access more bytes off the chip than a budget allows, or may do so."""
    for budget in _budgets(context):
        yield from _of_amount(context, budget.bytes, "bytes", _accessed, format_short_bytes)


def budget_least_time(context: CompileContext) -> Iterator[Finding]:
    """Report modules whose least time on the chip is above a budget, or may be so."""
    if _chip(context) is None and context.thresholds.chip is not None:
        return  # it is for dumps of another device
    for budget in _budgets(context):
        yield from _of_amount(context, budget.least_time, "the least time", _time, format_time)


def _computed(program: ProgramCost, least: str) -> tuple[int, str]:
    count = program.total.cost.flops
    return count, f"one run takes {least}{format_flops(count)}"


def _accessed(program: ProgramCost, least: str) -> tuple[int, str]:
    count = program.total.memory_bytes
    return count, f"one run accesses {least}{format_bytes(count)} outside of on-chip memory"


def _time(program: ProgramCost, least: str) -> tuple[float, str] | None:
    time = program.total.least_ps
    if program.chip is None or time is None:
        return None
    amount = f"{least}{format_time(time)} on {program.chip.title}"
    return time, f"the least times of the instructions of one run are {amount}"


def _of_amount(
    context: CompileContext,
    limit: _Amount | None,
    what: str,
    amount_of: Callable[[ProgramCost, str], tuple[_Amount, str] | None],
    shown: Callable[[_Amount], str],
) -> Iterator[Finding]:
    """Yield a finding if an amount of one run is above its budget, or may be so.

    Args:
        context: The compile.
        limit: The budget, None without one.
        what: The name of the amount.
        amount_of: Returns the amount and the sentence with it, which begins with the second
            argument if it is a lower bound; None if the chip is unknown.
        shown: Returns an amount as a text.
    """
    if limit is None:
        return
    program = None if _module(context) is None else program_cost(context.dump, _chip(context))
    if program is None:
        yield from _unknown_cost(context, what)
        return
    is_complete = program.executed.complete
    found = amount_of(program, "" if is_complete else "at least ")
    if found is None:
        text = f"{what} has a budget, but the chip is unknown: set `chip`"
        yield from _of_run(context, text)
        return
    amount, text = found
    if amount > limit:
        excess = f"{shown(amount - limit)} above the budget of {shown(limit)}"
        yield from _of_run(context, f"{text}, {excess}")
    elif not is_complete:
        reasons = "; ".join(unknown_parts(program.executed))
        unknown = f"so whether it is within the budget of {shown(limit)} is unknown: {reasons}"
        yield from _of_run(context, f"{text}, {unknown}")


def _chip(context: CompileContext) -> Chip | None:
    return configured_chip(context.dump, context.thresholds.chip)


def _unknown_cost(context: CompileContext, what: str) -> Iterator[Finding]:
    """Yield a finding if the cost of a module text is unknown."""
    file = _module(context)
    if file is not None:
        reason = missing_part(file) or "the cost of this module is unknown"
        yield from _of_run(context, f"the budget for {what} is not checked: {reason}")
        return
    file = context.dump.module_file
    files = (*context.dump.files, *context.dump.others)
    is_only = file is not None and not is_optimized(file) and not any(map(is_at_assignment, files))
    if file is not None and is_only:
        reason = "this text is from before the end of the optimizations"
        place = top_place(file)
        yield context.report(place, f"the budget for {what} is not checked: {reason}")


def _of_run(context: CompileContext, message: str) -> Iterator[Finding]:
    """Yield a finding at the entry computation, or else at the beginning of the module text."""
    file = _module(context)
    if file is not None:
        entry = file.module.entry
        place = top_place(file) if entry is None else name_place(file, entry)
        yield context.report(place, message)


def _no_argument(prefix: str, names: Sequence[str]) -> str:
    text = f"no argument begins with `{prefix}`, which the budget requires to be donated"
    known = list(dict.fromkeys(name.partition("[")[0].partition(".")[0] for name in names if name))
    if not known:
        return f"{text}: the dump has no names of arguments"
    words = [f"`{name}`" for name in known[:_MAX_NAMES]]
    return f"{text}: the arguments are {', '.join(words + ['...'] * (len(known) > _MAX_NAMES))}"


def _budgets(context: CompileContext) -> list[Budget]:
    """Return the budgets for the module of a compile."""
    roles = {suffix_of(file.title).role for file in context.dump.files}
    if not context.thresholds.budgets or roles == {_SAME_MODULE_AGAIN}:
        return []
    header = context.dump.module_header
    name = "" if header is None else header.name
    return [budget for budget in context.thresholds.budgets if budget.applies_to(name)]


def _module(context: CompileContext) -> DumpFile | None:
    """Return the module text, unless it is checked with the same one beside it."""
    file = module_at_buffer_assignment(context.dump)
    is_copy = file is not None and suffix_of(file.title).role is _SAME_MODULE_AGAIN
    return None if is_copy else file


def _limit(limits: tuple[tuple[str, int], ...], space: int, backend: Backend) -> int | None:
    title = space_title(space, backend).casefold()
    names = {title} if is_on_chip(space, backend) else {title, ""}
    return next((size for name, size in limits if name.casefold() in names), None)


def _above(size: int, limit: int) -> str:
    return f"{format_short_bytes(size - limit)} above the budget of {format_short_bytes(limit)}"


def _in_space(context: CompileContext, space: int, message: str) -> Finding:
    """Return a finding at the largest allocation of a memory space."""
    found = (one for one in context.dump.allocations() if one.record.color == space)
    largest = max(found, key=lambda one: one.record.size)
    return context.report(largest.place("SIZE"), message)


# A part of a dump can violate a budget as well.
RULES: tuple[AnyRule, ...] = tuple(
    WholeRule(code, Severity.ERROR, check, reads=Reads.PARTS, places=Places.ALL)
    for code, check in (
        ("budget-peak", budget_peak),
        ("budget-total", budget_total),
        ("budget-padding", budget_padding),
        ("budget-constant", budget_constant),
        ("budget-opcode", budget_opcode),
        ("budget-donation", budget_donation),
        ("budget-flops", budget_flops),
        ("budget-bytes", budget_bytes),
        ("budget-least-time", budget_least_time),
    )
)
