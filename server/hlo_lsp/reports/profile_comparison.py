"""The comparison of two profiles: which groups of instructions became slower or faster."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.display.table import Content, Link, Table, markdown_table
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.events import ProfileRun
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.profile_report import run_json
from hlo_lsp.stats.changes import Amounts, Change, compare_tables
from hlo_lsp.stats.measured_programs import JoinedProfile, JoinedProgram
from hlo_lsp.text.amounts import format_signed, format_time
from hlo_lsp.text.inert import Json, markdown_code, markdown_text

_FACTS = "median", "mean idle", "mean exposed communication"


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
    median: Change
    idle: Change
    exposed: Change
    groups: tuple[Change, ...]


def compare_profiles(
    before: JoinedProfile, after: JoinedProfile, key: InstructionKey
) -> list[ModuleTimeChange]:
    """Return the changes of all modules, that with the largest change of its median first.

    Modules correspond if they have the same name; of several with one name, those with most time.
    """
    first, second = _by_name(before), _by_name(after)
    names = list(dict.fromkeys([*second, *first]))
    modules = [_module_change(name, first.get(name), second.get(name), key) for name in names]
    return sorted(modules, key=lambda module: (-abs(module.median.delta.measured_ps), module.name))


def _by_name(profile: JoinedProfile) -> dict[str, JoinedProgram]:
    # The programs are in order of their time, so that the first one of a name stays.
    return {program.time.program.name: program for program in reversed(profile.programs)}


def _module_change(
    name: str, before: JoinedProgram | None, after: JoinedProgram | None, key: InstructionKey
) -> ModuleTimeChange:
    first, second = (None if program is None else program.table() for program in (before, after))
    median, idle, exposed = map(_time_change, _FACTS, _facts(before), _facts(after))
    groups = tuple(compare_tables(first, second, key))
    return ModuleTimeChange(name, median, idle, exposed, groups)


def _time_change(name: str, before_ps: int, after_ps: int) -> Change:
    return Change(name, Amounts(measured_ps=before_ps), Amounts(measured_ps=after_ps))


def _facts(program: JoinedProgram | None) -> tuple[int, int, int]:
    if program is None:
        return 0, 0, 0
    time, runs = program.time, len(program.time.executions)
    return time.median_ps, round(time.idle_ps / runs), round(time.exposed_ps / runs)


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
                "name": module.name,
                "median": _change_json(module.median),
                "idle": _change_json(module.idle),
                "exposed": _change_json(module.exposed),
                "groups": [{"name": one.name, **_change_json(one)} for one in module.groups],
            }
            for module in modules
        ],
    }


def _change_json(change: Change) -> Json:
    return {"before_ps": change.before.measured_ps, "after_ps": change.after.measured_ps}


def comparison_blocks(modules: list[ModuleTimeChange], count: int) -> Iterator[Content]:
    """Yield the text and the table of each module; ``count`` is the maximum number of its rows."""
    for module in modules:
        headline = f"{module.name or 'unknown module'} · {' · '.join(_facts_of(module))}"
        rest = module.groups[count:]
        rows = [(*_times(change), change.label) for change in module.groups[:count]]
        if rest:
            before = sum(change.before.measured_ps for change in rest)
            after = sum(change.after.measured_ps for change in rest)
            rows.append((*_times(_time_change("", before, after)), f"in {len(rest):,} more"))
        titles = (">change", ">before", ">→", ">after", "mean own time per run")
        yield [headline, Table(titles, [(*row[:2], "→", *row[2:]) for row in rows])]


PAGE_KEYS = {InstructionKey.LINE: "Python line", InstructionKey.INSTRUCTION: "Instruction"}
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
    by_key = {key: compare_profiles(before, after, key) for key in PAGE_KEYS}
    modules = by_key[InstructionKey.LINE]
    longest = max(map(_longest_ps, modules), default=0)
    small = 0
    for number, module in enumerate(modules):
        if _longest_ps(module) < _MIN_SHARE * longest:
            small += 1
            continue
        name = markdown_code(module.name) if module.name else "Unknown module"
        yield from ("", f"## {name}", "")
        yield from (f"- {markdown_text(capitalized(fact))}" for fact in _facts_of(module))
        yield from _tables({key: by_key[key][number].groups for key in PAGE_KEYS}, count, link)
    if small:
        yield from ("", f"{count_noun(small, 'module')} below 1% of the longest one.")


def _tables(
    groups: Mapping[InstructionKey, tuple[Change, ...]],
    count: int,
    link: Callable[[SourceLine], str | None],
) -> Iterator[str]:
    for key, changes in groups.items():
        if not changes:
            continue
        yield ""
        rows = [
            (
                Link(change.label, None if change.source is None else link(change.source)),
                *_times(change),
            )
            for change in changes[:count]
        ]
        titles = (PAGE_KEYS[key], ">change", ">before", ">after")
        yield from markdown_table(Table(titles, rows))
        if len(changes) > count:
            yield from ("", f"{len(changes) - count:,} more.")


def _longest_ps(module: ModuleTimeChange) -> int:
    return max(module.median.before.measured_ps, module.median.after.measured_ps)


def _facts_of(module: ModuleTimeChange) -> Iterator[str]:
    if not module.median.before.measured_ps:
        yield "ran only after"
    elif not module.median.after.measured_ps:
        yield "ran only before"
    yield _text(module.median)
    yield from (_text(one) for one in (module.idle, module.exposed) if one.delta.measured_ps)


def _times(change: Change) -> tuple[str, str, str]:
    signed = format_signed(change.delta.measured_ps, format_time)
    return signed, format_time(change.before.measured_ps), format_time(change.after.measured_ps)


def _text(change: Change) -> str:
    ps = change.before.measured_ps
    share = f", {change.delta.measured_ps / ps:+.1%}" if ps else ""
    signed, before, after = _times(change)
    return f"{change.name} {before} → {after} ({signed}{share})"
