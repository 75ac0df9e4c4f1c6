"""The schedule of a module according to its text."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import CONTROL_FLOW_OPCODES
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.dataflow import ordered_callees
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import LiveRangeLabel
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.scanners import ThunkRow

_ASYNC_OPCODES = {"async-start", "async-update", "async-done"}


@dataclass(frozen=True, slots=True)
class ComputationSteps:
    """Steps of a computation, from ``start`` to the exclusive ``end``.

    The range includes the steps of its callees. ``is_async`` is True if an async operation runs it.
    """

    start: int
    end: int
    is_async: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """All scheduled instructions in order, their computations, and the steps of those."""

    instructions: list[InstructionLine]
    computations: list[ComputationLine]
    spans: dict[ComputationLine, ComputationSteps]


def scheduled_instructions(module: ModuleIndex) -> list[InstructionLine] | None:
    """Return the instructions of :func:`schedule_of`."""
    found = schedule_of(module)
    return None if found is None else found.instructions


def schedule_of(module: ModuleIndex) -> Schedule | None:
    """Return all scheduled instructions: item n runs at step n of the live-range file.

    Returns None if the schedule is unknown: the module is not scheduled or has no computation.

    The rule is ``HloLiveRange::FlattenSchedule`` (hlo_live_range.cc): text order starting at the
    entry. The computations of a call, conditional, while (condition, then body), and async
    instruction precede it, each once. Fusions and reducers are not entered. The computation of an
    async operation precedes the first instruction of its chain that has all operands.
    """
    entry = module.entry
    header = module.header
    if entry is None or header is None or not header.is_scheduled:
        return None
    scheduled: list[InstructionLine] = []
    computations: list[ComputationLine] = []
    spans = {entry: ComputationSteps(0, 0, is_async=False)}
    stack = [(entry, _execution_order(module, entry))]
    while stack:
        computation, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            stack.pop()
            spans[computation] = replace(spans[computation], end=len(scheduled))
        elif isinstance(part, InstructionLine):
            scheduled.append(part)
            computations.append(computation)
            checkpoint()
        elif part.computation not in spans:
            is_async = part.is_async or spans[computation].is_async
            spans[part.computation] = ComputationSteps(len(scheduled), len(scheduled), is_async)
            stack.append((part.computation, _execution_order(module, part.computation)))
    return Schedule(scheduled, computations, spans)


def printed_schedule(dump: Compile, schedule: Schedule) -> tuple[list[str], Schedule]:
    """Return the names of all steps, and a schedule whose spans count these steps.

    The live ranges also print the steps of instructions that the module text omits.
    """
    label = dump.label(LiveRangeLabel)
    rows = [] if label is None else sorted(label.file.memory.steps.firsts(), key=attrgetter("step"))
    if len(rows) <= len(schedule.instructions):
        return [line.name for line in schedule.instructions], schedule
    steps = {row.name: row.step for row in rows}
    spans = {}
    for computation, span in schedule.spans.items():
        inside = schedule.instructions[span.start : span.end]
        at = [steps[line.name] for line in (*inside[:1], *inside[-1:]) if line.name in steps]
        if at:
            spans[computation] = replace(span, start=at[0], end=at[-1] + 1)
    return [row.name for row in rows], replace(schedule, spans=spans)


@dataclass(frozen=True, slots=True)
class _EnteredComputation:
    """A computation that runs before the instruction that enters it."""

    computation: ComputationLine
    is_async: bool


def _execution_order(
    module: ModuleIndex, computation: ComputationLine
) -> Iterator[InstructionLine | _EnteredComputation]:
    """Yield the instructions of a computation, each after the computations that it enters."""
    unbound: dict[str, tuple[list[ComputationLine], int]] = {}
    for instruction in module.members(computation):
        if instruction.opcode in CONTROL_FLOW_OPCODES:
            for callee in _callees(module, instruction):
                yield _EnteredComputation(callee, is_async=False)
        elif module.opcode(instruction) in _ASYNC_OPCODES:
            for callee in _bound_computations(module, instruction, unbound):
                yield _EnteredComputation(callee, is_async=True)
        yield instruction


def _callees(module: ModuleIndex, instruction: InstructionLine) -> list[ComputationLine]:
    callees = ordered_callees(module, instruction)  # the condition of a loop first
    return [callee.computation for callee in callees if callee.computation is not None]


def _bound_computations(
    module: ModuleIndex,
    instruction: InstructionLine,
    unbound: dict[str, tuple[list[ComputationLine], int]],
) -> list[ComputationLine]:
    """Return the computations of an async instruction if the chain has all operands with it.

    ``unbound`` contains instructions with missing operands: their computations, and how many
    operands they have.
    """
    operands = instruction.operands
    if instruction.opcode == "async-start":
        computations, count = _callees(module, instruction), len(operands)
    elif operands and operands[0] in unbound:
        computations, count = unbound[operands[0]]
        count += len(operands) - 1
    else:  # An earlier instruction of the chain has all operands.
        return []
    if count < sum(len(module.computation(callee).parameters) for callee in computations):
        unbound[instruction.name] = computations, count
        return []
    return computations


_THUNK_INFO = re.compile(
    r'thunk_info \{\s*profile_annotation: "(?P<name>[^"]+)"\s*thunk_id: (?P<id>\d{1,18})\s*\}'
)


def thunk_instruction(dump: Compile, thunk: ThunkRow) -> str | None:
    """Return the name of the instruction that a thunk runs, or None if it is unknown.

    The sources in order of precedence: the annotation of the thunk, ``thunk_metadata.txt``, and the
    kernel name if only this thunk runs the kernel and only one instruction matches it. Equal
    kernels share the name of one of their instructions.
    """
    if thunk.annotation is not None:
        return thunk.annotation
    if dump.thunk_names is not None:
        names_by_id = _instructions_by_thunk_id(dump)
        return None if thunk.id is None else names_by_id.get(thunk.id)
    if thunk.kernel is None:
        return None
    if _thunks_per_kernel(dump)[thunk.kernel] > 1:
        return None
    names = _instructions_by_kernel_name(dump).get(thunk.kernel, [])
    return names[0] if len(names) == 1 else None


@query
def _instructions_by_thunk_id(dump: Compile) -> dict[int, str]:
    text = "" if dump.thunk_names is None else "\n".join(dump.thunk_names.lines)
    return {int(info["id"]): info["name"] for info in _THUNK_INFO.finditer(text)}


@query
def _thunks_per_kernel(dump: Compile) -> Counter[str]:
    """Return the number of thunks of each kernel."""
    return Counter(
        record.kernel
        for file in dump.files
        if file.kind is FileKind.THUNKS
        for record in file.records
        if isinstance(record, ThunkRow) and record.kernel is not None
    )


@query
def _instructions_by_kernel_name(dump: Compile) -> dict[str, list[str]]:
    """Return instructions by the name of their kernel, in which dots become underscores.

    Instructions inside a fusion have no kernel.
    """
    names: dict[str, list[str]] = {}
    for file in dump.files:
        fused = _fused_computations(file)
        for record in file.module.instructions.firsts():
            head = file.records.head_of(record)
            if not isinstance(head, ComputationLine) or head.name not in fused:
                names.setdefault(re.sub(r"[.\-]", "_", record.name), []).append(record.name)
    return names


def _fused_computations(file: DumpFile) -> set[str]:
    """Return the names of computations that fusions call."""
    fusions = (one for one in file.module.instructions.records() if one.opcode == "fusion")
    return {name for fusion in fusions for name in fusion.called}
