"""The costs of two compiles: what changed, and which groups of instructions changed most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlo_lsp.cost.chips import Chip, chip_of
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.display.phrases import capitalized, join_dotted
from hlo_lsp.display.table import Table, markdown_table
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.stages import is_optimized
from hlo_lsp.reports.cost import total_json
from hlo_lsp.stats.changes import Amounts, Change, compare_tables
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.text.amounts import (
    format_flops,
    format_short_bytes,
    format_signed,
    format_time,
    in_seconds,
)
from hlo_lsp.text.inert import Json

COST_KEYS = (InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.OPCODE)
_MIN_SHOWN_PICOSECONDS = 5  # shorter times are shown as 0.00 ns


@dataclass(frozen=True, slots=True)
class CostDiff:
    """The costs of two compiles.

    Attributes:
        chip: The chip for times, None if it is unknown, or not the same on both sides.
        total: All instructions as one group.
        groups: The changed groups of each key, the largest change first.
    """

    before: ProgramCost
    after: ProgramCost
    chip: Chip | None
    total: Change
    groups: Mapping[InstructionKey, tuple[Change, ...]]


def compare_costs(before: Compile, after: Compile, chip: str | None) -> CostDiff | None:
    """Return how the cost of a program changed, or None without both module texts.

    Args:
        before: A compile.
        after: Another one.
        chip: The name of the chip for times, by default that of both dumps.
    """
    chips = [chip_of(dump, chip) for dump in (before, after)]
    texts = [dump.module_file for dump in (before, after)]
    is_final = all(file is None or is_optimized(file) for file in texts)
    common = chips[0] if chips[0] == chips[1] and is_final else None
    first, second = cost_table(before, common), cost_table(after, common)
    if first is None or second is None:
        return None
    total = Change("", Amounts.of(first.cost.total), Amounts.of(second.cost.total))
    groups = {key: tuple(compare_tables(first, second, key)) for key in COST_KEYS}
    return CostDiff(first.cost, second.cost, common, total, groups)


def cost_change_lines(diff: CostDiff, count: int) -> Iterator[str]:
    """Yield the lines of the text form, none without a change; each list has ``count`` groups."""
    if not any(diff.groups.values()):
        return
    yield f"cost of one run: {' · '.join(_total_texts(diff))}"
    for key, groups in diff.groups.items():
        if groups:
            texts = [f"{group.label} {_change_text(group.delta)}" for group in groups]
            yield f"  by {key.value}: {join_dotted(texts, count)}"


def cost_headline(diff: CostDiff) -> str:
    """Return the change of the total in a few words, empty without one."""
    delta = diff.total.delta
    return _change_text(delta) if delta.flops or delta.memory_bytes else ""


def cost_change_markdown(diff: CostDiff, count: int) -> Iterator[str]:
    """Yield the lines of the Markdown form, none without a change."""
    if not any(diff.groups.values()):
        return
    yield from ("", "## Cost of one run", "", f"{capitalized('; '.join(_total_texts(diff)))}.")
    title = diff.after.memory_title
    yield ""
    rows = []
    for group in diff.groups[InstructionKey.LINE][:count]:
        flops, size, time = _delta_texts(group.delta)
        rows.append((group.label, flops, size, "" if diff.chip is None else time))
    titles = ("Python line", ">FLOPs", f">bytes {title}", ">least time")
    yield from markdown_table(Table(titles, rows))


def cost_change_json(diff: CostDiff, count: int) -> Json:
    """Return the changes as JSON; see docs/json_schema.md."""
    return {
        "chip": None if diff.chip is None else diff.chip.name,
        "before": total_json(diff.before),
        "after": total_json(diff.after),
        "groups": {
            key.value: [
                {
                    "name": group.name,
                    "before": _amounts_json(group.before, diff),
                    "after": _amounts_json(group.after, diff),
                }
                for group in groups[:count]
            ]
            for key, groups in diff.groups.items()
        },
    }


def _amounts_json(amounts: Amounts, diff: CostDiff) -> Json:
    return {
        "flops": amounts.flops,
        "memory_bytes": amounts.memory_bytes,
        "least_seconds": None if diff.chip is None else in_seconds(amounts.least_ps),
    }


def _total_texts(diff: CostDiff) -> Iterator[str]:
    before, after = diff.total.before, diff.total.after
    flops, size, time = _delta_texts(diff.total.delta)
    least = "" if diff.before.executed.complete and diff.after.executed.complete else "at least "
    yield f"{least}{format_flops(before.flops)} -> {format_flops(after.flops)} ({flops})"
    sizes = f"{format_short_bytes(before.memory_bytes)} -> {format_short_bytes(after.memory_bytes)}"
    yield f"{sizes} {diff.after.memory_title} ({size})"
    if diff.chip is not None:
        times = f"{format_time(before.least_ps)} -> {format_time(after.least_ps)}"
        yield f"least time on {diff.chip.title} {times} ({time})"


def _delta_texts(delta: Amounts) -> tuple[str, str, str]:
    """Return the changes of FLOPs, bytes, and least time with their signs."""
    return (
        format_signed(delta.flops, format_flops),
        format_signed(delta.memory_bytes, format_short_bytes),
        format_signed(delta.least_ps, format_time),
    )


def _change_text(delta: Amounts) -> str:
    """Return the change of the time, without a chip those of the FLOPs and the bytes."""
    flops, size, time = _delta_texts(delta)
    if abs(delta.least_ps) >= _MIN_SHOWN_PICOSECONDS:
        return time
    return ", ".join([*([flops] if delta.flops else []), *([size] if delta.memory_bytes else [])])
