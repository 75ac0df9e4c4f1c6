"""The request ``hlo/hottest``, and the command that loads a profile."""

from pathlib import Path

from lsprotocol import types

from hlo_lsp.ide.hover.times import describe_hot, describe_run
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.commands import answer_whole_compile, of_dump
from hlo_lsp.lsp.custom_requests import CompilePlace
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.times import path_of
from hlo_lsp.memory.instruction_facts import InstructionKey, group_of, instruction_facts
from hlo_lsp.profiles.time_facts import HotInstruction, TimeFacts, hottest_lines, measured_times
from hlo_lsp.reports.measured_time import program_headline
from hlo_lsp.reports.summary import module_name

_MAX_INSTRUCTIONS = 50
_MAX_LINES = 50
_PHASE = InstructionKey.PHASE
_SECOND_PS = 10**12
_MAX_PROGRAMS = 3  # in a message
_NO_TIMES = (
    "the time of this program is unknown: load a profile of it or, for a TPU or GPU, name its"
    " chip in hlo.chip"
)


async def answer_hottest(session: Session, params: CompilePlace) -> Json:
    """Return the instructions, the Python lines, and the phases of a compile with the most time.

    Raises:
        RequestFailedError: The file is not a dump, or no time is known.
    """
    line = params.line or 0
    context = await session.context(
        types.TextDocumentIdentifier(params.uri), line, whole=True, closed=True
    )
    if context is not None:
        await session.times.wait([path_of(context.dump)])
    answer = of_dump(params.uri, await answer_whole_compile(session, params.uri, line, _hottest))
    if answer is None:
        raise RequestFailedError(_NO_TIMES)
    return answer


def _hottest(context: RequestContext) -> Json | None:
    dump = context.dump
    facts = context.session.times.compute(dump)
    found = facts.hottest(_MAX_INSTRUCTIONS)
    if not found:
        return None
    lines = []
    for line in hottest_lines(dump, facts)[:_MAX_LINES]:
        first = line.instructions[0]
        uri = context.sources.uri(line.source)
        place = {"line": line.source.line - 1, "character": 0}
        location = {"uri": uri, "range": {"start": place, "end": place}}
        entry = _entry(context, first) if uri is None else {"location": location}
        lines.append({**entry, "name": line.source.short, "text": describe_hot(line)})
    return {
        "title": f"{module_name(dump)} · {describe_run(facts)}",
        "instructions": [_entry(context, one) for one in found],
        "lines": lines,
        "phases": _phases(context, facts),
    }


def _phases(context: RequestContext, facts: TimeFacts) -> list[Json]:
    """Return the time of each phase, and the measured time of exposed communication."""
    hot = facts.hottest()
    known = instruction_facts(context.dump, (one.name for one in hot))
    members: dict[str, list[HotInstruction]] = {}
    for one in hot:
        members.setdefault(group_of(one.name, known.get(one.name), _PHASE), []).append(one)
    found = []
    for phase, instructions in members.items():
        total = HotInstruction(
            phase,
            sum(one.seconds for one in instructions),
            sum(one.share for one in instructions),
            instructions[0].is_measured,
        )
        entry = {**_entry(context, instructions[0]), "name": phase, "text": describe_hot(total)}
        found.append((total.seconds, entry))
    entries = [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]
    measured = facts.measured
    if measured is not None and (
        exposed := sum(one.exposed_ps for one in measured.program.executions)
    ):
        seconds = exposed / measured.executions / _SECOND_PS
        share = exposed / max(1, measured.program.duration_ps)
        communication = HotInstruction("exposed communication", seconds, share, is_measured=True)
        text = f"{describe_hot(communication)} of a run"
        entries.append({"name": communication.name, "text": text, "location": None})
    return entries


def _entry(context: RequestContext, one: HotInstruction) -> Json:
    line = context.dump.instruction(one.name)
    text = describe_hot(one)
    if line is None:
        return {"name": one.name, "text": text, "location": None}
    source = context.dump.frames.line_of(context.dump.stack(line.record.parsed))
    parts = [text, line.record.opcode, *([] if source is None else [source.short])]
    (location,) = context.client.locations([line.name_place])
    return {"name": one.name, "text": " · ".join(parts), "location": location}


async def load_profile(session: Session, path: Path | None, document: str | None) -> str:
    """Read a profile, which then precedes others, and return what ran in it.

    Args:
        session: The session.
        path: The file or folder of the profile.
        document: The URI of a dump that its user looks at, None for none.

    Raises:
        RequestFailedError: The profile cannot be read.
    """
    if path is None:
        raise RequestFailedError("a profile must be a file on disk")
    profile = await session.times.profiles.load(path)
    programs = profile.programs
    lines = [*profile.damages, *map(program_headline, programs[:_MAX_PROGRAMS])]
    if len(programs) > _MAX_PROGRAMS:
        lines.append(f"and {len(programs) - _MAX_PROGRAMS:,} more modules")

    def unmatched(context: RequestContext) -> str | None:
        known = measured_times(context.dump, (profile,))
        return module_name(context.dump) if known is None else None

    if document is not None:
        at = types.TextDocumentIdentifier(document)
        names = await session.answer_at(at, None, None, unmatched)
        lines += [f"no run of the open dump of {name}" for name in names if name is not None]
    return "\n".join(lines)
