"""The comparison of two profiles: which groups of instructions became slower or faster."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hlo_lsp.display.phrases import capitalized, count_noun, unbroken
from hlo_lsp.display.table import aligned_rows
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.events import ProfileRun
from hlo_lsp.profiles.joined import JoinedProfile, JoinedProgram, TimeGroup, grouped
from hlo_lsp.program.instruction_matching import computation_names, instruction_names
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.measured_time import run_json
from hlo_lsp.reports.moved_lines import moved_lines
from hlo_lsp.reports.paired_groups import line_label, paired_groups
from hlo_lsp.text.amounts import format_signed, format_time
from hlo_lsp.text.inert import markdown_code, markdown_link, markdown_row, markdown_text

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TimeChange:
    """The own time of a group in one run on one device, on average, in picoseconds.

    ``source`` is the Python line if the name is one.
    """

    name: str
    before_ps: int
    after_ps: int
    source: SourceLine | None = None

    @property
    def label(self) -> str:
        """The name, that of a Python line without folders."""
        return self.name if self.source is None else line_label(self.name)

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
    first_groups, second_groups = (
        [] if one is None else grouped(one, key) for one in (before, after)
    )
    changed = []
    names = _names(before, after, key)
    for group, *pair in paired_groups(first_groups, second_groups, names):
        first, second = map(_average_ps, (before, after), pair)
        source = next((one.source for one in reversed(pair) if one is not None), None)
        change = TimeChange(group, first, second, source)
        if change.change_ps:
            changed.append(change)
    facts = zip(_facts(before), _facts(after), strict=True)
    titles = ("median", "mean idle", "mean exposed communication")
    median, idle, exposed = (
        TimeChange(title, *pair) for title, pair in zip(titles, facts, strict=True)
    )
    ordered = sorted(changed, key=lambda one: (-abs(one.change_ps), one.name))
    return ModuleTimeChange(name, median, idle, exposed, tuple(ordered))


def _names(
    before: JoinedProgram | None, after: JoinedProgram | None, key: InstructionKey
) -> dict[str, str | None]:
    """Return the names of groups before with those after, None for a group that is gone."""
    dump, other = (None if one is None else one.dump for one in (before, after))
    if key is InstructionKey.LINE:
        return moved_lines(dump, other)
    first, second = (None if one is None else one.module_file for one in (dump, other))
    if first is None or second is None:
        return {}
    if key is InstructionKey.INSTRUCTION:
        return instruction_names(first.module, second.module)
    if key is InstructionKey.COMPUTATION:
        return computation_names(first.module, second.module)
    return {}


def _average_ps(program: JoinedProgram | None, group: TimeGroup | None) -> int:
    if program is None or group is None:
        return 0
    return round(group.own_ps / len(program.time.executions))


def _facts(program: JoinedProgram | None) -> tuple[int, int, int]:
    if program is None:
        return 0, 0, 0
    executions = program.time.executions
    idle = sum(one.idle_ps for one in executions) / len(executions)
    exposed = program.time.exposed_ps / len(executions)
    return program.time.median_ps, round(idle), round(exposed)


def comparison_json(
    modules: list[ModuleTimeChange],
    before: ProfileRun | None = None,
    after: ProfileRun | None = None,
) -> Json:
    """Return a comparison of two runs as JSON; see docs/json_schema.md."""
    return {
        "before": run_json(before),
        "after": run_json(after),
        "modules": [
            {
                "name": one.name,
                "median": _change_json(one.median),
                "idle": _change_json(one.idle),
                "exposed": _change_json(one.exposed),
                "groups": [{"name": each.name, **_change_json(each)} for each in one.groups],
            }
            for one in modules
        ],
    }


def _change_json(change: TimeChange) -> Json:
    return {"before_ps": change.before_ps, "after_ps": change.after_ps}


def comparison_blocks(modules: list[ModuleTimeChange], count: int) -> Iterator[list[str]]:
    """Yield the text of each module; ``count`` is the maximum number of its rows."""
    for module in modules:
        lines = [f"{module.name or 'unknown module'} · {' · '.join(_facts_of(module))}"]
        rest = module.groups[count:]
        rows = [(*_times(one), one.label) for one in module.groups[:count]]
        if rest:
            before, after = (sum(side) for side in zip(*map(_sides, rest), strict=True))
            rows.append((*_times(TimeChange("", before, after)), f"in {len(rest):,} more"))
        if rows:
            titles = ("change", "before", "→", "after", "mean own time per run")
            lines += aligned_rows([titles, *((*row[:2], "→", *row[2:]) for row in rows)])
        yield lines


_PAGE_KEYS = {InstructionKey.LINE: "Python line", InstructionKey.INSTRUCTION: "Instruction"}
_MIN_SHARE = 0.01  # of the largest median of all modules; modules below it are counted


def profile_comparison_markdown(
    before: JoinedProfile,
    after: JoinedProfile,
    count: int,
    link: Callable[[SourceLine], str | None],
) -> Iterator[str]:
    """Yield what changed between two profiles as Markdown.

    Args:
        before: A profile.
        after: Another one.
        count: The maximum number of rows of a table.
        link: Returns the URI of a Python line, None without one.
    """
    by_key = {key: compare_profiles(before, after, key) for key in _PAGE_KEYS}
    modules = by_key[InstructionKey.LINE]
    longest = max((_longest_ps(one) for one in modules), default=0)
    small = 0
    for number, module in enumerate(modules):
        if _longest_ps(module) < _MIN_SHARE * longest:
            small += 1
            continue
        name = markdown_code(module.name) if module.name else "Unknown module"
        yield from ("", f"## {name}", "")
        yield from (f"- {markdown_text(capitalized(fact))}" for fact in _facts_of(module))
        yield from _tables({key: by_key[key][number].groups for key in _PAGE_KEYS}, count, link)
    if small:
        yield from ("", f"{count_noun(small, 'module')} below 1% of the longest one.")


def _tables(
    groups: Mapping[InstructionKey, tuple[TimeChange, ...]],
    count: int,
    link: Callable[[SourceLine], str | None],
) -> Iterator[str]:
    for key, changes in groups.items():
        if not changes:
            continue
        yield from ("", f"| {_PAGE_KEYS[key]} | Change | Before | After |", "|---|---:|---:|---:|")
        for one in changes[:count]:
            uri = None if one.source is None else link(one.source)
            yield markdown_row(
                markdown_link(markdown_text(one.label), uri), *map(unbroken, _times(one))
            )
        if len(changes) > count:
            yield from ("", f"{len(changes) - count:,} more.")


def _sides(change: TimeChange) -> tuple[int, int]:
    return change.before_ps, change.after_ps


def _longest_ps(module: ModuleTimeChange) -> int:
    return max(module.median.before_ps, module.median.after_ps)


def _facts_of(module: ModuleTimeChange) -> Iterator[str]:
    if not module.median.before_ps:
        yield "ran only after"
    elif not module.median.after_ps:
        yield "ran only before"
    yield _text(module.median)
    yield from (_text(one) for one in (module.idle, module.exposed) if one.change_ps)


def _times(change: TimeChange) -> tuple[str, str, str]:
    signed = format_signed(change.change_ps, format_time)
    return signed, format_time(change.before_ps), format_time(change.after_ps)


def _text(change: TimeChange) -> str:
    share = f", {change.change_ps / change.before_ps:+.1%}" if change.before_ps else ""
    signed, before, after = _times(change)
    return f"{change.name} {before} → {after} ({signed}{share})"
