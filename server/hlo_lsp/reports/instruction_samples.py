"""The cost and the measured time of instructions for profilers: samples, and slices of traces."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import least_time
from hlo_lsp.model.compile import Compile
from hlo_lsp.profiles.events import InstructionEvent, Profile
from hlo_lsp.profiles.joined import JoinedProfile, JoinedProgram
from hlo_lsp.program.instruction_owners import (
    FusedOwners,
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)
from hlo_lsp.reports.profiles import Frame, SampleType, StackSample, frames_of
from hlo_lsp.reports.trace_writer import Facts, TraceWriter
from hlo_lsp.syntax.module_records import InstructionLine

LEAST_TIME = SampleType("least_time", "nanoseconds")
FLOPS = SampleType("flops", "count")
MEMORY_BYTES = SampleType("memory_bytes", "bytes")
TIME = SampleType("time", "nanoseconds")
OCCURRENCES = SampleType("occurrences", "count")
TIME_TYPES = (TIME, OCCURRENCES)
_NANOSECONDS, _PICOSECONDS_PER_NANOSECOND = 10**9, 1000


def cost_types(programs: Iterable[ProgramCost]) -> tuple[SampleType, ...]:
    """Return the sample types of costs, the default first."""
    has_times = any(program.chip is not None for program in programs)
    types = (FLOPS, MEMORY_BYTES)
    return (LEAST_TIME, *types) if has_times else types


def cost_samples(program: ProgramCost) -> Iterator[StackSample]:
    """Yield the cost of each instruction in one run, with FLOPs of others in fusions apart."""
    dump, rows = program.dump, program.executed.instructions
    facts = instruction_facts(dump, (one.instruction.name for one in rows))
    module, owners = dump.module_name, FusedOwners(dump)
    for one in rows:
        name = one.instruction.name
        own, *others = program.parts(one, facts.get(name), owners)
        values = {FLOPS: own.cost.flops, MEMORY_BYTES: one.memory_bytes * one.executions}
        if program.chip is not None:
            time = round(least_time(one, program.chip).seconds * _NANOSECONDS)
            values = {LEAST_TIME: time, **values}
        nothing = dict.fromkeys(values, 0)
        for part, amounts in (
            (own, values),
            *((other, nothing | {FLOPS: other.cost.flops}) for other in others),
        ):
            if any(amounts.values()):
                frames = _frames(dump, name, part.facts, part.instruction)
                yield _sample(module, name, part.facts, frames, amounts)


def time_samples(profile: JoinedProfile) -> Iterator[StackSample]:
    """Yield the own time of each instruction in all runs on all devices."""
    for program in profile.programs:
        facts = _known_facts(program)
        for one in program.instructions:
            own = round(one.time.own_ps / _PICOSECONDS_PER_NANOSECOND)
            values = {TIME: own, OCCURRENCES: one.time.occurrences}
            dump, name = program.dump, one.time.name
            line = None if dump is None else dump.instruction(name)
            frames = _frames(dump, name, facts.get(name), None if line is None else line.record)
            yield _sample(program.time.program.name, name, facts.get(name), frames, values)


def _known_facts(program: JoinedProgram) -> dict[str, InstructionFacts]:
    rows = program.instructions
    return {one.time.name: one.facts for one in rows if one.facts is not None}


def _sample(
    module: str,
    name: str,
    known: InstructionFacts | None,
    frames: tuple[Frame, ...],
    values: dict[SampleType, int],
) -> StackSample:
    checkpoint()
    labels = {"module": module, "instruction": name}
    if known is not None:
        labels |= {"opcode": known.opcode, "phase": known.phase}
        if known.op_name:
            labels["op_name"] = known.op_name
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
    stack = [] if instruction is None else dump.stack(instruction.parsed)
    # The line can be that of another instruction, such as that which produced the data.
    return frames_of(stack if facts.source in stack else [facts.source])


def time_trace(profile: Profile, joined: JoinedProfile) -> bytes:
    """Return a Perfetto trace of the measured events, with what the modules say about them."""
    trace = TraceWriter()
    processes: dict[str, int] = {}
    for program in joined.programs:
        facts = {name: _arguments(known) for name, known in _known_facts(program).items()}
        for device, found in profile.programs[program.time.program].items():
            if device not in processes:
                processes[device] = trace.add_process(device)
            lines: dict[tuple[int, bool], list[InstructionEvent]] = {}
            for event in found.events:
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


def _arguments(facts: InstructionFacts) -> Facts:
    found = {
        "source": "" if facts.source is None else str(facts.source),
        "op_name": facts.op_name,
        "opcode": facts.opcode,
        "phase": facts.phase,
    }
    return tuple((name, text) for name, text in found.items() if text)


def cost_trace(programs: Iterable[ProgramCost]) -> bytes:
    """Return a Perfetto trace of the least times: all instructions, one after the other.

    An instruction of a loop is one slice, with the time of all iterations.
    """
    trace = TraceWriter()
    for program in programs:
        rows = program.executed.instructions
        facts = instruction_facts(program.dump, (one.instruction.name for one in rows))
        process = trace.add_process(program.dump.module_name)
        track = trace.add_track("least time", process)
        start = 0.0
        for one in rows if program.chip is not None else ():
            checkpoint()
            assert program.chip is not None
            least, name = least_time(one, program.chip), one.instruction.name
            if least.bound is None:
                continue
            known = () if name not in facts else _arguments(facts[name])
            amounts: Facts = (
                ("bound", least.bound.value),
                ("executions", one.executions),
                ("flops", one.total.flops),
                ("memory_bytes", one.memory_bytes * one.executions),
            )
            trace.begin_slice(round(start), track, name, (*amounts, *known))
            start += least.seconds * _NANOSECONDS
            trace.end_slice(round(start), track)
    return trace.serialized()
