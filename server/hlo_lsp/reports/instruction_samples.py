"""The cost and the measured time of instructions for profilers: samples, and slices of traces."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.profiles.events import InstructionEvent, Profile
from hlo_lsp.program.instruction_owners import InstructionFacts, InstructionKey, group_of
from hlo_lsp.reports.profiles import Frame, SampleType, StackSample, frames_of
from hlo_lsp.reports.trace_writer import Facts, TraceWriter
from hlo_lsp.stats.instruction_table import CostTable
from hlo_lsp.stats.measured_programs import JoinedProfile
from hlo_lsp.syntax.module_records import InstructionLine

LEAST_TIME = SampleType("least_time", "nanoseconds")
FLOPS = SampleType("flops", "count")
MEMORY_BYTES = SampleType("memory_bytes", "bytes")
TIME = SampleType("time", "nanoseconds")
OCCURRENCES = SampleType("occurrences", "count")
TIME_TYPES = (TIME, OCCURRENCES)
_PICOSECONDS_PER_NANOSECOND = 1000


def cost_types(tables: Iterable[CostTable]) -> tuple[SampleType, ...]:
    """Return the sample types of costs, the default first."""
    has_times = any(table.chip is not None for table in tables)
    types = (FLOPS, MEMORY_BYTES)
    return (LEAST_TIME, *types) if has_times else types


def cost_samples(table: CostTable) -> Iterator[StackSample]:
    """Yield the cost of each instruction in one run, with FLOPs of others in fusions apart."""
    dump = table.cost.dump
    for row, parts in table.parts():
        amounts = {FLOPS: 0, MEMORY_BYTES: 0}
        if row.cost is not None:
            amounts[MEMORY_BYTES] = row.cost.memory_bytes * row.cost.executions
        if table.chip is not None:
            time = round(row.run_ps / _PICOSECONDS_PER_NANOSECOND)
            amounts = {LEAST_TIME: time, **amounts}
        for part in parts:
            amounts[FLOPS] = part.cost.flops
            if any(amounts.values()):
                frames = _frames(dump, row.name, part.facts, part.instruction)
                yield _sample(dump.module_name, row.name, part.facts, frames, dict(amounts))
            amounts = dict.fromkeys(amounts, 0)  # the rest belongs to the instruction itself


def time_samples(profile: JoinedProfile) -> Iterator[StackSample]:
    """Yield the own time of each instruction in all runs on all devices."""
    for program in profile.programs:
        table, dump = program.table(), program.dump
        owners = table.owners
        for row in table.timed:
            if row.measured is None:
                continue
            own = round(row.measured.own_ps / _PICOSECONDS_PER_NANOSECOND)
            values = {TIME: own, OCCURRENCES: row.measured.occurrences}
            line = None if dump is None else dump.instruction(row.name)
            owner = owners.get(row.name)
            frames = _frames(dump, row.name, owner, None if line is None else line.record)
            yield _sample(program.time.program.name, row.name, owner, frames, values)


def _sample(
    module: str,
    name: str,
    owner: InstructionFacts | None,
    frames: tuple[Frame, ...],
    values: dict[SampleType, int],
) -> StackSample:
    checkpoint()
    labels = {"module": module, "instruction": name}
    if owner is not None:
        labels |= {"opcode": owner.opcode, "phase": owner.phase}
        if owner.op_name:
            labels["op_name"] = owner.op_name
    return StackSample((module,), frames, values, labels)


def _frames(
    dump: Compile | None,
    name: str,
    facts: InstructionFacts | None,
    instruction: InstructionLine | None,
) -> tuple[Frame, ...]:
    """Return the Python stack of an instruction, or of one inside of it."""
    if dump is None or facts is None or facts.source is None:
        return (Frame(group_of(name, facts, InstructionKey.LINE)),)
    stack = [] if instruction is None else dump.stack_of(instruction.metadata)
    # The line can be that of another instruction, such as that which produced the data.
    return frames_of(stack if facts.source in stack else [facts.source])


def time_trace(profile: Profile, joined: JoinedProfile) -> bytes:
    """Return a Perfetto trace of the measured events, with what the modules say about them."""
    trace = TraceWriter()
    processes: dict[str, int] = {}
    for program in joined.programs:
        facts = {name: _arguments(owner) for name, owner in program.table().owners.items()}
        for device, timeline in profile.programs[program.time.program].items():
            if device not in processes:
                processes[device] = trace.add_process(device)
            lines: dict[tuple[int, bool], list[InstructionEvent]] = {}
            for event in timeline.events:
                lines.setdefault((event.line, event.is_async), []).append(event)
            for (line, is_async), events in sorted(lines.items()):
                kind = "asynchronous transfers" if is_async else f"line {line}"
                title = f"{program.time.program.name} {kind}"
                _add_slices(
                    trace, partial(trace.add_track, title, processes[device]), events, facts
                )
    return trace.serialized()


def _add_slices(
    trace: TraceWriter,
    add_track: Callable[[], int],
    events: Iterable[InstructionEvent],
    facts: dict[str, Facts],
) -> None:
    """Add the events of a thread or stream: nested on one track, others that overlap on more."""
    tracks: list[tuple[int, list[int]]] = []  # each with the ends of its open slices
    for event in sorted(events, key=lambda event: (event.start_ps, -event.duration_ps)):
        checkpoint()
        start, end = (
            time // _PICOSECONDS_PER_NANOSECOND for time in (event.start_ps, event.end_ps)
        )
        for track, open_ends in tracks:
            while open_ends and open_ends[-1] <= start:
                trace.end_slice(open_ends.pop(), track)
            if not open_ends or end <= open_ends[-1]:
                break
        else:
            track, open_ends = add_track(), []
            tracks.append((track, open_ends))
        trace.begin_slice(start, track, event.instruction, facts.get(event.instruction, ()))
        open_ends.append(end)
    for track, open_ends in tracks:
        for end in reversed(open_ends):
            trace.end_slice(end, track)


def _arguments(owner: InstructionFacts) -> Facts:
    texts = {
        "source": "" if owner.source is None else str(owner.source),
        "op_name": owner.op_name,
        "opcode": owner.opcode,
        "phase": owner.phase,
    }
    return tuple((name, text) for name, text in texts.items() if text)


def cost_trace(tables: Iterable[CostTable]) -> bytes:
    """Return a Perfetto trace of the least times: all instructions, one after the other.

    An instruction of a loop is one slice, with the time of all iterations.
    """
    trace = TraceWriter()
    for table in tables:
        owners = table.owners
        process = trace.add_process(table.cost.dump.module_name)
        track = trace.add_track("least time", process)
        start = 0.0
        for row in table.rows:
            checkpoint()
            if row.cost is None or row.least is None or row.least.bound is None:
                continue
            owner = owners.get(row.name)
            amounts: Facts = (
                ("bound", row.least.bound.value),
                ("executions", row.cost.executions),
                ("flops", row.cost.total.flops),
                ("memory_bytes", row.cost.memory_bytes * row.cost.executions),
            )
            facts = () if owner is None else _arguments(owner)
            trace.begin_slice(round(start), track, row.name, (*amounts, *facts))
            start += row.least.ps / _PICOSECONDS_PER_NANOSECOND
            trace.end_slice(round(start), track)
    return trace.serialized()
