"""The costs of two compiles: what changed, and which groups of instructions changed most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hlo_lsp.cost.chips import Chip, chip_of
from hlo_lsp.cost.program_cost import CostGroup, ProgramCost, program_cost
from hlo_lsp.display.phrases import capitalized, join_dotted
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.stages import is_optimized
from hlo_lsp.reports.cost import total_json
from hlo_lsp.reports.moved_lines import moved_lines
from hlo_lsp.reports.paired_groups import line_label, paired_groups
from hlo_lsp.text.amounts import format_flops, format_short_bytes, format_signed, format_time
from hlo_lsp.text.inert import markdown_row, markdown_text

Json = dict[str, Any]
COST_KEYS = (InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.OPCODE)
_PICOSECONDS = 10**12
_MIN_SHOWN_PICOSECONDS = 5  # shorter times are shown as 0.00 ns


@dataclass(frozen=True, slots=True)
class CostAmounts:
    """The cost of one run: FLOPs, bytes off the chip, and picoseconds, None without a chip."""

    flops: int
    memory_bytes: int
    least_ps: float | None

    @classmethod
    def of(cls, group: CostGroup) -> "CostAmounts":
        """Return the amounts of a group of instructions."""
        time = None if group.seconds is None else group.seconds * _PICOSECONDS
        return cls(group.cost.flops, group.memory_bytes, time)


@dataclass(frozen=True, slots=True)
class CostChange:
    """The cost of a group of instructions before and after; nothing if a side has no such group."""

    name: str
    label: str
    before: CostAmounts
    after: CostAmounts

    @property
    def flops(self) -> int:
        """The change of the FLOPs."""
        return self.after.flops - self.before.flops

    @property
    def memory_bytes(self) -> int:
        """The change of the bytes off the chip."""
        return self.after.memory_bytes - self.before.memory_bytes

    @property
    def least_ps(self) -> float:
        """The change of the least time in picoseconds, 0 without a chip."""
        return (self.after.least_ps or 0.0) - (self.before.least_ps or 0.0)

    @property
    def is_change(self) -> bool:
        """True if FLOPs or bytes changed."""
        return bool(self.flops or self.memory_bytes)

    @property
    def order(self) -> tuple[float, int, int, str]:
        """A key that sorts the largest change first: by time, else by FLOPs, else by bytes."""
        return -abs(self.least_ps), -abs(self.flops), -abs(self.memory_bytes), self.name


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
    total: CostChange
    groups: Mapping[InstructionKey, tuple[CostChange, ...]]


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
    first, second = program_cost(before, common), program_cost(after, common)
    if first is None or second is None:
        return None
    total = CostChange("", "", CostAmounts.of(first.total), CostAmounts.of(second.total))
    groups = {key: tuple(_changes(first, second, key)) for key in COST_KEYS}
    return CostDiff(first, second, common, total, groups)


def _changes(before: ProgramCost, after: ProgramCost, key: InstructionKey) -> list[CostChange]:
    nothing = CostAmounts(0, 0, None if before.chip is None else 0.0)
    changes = []
    lines = moved_lines(before.dump, after.dump) if key is InstructionKey.LINE else {}
    for name, *groups in paired_groups(before.groups(key), after.groups(key), lines):
        source = next((one.source for one in reversed(groups) if one is not None), None)
        sides = (nothing if one is None else CostAmounts.of(one) for one in groups)
        changes.append(CostChange(name, name if source is None else line_label(name), *sides))
    return sorted((one for one in changes if one.is_change), key=lambda one: one.order)


def cost_change_lines(diff: CostDiff, count: int) -> Iterator[str]:
    """Yield the lines of the text form, none without a change; each list has ``count`` groups."""
    if not any(diff.groups.values()):
        return
    yield f"cost of one run: {' · '.join(_total_texts(diff))}"
    for key, changes in diff.groups.items():
        if changes:
            texts = [f"{one.label} {_change_text(one)}" for one in changes]
            yield f"  by {key.value}: {join_dotted(texts, count)}"


def cost_headline(diff: CostDiff) -> str:
    """Return the change of the total in a few words, empty without one."""
    return _change_text(diff.total) if diff.total.is_change else ""


def cost_change_markdown(diff: CostDiff, count: int) -> Iterator[str]:
    """Yield the lines of the Markdown form, none without a change."""
    if not any(diff.groups.values()):
        return
    yield from ("", "## Cost of one run", "", f"{capitalized('; '.join(_total_texts(diff)))}.")
    title = diff.after.memory_title
    yield from ("", f"| Python line | FLOPs | Bytes {title} | Least time |", "|---|---:|---:|---:|")
    for one in diff.groups[InstructionKey.LINE][:count]:
        time = "" if diff.chip is None else format_signed(one.least_ps, format_time)
        sizes = (
            format_signed(one.flops, format_flops),
            format_signed(one.memory_bytes, format_short_bytes),
        )
        yield markdown_row(markdown_text(one.label), *sizes, time)


def cost_change_json(diff: CostDiff, count: int) -> Json:
    """Return the changes as JSON; see docs/json_schema.md."""
    return {
        "chip": None if diff.chip is None else diff.chip.name,
        "before": total_json(diff.before),
        "after": total_json(diff.after),
        "groups": {
            key.value: [
                {
                    "name": one.name,
                    "before": _amounts_json(one.before),
                    "after": _amounts_json(one.after),
                }
                for one in changes[:count]
            ]
            for key, changes in diff.groups.items()
        },
    }


def _amounts_json(amounts: CostAmounts) -> Json:
    time = amounts.least_ps
    return {
        "flops": amounts.flops,
        "memory_bytes": amounts.memory_bytes,
        "least_seconds": None if time is None else time / _PICOSECONDS,
    }


def _total_texts(diff: CostDiff) -> Iterator[str]:
    total, before, after = diff.total, diff.total.before, diff.total.after
    least = "" if diff.before.executed.complete and diff.after.executed.complete else "at least "
    flops = f"{format_flops(before.flops)} -> {format_flops(after.flops)}"
    yield f"{least}{flops} ({format_signed(total.flops, format_flops)})"
    sizes = f"{format_short_bytes(before.memory_bytes)} -> {format_short_bytes(after.memory_bytes)}"
    change = format_signed(total.memory_bytes, format_short_bytes)
    yield f"{sizes} {diff.after.memory_title} ({change})"
    if diff.chip is not None:
        times = f"{format_time(before.least_ps or 0.0)} -> {format_time(after.least_ps or 0.0)}"
        change = format_signed(total.least_ps, format_time)
        yield f"least time on {diff.chip.title} {times} ({change})"


def _change_text(change: CostChange) -> str:
    """Return the change of the time, without a chip those of the FLOPs and the bytes."""
    if abs(change.least_ps) >= _MIN_SHOWN_PICOSECONDS:
        return format_signed(change.least_ps, format_time)
    parts = []
    if change.flops:
        parts.append(format_signed(change.flops, format_flops))
    if change.memory_bytes:
        parts.append(format_signed(change.memory_bytes, format_short_bytes))
    return ", ".join(parts)
