"""Changes between the tables of two versions of a program, by group."""

from collections.abc import Mapping
from dataclasses import dataclass

from hlo_lsp.cost.roofline import CostSum
from hlo_lsp.model.source import SourceLine, file_name
from hlo_lsp.program.instruction_matching import computation_names, instruction_names
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.moved_lines import moved_lines, paired_groups
from hlo_lsp.stats.instruction_table import InstructionGroup, InstructionTable


@dataclass(frozen=True, slots=True)
class Amounts:
    """The costs and times of instructions in one run, on average.

    Attributes:
        memory_bytes: The bytes outside of on-chip memory.
        least_ps: The least time in picoseconds, 0 without a chip.
        measured_ps: The measured own time in picoseconds, 0 without a profile.
    """

    flops: int = 0
    memory_bytes: int = 0
    least_ps: float = 0.0
    measured_ps: int = 0

    @classmethod
    def of(cls, cost: CostSum) -> "Amounts":
        """Return the amounts of some instructions without measured times."""
        return cls(cost.cost.flops, cost.memory_bytes, cost.least_ps or 0.0)


@dataclass(frozen=True, slots=True)
class Change:
    """The costs and times of a group of instructions before and after; 0 if it is only on one side.

    ``source`` is the Python line if the name is one.
    """

    name: str
    before: Amounts
    after: Amounts
    source: SourceLine | None = None

    @property
    def label(self) -> str:
        """The name, that of a Python line without folders."""
        return self.name if self.source is None else file_name(self.name)

    @property
    def delta(self) -> Amounts:
        """By how much the amounts grew; negative if they shrank."""
        return Amounts(
            self.after.flops - self.before.flops,
            self.after.memory_bytes - self.before.memory_bytes,
            self.after.least_ps - self.before.least_ps,
            self.after.measured_ps - self.before.measured_ps,
        )


def compare_tables(
    before: InstructionTable | None, after: InstructionTable | None, key: InstructionKey
) -> list[Change]:
    """Return the groups of two tables that changed, the largest change first.

    Groups of measured tables are those whose time changed, others those whose FLOPs or bytes did.

    Args:
        before: A table, None if the program did not run.
        after: Another one.
        key: What the instructions of a group have in common.
    """
    pairs = paired_groups(
        _groups(before, key), _groups(after, key), _names_after(before, after, key)
    )
    changes = []
    for name, first, second in pairs:
        group = second or first
        source = None if group is None else group.source
        change = Change(name, _amounts(before, first), _amounts(after, second), source)
        delta = change.delta
        if delta.measured_ps or delta.flops or delta.memory_bytes:
            sizes = delta.measured_ps, delta.least_ps, delta.flops, delta.memory_bytes
            changes.append(((*(-abs(size) for size in sizes), name), change))
    return [change for _, change in sorted(changes, key=lambda item: item[0])]


def _groups(table: InstructionTable | None, key: InstructionKey) -> list[InstructionGroup]:
    if table is None:
        return []
    return table.groups(key) if table.measured is not None else table.cost_groups(key)


def _amounts(table: InstructionTable | None, group: InstructionGroup | None) -> Amounts:
    if table is None or group is None:
        return Amounts()
    if table.measured is None:
        return Amounts.of(group.cost)
    return Amounts(measured_ps=round(group.own_ps / table.executions))


def _names_after(
    before: InstructionTable | None, after: InstructionTable | None, key: InstructionKey
) -> Mapping[str, str | None]:
    """Return the names of groups before with those after, None for a group that is gone."""
    dump, other = (None if table is None else table.dump for table in (before, after))
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
