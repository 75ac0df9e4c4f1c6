"""Reports on profiles: where the measured time of programs goes, as JSON and as text."""

from collections.abc import Iterator
from dataclasses import asdict

from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.display.table import Content, Table
from hlo_lsp.profiles.events import ProfileRun
from hlo_lsp.profiles.measured import ProgramTime
from hlo_lsp.program.data_origin import NO_LINE
from hlo_lsp.program.instruction_owners import InstructionFacts, InstructionKey
from hlo_lsp.stats.instruction_table import (
    AchievedRates,
    InstructionGroup,
    InstructionRow,
    InstructionTable,
    merged,
)
from hlo_lsp.stats.measured_programs import JoinedProfile, JoinedProgram
from hlo_lsp.text.amounts import format_flops, format_short_bytes, format_time
from hlo_lsp.text.inert import Json
from hlo_lsp.text.remote import shown

_MIN_SHARE = 0.01  # of the time of all modules; modules below it are summed up
_MAX_NAMES = 3
_RUN_KEYS = (
    *("device", "start_ps", "duration_ps", "busy_ps", "idle_ps"),
    *("communication_ps", "exposed_ps"),
)


def profile_json(profile: JoinedProfile, key: InstructionKey, chip: str | None = None) -> Json:
    """Return a profile as JSON; see docs/json_schema.md.

    Args:
        profile: The profile.
        key: What the instructions of a group have in common.
        chip: The name of the chip, by default that of the dumps.
    """
    return {
        "modules": [_program_json(program, key, chip) for program in profile.programs],
        "unnamed": [
            {"name": name, "events": time.events, "total_ps": time.total_ps}
            for name, time in profile.unnamed.items()
        ],
        "notes": list(profile.notes),
        "run": run_json(profile.run),
    }


def run_json(run: ProfileRun | None) -> Json | None:
    """Return what was read of a profile as JSON; see docs/json_schema.md."""
    return None if run is None else {"path": shown(run.path), "other_runs": run.others}


def run_lines(run: ProfileRun | None, title: str = "read:") -> Iterator[str]:
    """Yield which run was read of a folder with several."""
    if run is not None and run.others:
        yield f"{title} {shown(run.path)}, the newest of {run.others + 1:,} runs"


def _program_json(program: JoinedProgram, key: InstructionKey, chip: str | None) -> Json:
    time = program.time
    table = joined_table(program, chip)
    owners = table.owners
    durations = [run.duration_ps for run in time.executions]
    return {
        "name": time.program.name,
        "program_id": time.program.id,
        "has_text": program.dump is not None,
        "other_dumps": [dump.files[0].label for dump in program.other_dumps],
        "foreign_dump": None if program.refused is None else program.refused.dump.files[0].label,
        "runs": time.runs,
        "devices": time.devices,
        "median_ps": time.median_ps,
        "mean_ps": round(time.duration_ps / len(time.executions)),
        "min_ps": min(durations),
        "max_ps": max(durations),
        "busy_ps": time.busy_ps,
        "idle_ps": time.idle_ps,
        "own_ps": time.own_ps,
        "has_warm_up": time.has_warm_up,
        "executions": [{key: getattr(run, key) for key in _RUN_KEYS} for run in time.executions],
        "chip": table.chip and table.chip.name,
        "groups": [_group_json(group, table) for group in table.groups(key)],
        "instructions": [
            _instruction_json(row, owners.get(row.name), table) for row in table.timed
        ],
    }


def joined_table(program: JoinedProgram, chip: str | None) -> InstructionTable:
    """Return the instructions of a program with their measured times; ``chip`` is for rooflines."""
    dump = program.dump
    cost = None if dump is None else program_cost(dump, configured_chip(dump, chip))
    return program.table(cost)


def _group_json(group: InstructionGroup, table: InstructionTable) -> Json:
    return {
        "name": group.name,
        "occurrences": sum(time.occurrences for time in group.times),
        "total_ps": sum(time.total_ps for time in group.times),
        "own_ps": group.own_ps,
        **_rates_json(table.achieved(group.rows)),
        "instructions": [row.name for row in group.rows],
    }


def _rates_json(rates: AchievedRates | None) -> Json:
    return dict.fromkeys(AchievedRates._fields) if rates is None else rates._asdict()


def _instruction_json(
    row: InstructionRow, owner: InstructionFacts | None, table: InstructionTable
) -> Json:
    time = row.measured
    source = owner and owner.source
    return {
        **({} if time is None else asdict(time)),
        "opcode": owner and owner.opcode,
        "source": source and str(source),
        "scope": owner and owner.scope,
        "phase": owner and owner.phase,
        "communicates": owner and owner.communicates,
        **_rates_json(table.achieved([row])),
    }


def profile_blocks(
    profile: JoinedProfile, key: InstructionKey, count: int, chip: str | None = None
) -> Iterator[Content]:
    """Yield the text and table of each module, most time first, and of what belongs to none.

    Args:
        profile: The profile.
        key: What the instructions of a row have in common.
        count: The maximum number of rows of a module.
        chip: The name of the chip, by default that of the dumps.
    """
    durations = [program.time.duration_ps for program in profile.programs]
    large = sum(duration >= _MIN_SHARE * sum(durations) for duration in durations)
    if head := list(run_lines(profile.run)):
        yield head
    for program in profile.programs[:large]:
        yield _program_content(program, key, count, chip)
    rest = []
    if small := durations[large:]:
        time = format_time(sum(small))
        rest.append(f"{count_noun(len(small), 'module')} below 1% of the time: {time}")
    if profile.unnamed:
        unnamed = sorted(profile.unnamed.items(), key=lambda item: -item[1].total_ps)
        names = [name for name, _ in unnamed]
        time = format_time(sum(one.total_ps for _, one in unnamed))
        events = count_noun(sum(one.events for _, one in unnamed), "event")
        listed = join_limited(names, _MAX_NAMES)
        rest.append(f"without an instruction: {events}, {time}: {listed}")
    rest += profile.notes
    if rest:
        yield rest


def _program_content(
    program: JoinedProgram, key: InstructionKey, count: int, chip: str | None
) -> Content:
    yield from profile_facts(program.time)
    yield from _ambiguity(program)
    yield time_table(program, key, count, chip)
    yield from _unjoined(program)


def _ambiguity(program: JoinedProgram) -> Iterator[str]:
    if program.refused is not None:
        share = program.refused.share
        yield (
            f"{program.refused.dump.files[0].label} is of another compile: instructions with the"
            f" same names and shapes have {share:.0%} of the time, so it is not used"
        )
    if program.dump is not None and program.equal_dumps:
        others = [dump.files[0].label for dump in program.equal_dumps]
        yield (
            f"ambiguous: the text is {program.dump.files[0].label}, but as many instructions are"
            f" in {join_limited(others, _MAX_NAMES)}; name only one of them"
        )


def profile_facts(time: ProgramTime) -> Iterator[str]:
    """Yield the lines on all runs of a program, the first one with the name of the module.

    The median is that of the runs. All other times are means, so that they add up.
    """
    yield program_headline(time)
    yield _shares(time)
    yield _own_times(time)
    if time.has_warm_up:
        yield "The first run takes more than 1.5 times the median of the others: a warm-up?"


def time_table(program: JoinedProgram, key: InstructionKey, count: int, chip: str | None) -> Table:
    """Return the table of the largest groups, on average over the executions.

    The last row sums up the other groups, so that the rows add up to the own times of a run.
    """
    table = joined_table(program, chip)
    has_rates = table.achieved(table.timed) is not None
    rates = [">FLOP/s", ">memory/s", *([">roofline"] if table.chip else [])] if has_rates else []
    groups = table.groups(key)
    shown, rest = groups[:count], groups[count:]
    if rest:
        shown.append(merged(rest, f"in {len(rest):,} more"))
    rows = [
        [
            format_time(group.run_ps),
            f"{table.share(group):.1%}",
            f"{sum(time.occurrences for time in group.times) / table.executions:,.4g}",
            *_rates(table.achieved(group.rows))[: len(rates)],
            _label(group),
        ]
        for group in shown
    ]
    return Table((">own time", ">share", ">occurrences", *rates, key.title), rows)


def _rates(rates: AchievedRates | None) -> list[str]:
    """Return the achieved FLOP/s and bytes/s, and the share of the roofline."""
    if rates is None:
        return ["", "", ""]
    share = rates.roofline_share
    return [
        format_flops(round(rates.flops_per_second)).removesuffix("FLOP").rstrip(),
        format_short_bytes(round(rates.bytes_per_second)),
        "" if share is None else f"{share:.1%}",
    ]


def program_headline(time: ProgramTime) -> str:
    """Return ``jit_step · 3 runs on CPU 0 · median 392 µs (375 µs to 423 µs)``."""
    devices = time.devices
    where = f" on {devices[0]}" if len(devices) == 1 else f" on {len(devices):,} devices"
    name = time.program.name or "unknown module"
    durations = [run.duration_ps for run in time.executions]
    text = f"{name} · {count_noun(time.runs, 'run')}{where} · median {format_time(time.median_ps)}"
    if len(durations) > 1:
        text += f" ({format_time(min(durations))} to {format_time(max(durations))})"
    return text


def _shares(time: ProgramTime) -> str:
    """Return busy, idle, and exposed time, on average over the executions."""
    runs, total = len(time.executions), max(1, time.duration_ps)

    def part(picoseconds: int) -> str:
        return f"{format_time(picoseconds / runs)} ({picoseconds / total:.1%})"

    communication = sum(run.communication_ps for run in time.executions)
    exposed = time.exposed_ps
    if not communication:
        communicating = "no communication"
    elif communication == exposed:
        communicating = f"exposed communication {part(exposed)}"
    else:
        communicating = f"communication {part(communication)}, exposed {part(exposed)}"
    where = " and device" if len(time.devices) > 1 else ""
    return (
        f"mean per run{where}: {format_time(time.duration_ps / runs)} = busy {part(time.busy_ps)}"
        f" + idle {part(time.idle_ps)} · {communicating}"
    )


def _own_times(time: ProgramTime) -> str:
    """Return the sum of the own times, of which the shares of instructions are, and busy time.

    On several threads or streams, instructions run at the same time, which is busy once.
    """
    runs = len(time.executions)
    own = format_time(time.own_ps / runs)
    parallel = time.own_ps - time.busy_ps
    made_of = "" if parallel < 0 else " = busy"  # less only if events of one thread overlap
    if parallel > 0:
        made_of += f" {format_time(time.busy_ps / runs)} + parallel {format_time(parallel / runs)}"
    return f"own times: {own}{made_of}; shares are of this sum"


def _label(group: InstructionGroup) -> str:
    """Return the name of a group; of a Python line without folders."""
    if group.source is not None:
        return group.source.short
    if group.name == NO_LINE:
        return f"{NO_LINE} ({group.rows[0].name})"
    return group.name


def _unjoined(program: JoinedProgram) -> Iterator[str]:
    """Yield what the instructions that no module text has take."""
    table = program.table()
    owners = table.owners
    missing = [row for row in table.timed if row.name not in owners]
    if not missing:
        return
    time = format_time(sum(row.run_ps for row in missing))
    if program.dump is None:
        yield (
            f"no text of this module, so no Python lines: {time}, and communication only by the"
            " names of instructions; name its dump after the profile"
        )
        return
    names = join_limited([row.name for row in missing], _MAX_NAMES)
    count = count_noun(len(missing), "instruction")
    end = "" if program.is_profiled else "; is this the dump of another compile?"
    yield f"not in the module text: {count}, {time}: {names}{end}"
