"""The comparison of two profiles: which groups of instructions became slower or faster."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hlo_lsp.memory.instruction_facts import InstructionKey
from hlo_lsp.model.display import format_signed, format_time
from hlo_lsp.model.source import file_name
from hlo_lsp.profiles.joined import JoinedProfile, JoinedProgram, grouped

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TimeChange:
    """The own time of a group in one run on one device, on average, in picoseconds."""

    name: str
    before_ps: int
    after_ps: int

    @property
    def change_ps(self) -> int:
        """By how much the time grew; negative if it shrank."""
        return self.after_ps - self.before_ps


@dataclass(frozen=True, slots=True)
class ModuleTimeChange:
    """The time of a module in two profiles; 0 if it did not run.

    Attributes:
        name: The name of the module.
        median: The median duration of an execution.
        idle: The average idle time of an execution.
        exposed: The average time of communication during which nothing else ran.
        groups: The changed groups of instructions, the largest change first.
    """

    name: str
    median: TimeChange
    idle: TimeChange
    exposed: TimeChange
    groups: tuple[TimeChange, ...]


def compare_profiles(
    before: JoinedProfile, after: JoinedProfile, key: InstructionKey
) -> list[ModuleTimeChange]:
    """Return the changes of all modules, that with the largest change of its median first.

    Modules correspond if they have the same name; of several with one name, those with most time.
    """
    first, second = _by_name(before), _by_name(after)
    names = list(dict.fromkeys([*second, *first]))
    found = [_module_change(name, first.get(name), second.get(name), key) for name in names]
    return sorted(found, key=lambda one: (-abs(one.median.change_ps), one.name))


def _by_name(profile: JoinedProfile) -> dict[str, JoinedProgram]:
    # The programs are in order of their time, so that the first one of a name stays.
    return {one.time.program.name: one for one in reversed(profile.programs)}


def _module_change(
    name: str, before: JoinedProgram | None, after: JoinedProgram | None, key: InstructionKey
) -> ModuleTimeChange:
    groups = [_group_times(one, key) for one in (before, after)]
    changes = [
        TimeChange(group, groups[0].get(group, 0), groups[1].get(group, 0))
        for group in {**groups[0], **groups[1]}
    ]
    changed = [one for one in changes if one.change_ps]
    facts = zip(_facts(before), _facts(after), strict=True)
    titles = ("median", "idle", "exposed communication")
    median, idle, exposed = (
        TimeChange(title, *pair) for title, pair in zip(titles, facts, strict=True)
    )
    ordered = sorted(changed, key=lambda one: (-abs(one.change_ps), one.name))
    return ModuleTimeChange(name, median, idle, exposed, tuple(ordered))


def _group_times(program: JoinedProgram | None, key: InstructionKey) -> dict[str, int]:
    if program is None:
        return {}
    runs = len(program.time.executions)
    return {group.name: round(group.own_ps / runs) for group in grouped(program, key)}


def _facts(program: JoinedProgram | None) -> tuple[int, int, int]:
    if program is None:
        return 0, 0, 0
    executions = program.time.executions
    idle = sum(one.idle_ps for one in executions) / len(executions)
    exposed = program.time.exposed_ps / len(executions)
    return program.time.median_ps, round(idle), round(exposed)


def comparison_json(modules: list[ModuleTimeChange]) -> Json:
    """Return a comparison as JSON; see docs/json_schema.md."""
    return {
        "modules": [
            {
                "name": one.name,
                "median": _change_json(one.median),
                "idle": _change_json(one.idle),
                "exposed": _change_json(one.exposed),
                "groups": [{"name": each.name, **_change_json(each)} for each in one.groups],
            }
            for one in modules
        ]
    }


def _change_json(change: TimeChange) -> Json:
    return {"before_ps": change.before_ps, "after_ps": change.after_ps}


def comparison_blocks(
    modules: list[ModuleTimeChange], key: InstructionKey, count: int
) -> Iterator[list[str]]:
    """Yield the text of each module; ``count`` is the maximum number of its rows."""
    for module in modules:
        facts = [_text(module.median)]
        facts += [_text(one) for one in (module.idle, module.exposed) if one.change_ps]
        lines = [f"{module.name or 'unknown module'} · {' · '.join(facts)}"]
        rows = [
            (
                format_signed(one.change_ps, format_time),
                format_time(one.before_ps),
                format_time(one.after_ps),
                _label(one, key),
            )
            for one in module.groups[:count]
        ]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines += [
            f"  {row[0]:>{widths[0]}}  {row[1]:>{widths[1]}} → {row[2]:>{widths[2]}}  {row[3]}"
            for row in rows
        ]
        rest = module.groups[count:]
        if rest:
            change = format_signed(sum(one.change_ps for one in rest), format_time)
            lines.append(f"  {change:>{widths[0]}}  in {len(rest):,} more")
        yield lines


def _label(change: TimeChange, key: InstructionKey) -> str:
    """Return the name of a group; of a Python line without folders."""
    return file_name(change.name) if key is InstructionKey.LINE else change.name


def _text(change: TimeChange) -> str:
    share = f", {change.change_ps / change.before_ps:+.1%}" if change.before_ps else ""
    signed = format_signed(change.change_ps, format_time)
    times = f"{format_time(change.before_ps)} → {format_time(change.after_ps)}"
    return f"{change.name} {times} ({signed}{share})"
