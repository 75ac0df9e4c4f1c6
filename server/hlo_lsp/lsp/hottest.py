"""The request ``hlo/hottest``, and the command that loads a profile."""

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from hlo_lsp.ide.hover.stats import describe_hot, describe_run
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.commands import answer_with_times
from hlo_lsp.lsp.custom_requests import CompilePlace
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.profiles.measured import ProgramTime
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.profile_report import program_headline
from hlo_lsp.stats.instruction_table import InstructionGroup, InstructionRow, InstructionTable
from hlo_lsp.stats.measured_programs import measured_program
from hlo_lsp.text.amounts import format_time
from hlo_lsp.text.inert import printable, printable_json

_MAX_INSTRUCTIONS = 50
_MAX_LINES = 50
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
    answer = await answer_with_times(session, params.uri, params.line or 0, _hottest)
    if answer is None:
        raise RequestFailedError(_NO_TIMES)
    return answer


def _hottest(context: RequestContext) -> Json | None:
    table = context.session.times.compute(context.dump)
    if not table.timed:
        return None
    lines: list[Json] = []
    for group in _timed_groups(table, InstructionKey.LINE):
        if group.source is not None and len(lines) < _MAX_LINES:
            uri = context.sources.uri(group.source)
            place = {"line": group.source.line - 1, "character": 0}
            entry = {**_group_entry(context, table, group), "name": group.source.short}
            if uri is not None:
                entry["location"] = {"uri": uri, "range": {"start": place, "end": place}}
            lines.append(entry)
    hot = table.timed[:_MAX_INSTRUCTIONS]
    phases = _timed_groups(table, InstructionKey.PHASE)
    answer: Json = printable_json(
        {
            "title": f"{context.dump.module_name} · {describe_run(table)}",
            "instructions": [_entry(context, table, row) for row in hot],
            "lines": lines,
            "phases": [
                *(_group_entry(context, table, group) for group in phases),
                *_exposed_communication(table),
            ],
        }
    )
    return answer


def _timed_groups(table: InstructionTable, key: InstructionKey) -> Iterator[InstructionGroup]:
    return (group for group in table.groups(key) if group.is_timed)


def _exposed_communication(table: InstructionTable) -> Iterator[Json]:
    """Yield an entry for the measured time of exposed communication, if there is any."""
    measured = table.measured
    if measured is None or not measured.exposed_ps:
        return
    time = format_time(measured.exposed_ps / table.executions)
    share = measured.exposed_ps / max(1, measured.duration_ps)
    yield {
        "name": "exposed communication",
        "text": f"{time}, {share:.0%} of a run",
        "location": None,
    }


def _group_entry(context: RequestContext, table: InstructionTable, group: InstructionGroup) -> Json:
    """Return the entry of a group, which leads to the instruction with most of its time."""
    location = _location(context, group.rows[0].name)
    return {"name": group.name, "text": describe_hot(table, group), "location": location}


def _entry(context: RequestContext, table: InstructionTable, row: InstructionRow) -> Json:
    parts = [describe_hot(table, row)]
    owner = table.owners.get(row.name)
    if owner is not None:
        parts += [owner.opcode, *([] if owner.source is None else [owner.source.short])]
    location = _location(context, row.name)
    return {"name": row.name, "text": " · ".join(parts), "location": location}


def _location(context: RequestContext, name: str) -> Json | None:
    line = context.dump.instruction(name)
    return None if line is None else context.client.locations([line.name_place])[0]


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
    opened: list[ProgramTime] = []
    unmatched: list[str] = []

    def match(context: RequestContext) -> None:
        program = measured_program(context.dump, (profile,))
        if program is None:
            unmatched.append(context.dump.module_name)
        else:
            opened.append(program)

    if document is not None:
        await session.answer_at(types.TextDocumentIdentifier(document), None, None, match)
    programs = list(dict.fromkeys([*opened, *profile.programs]))
    lines = [*profile.damages, *map(program_headline, programs[:_MAX_PROGRAMS])]
    if len(programs) > _MAX_PROGRAMS:
        lines.append(f"and {len(programs) - _MAX_PROGRAMS:,} more modules")
    lines += [f"no run of the open dump of {name}" for name in unmatched]
    return "\n".join(map(printable, lines))
