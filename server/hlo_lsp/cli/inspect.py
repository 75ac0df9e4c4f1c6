"""``hlo-lsp inspect``: print the hover of a position or name as text or JSON."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from hlo_lsp.cli.dumps import current_folder_frames, near_names
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, CommandError
from hlo_lsp.cli.printing import print_answer, print_card_answer, print_errors
from hlo_lsp.cli.why import explain
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    ComputationTarget,
    CursorTarget,
    InstructionTarget,
    ValueTarget,
    resolve_computation,
    resolve_instruction,
    target_instruction,
    target_value,
)
from hlo_lsp.ide.hover.hover import computation_card, hover_card
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.origin_text import prepare_hovers
from hlo_lsp.ide.hover.stats import (
    computation_time_facts,
    instruction_time_facts,
    timed_computation,
    timed_instruction,
)
from hlo_lsp.ide.hover.values import value_card
from hlo_lsp.ide.inspection import (
    allocation_json,
    computation_json,
    computation_time_json,
    dump_json,
    instruction_json,
    instruction_time_json,
    module_json,
    stdout_dump_json,
    value_json,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.protos.reading import damage_in
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost
from hlo_lsp.reports.summary_text import summary_lines, summary_markdown
from hlo_lsp.stats.instruction_table import NO_INSTRUCTIONS, InstructionTable
from hlo_lsp.stats.measured_programs import (
    ProfileTimes,
    TimeSources,
    profile_beside,
    program_table,
    read_profile_times,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import Json, json_text
from hlo_lsp.text.remote import shown

_Dumps = Iterator[tuple[Compile, DumpFile]]
_Target = tuple[Card, Json]
_TimeOf = tuple[
    Callable[[InstructionTable, str], list[Fact]], Callable[[InstructionTable, str], Json]
]
_INSTRUCTION_TIME: _TimeOf = instruction_time_facts, instruction_time_json
_COMPUTATION_TIME: _TimeOf = computation_time_facts, computation_time_json
_POSITION = re.compile(r"([1-9]\d{0,17})(?::([1-9]\d{0,17}))?", re.ASCII)


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    path = options.path
    others = options.at, options.value, options.instruction, options.computation
    if options.name is not None and any(one is not None for one in others):
        raise CommandError("NAME excludes --at, --value, --instruction, and --computation")
    if options.name is not None and ":" in options.name and _POSITION.fullmatch(options.name):
        options.at = options.name
    elif options.name is not None:
        return explain(options, partial(_named, options))
    if path.is_dir():
        values = f"hlo-lsp summary --values {shown(path)}"
        what = "this is a folder; specify a name, or one of its files"
        raise CommandError(f"{shown(path)}: {what}; `{values}` lists the largest values")
    workspace = DumpWorkspace(frames=current_folder_frames())
    file = workspace.file(path)
    if not file.kind.is_dump:
        is_empty = not any(file.lines)
        what = "the file is empty" if is_empty else "not an HLO module or XLA memory dump"
        raise CommandError(f"{shown(path)}: {what}")
    damage = damage_in(path, file.lines)
    print_errors([] if damage is None else [damage])
    parts = (part for part in workspace.parts(file) if part.kind.has_records)
    dumps = ((_compile_of(workspace, part, options), part) for part in parts)
    target = _target(workspace, file, dumps, options)
    if target is None and options.format != "json":
        selected = SummaryOptions()
        wholes = dict.fromkeys(dump for dump, _ in dumps)
        summaries = [summarize_with_cost(dump, selected) for dump in wholes]
        print_answer(
            options.format,
            (summary_lines(summary, selected.count) for summary in summaries),
            lambda: _file(file, dumps),
            lambda: chain.from_iterable(
                summary_markdown(summary, selected.count) for summary in summaries
            ),
        )
    elif target is None:
        print(json_text(_file(file, dumps)))
    elif options.format == "json":
        print(json_text(target[1], indent=2 if sys.stdout.isatty() else None))
    else:
        print_card_answer(options.format, target[0])
    return 0


def _target(
    workspace: DumpWorkspace, file: DumpFile, dumps: _Dumps, options: argparse.Namespace
) -> _Target | None:
    """Return what the options name, None for the whole file."""
    if options.at is not None:
        return _at_position(workspace, file, options)
    if options.value is not None:
        return _value(dumps, options)
    if options.instruction is not None:
        return _instruction(dumps, options)
    return None if options.computation is None else _computation(dumps, options)


def _compile_of(workspace: DumpWorkspace, file: DumpFile, options: argparse.Namespace) -> Compile:
    """Return the compile of a file, prepared for complete cards."""
    dump = workspace.compile_of(file)
    if options.format != "json":
        prepare_hovers(dump)
    return dump


def _file(file: DumpFile, dumps: _Dumps) -> Json:
    found = [
        (part, (module_json if part.kind is FileKind.MODULE else dump_json)(dump, part))
        for dump, part in dumps
    ]
    sections = [(part, facts) for part, facts in found if isinstance(part, SectionFile)]
    return stdout_dump_json(file, sections) if sections else found[0][1]


def _value(dumps: _Dumps, options: argparse.Namespace) -> _Target:
    ids: list[int] = []
    for dump, _ in dumps:
        value = dump.value(options.value)
        if value is not None:
            found = value_card(dump, value), value_json(dump, value)
            return _add_time(found, dump, value.name, _INSTRUCTION_TIME, options)
        ids += dump.value_ids()
    hint = f"; the ids are {min(ids):,} to {max(ids):,}" if ids else ""
    raise CommandError(f"{shown(options.path)}: no value {options.value}{hint}", NOT_FOUND_STATUS)


def _instruction(dumps: _Dumps, options: argparse.Namespace) -> _Target:
    """Return an instruction, preferably from a compile that has a value of it.

    In compiler output, the text before optimization comes first and has no values.
    """
    name = options.instruction.removeprefix("%")
    chosen: tuple[Compile, Json] | None = None
    is_computation = False
    seen: list[Compile] = []
    for dump, _ in dumps:
        seen.append(dump)
        facts = instruction_json(dump, name)
        if facts is not None and (chosen is None or facts["values"]):
            chosen = dump, facts
            if facts["values"]:
                break
        is_computation |= dump.computation(name) is not None
    card = None if chosen is None else instruction_card(chosen[0], name)
    if chosen is not None and card is not None:
        return _add_time((card, chosen[1]), chosen[0], name, _INSTRUCTION_TIME, options)
    hint = f"; it is a computation: use --computation {name}" if is_computation else ""
    hint = hint or near_names(
        name, (known for dump in seen for file in dump.files for known in file.module.instructions)
    )
    raise CommandError(f"{shown(options.path)}: no instruction `{name}`{hint}", NOT_FOUND_STATUS)


def _named(options: argparse.Namespace, dump: Compile, name: str) -> _Target | None:
    """Return an instruction, or else a computation."""
    if options.format != "json":
        prepare_hovers(dump)
    card, facts = instruction_card(dump, name), instruction_json(dump, name)
    if card is not None and facts is not None:
        return _add_time((card, facts), dump, name, _INSTRUCTION_TIME, options)
    head = dump.computation(name)
    if head is None:
        return None
    found = computation_card(head), computation_json(head)
    return _add_time(found, dump, name, _COMPUTATION_TIME, options)


def _computation(dumps: _Dumps, options: argparse.Namespace) -> _Target:
    name = options.computation.removeprefix("%")
    for dump, _ in dumps:
        head = dump.computation(name)
        if head is not None:
            found = computation_card(head), computation_json(head)
            timed = name if head.file is dump.module_file else None
            return _add_time(found, dump, timed, _COMPUTATION_TIME, options)
    raise CommandError(f"{shown(options.path)}: no computation `{name}`", NOT_FOUND_STATUS)


def _at_position(workspace: DumpWorkspace, whole: DumpFile, options: argparse.Namespace) -> _Target:
    match = _POSITION.fullmatch(options.at)
    if match is None:
        raise CommandError(f"--at: expected LINE or LINE:COLUMN, got `{options.at}`")
    number = int(match[1])
    if number > len(whole.lines):
        message = f"{shown(options.path)}: the file has only {len(whole.lines)} lines"
        raise CommandError(message, NOT_FOUND_STATUS)
    for file in workspace.parts(whole):
        line = number - 1 - file.first_line
        if not 0 <= line < len(file.lines):
            continue
        dump = _compile_of(workspace, file, options)
        text = file.lines[line]
        column = len(text) - len(text.lstrip()) if match[2] is None else int(match[2]) - 1
        found = cursor_target_at(file, line, column)
        card = None if found is None else hover_card(dump, found)
        if found is not None and card is not None:
            return _with_time(dump, found, card, options)
    message = f"{shown(options.path)}:{options.at}: no information at this position"
    raise CommandError(message, NOT_FOUND_STATUS)


def _with_time(
    dump: Compile, target: CursorTarget, card: Card, options: argparse.Namespace
) -> _Target:
    facts = _target_json(dump, target)
    found = facts or {}
    if isinstance(target.entity, ComputationTarget):
        computation = timed_computation(dump, target)
        card, found = _add_time((card, found), dump, computation, _COMPUTATION_TIME, options)
    elif target_instruction(dump, target.entity) is not None:
        name = timed_instruction(dump, target)
        card, found = _add_time((card, found), dump, name, _INSTRUCTION_TIME, options)
    if facts is not None:
        return card, found
    return card, {
        "kind": "other",
        "title": card.title,
        "facts": {fact.label: fact.text for fact in card.facts},
        "text": card.text or None,
    }


def _add_time(
    found: _Target, dump: Compile, name: str | None, time_of: _TimeOf, options: argparse.Namespace
) -> _Target:
    """Return a card and facts with the cost and the measured time, if any, of what has a name."""
    card, facts = found
    rows, as_json = time_of
    times = NO_INSTRUCTIONS if name is None else _times(dump, options)
    card = replace(card, facts=(*rows(times, name or ""), *card.facts))
    return card, {**facts, **as_json(times, name or "")}


def _times(dump: Compile, options: argparse.Namespace) -> InstructionTable:
    """Return the times that a hover shows, without those of settings and loaded profiles."""
    path = options.profile or profile_beside((dump.files[0].path or options.path).parent)
    profiles: tuple[ProfileTimes, ...] = ()
    if path is not None:
        try:
            profiles = (read_profile_times(path),)
        except UnreadableError as error:
            if options.profile is not None:
                raise
            print_errors([str(error)])
    print_errors(damage for one in profiles for damage in one.damages)
    table = program_table(dump, TimeSources(chip_of(dump, options.chip), profiles))
    if options.profile is not None and table.measured is None:
        print_errors([f"{shown(options.profile)}: no run of this dump"])
    return table


def _target_json(dump: Compile, target: CursorTarget) -> Json | None:
    """Return the facts of what the cursor is on; None for what has no object of its own."""
    entity = target.entity
    facts: Json | None = None
    if isinstance(entity, ValueTarget):
        value = target_value(dump, entity)
        facts = None if value is None else value_json(dump, value)
    elif isinstance(entity, InstructionTarget):
        line = resolve_instruction(dump, target, entity.name)
        facts = instruction_json(dump, entity.name, line)
    elif isinstance(entity, AllocationTarget):
        allocation = dump.allocation(entity.number)
        facts = None if allocation is None else allocation_json(dump, allocation)
    elif isinstance(entity, ComputationTarget):
        head = resolve_computation(dump, target, entity.name)
        facts = None if head is None else computation_json(head)
    return facts
