"""The compiles below a folder, with the retraces of each function."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_lsp.display.phrases import count_noun, hosts_note
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.host_folders import alike_on_hosts, host_of
from hlo_lsp.reports.module_names import ModuleIdentity, first_difference, module_identity
from hlo_lsp.text.amounts import format_short_bytes


@dataclass(frozen=True, slots=True)
class CompiledModule(ModuleIdentity):
    """One compile of a module, with its sizes.

    ``space`` is the off-chip memory space with the largest peak; it and ``peak_bytes`` are None
    without live ranges.
    """

    allocated_bytes: int | None
    space: str | None
    peak_bytes: int | None
    peak_step: int | None
    instruction_count: int

    @property
    def size(self) -> int:
        """The peak in bytes or, if it is unknown, the allocated bytes."""
        return self.peak_bytes or self.allocated_bytes or 0


def compiled_module(dump: Compile) -> CompiledModule:
    """Return the facts about a compile."""
    allocations = [located.record for located in dump.allocations()]
    largest = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    count = max((len(file.module.instructions) for file in dump.files), default=0)
    identity = module_identity(dump)
    return CompiledModule(
        identity.name,
        identity.path,
        identity.backend,
        identity.parameters,
        sum(one.size for one in allocations) if allocations else dump.total_bytes,
        None if largest is None else space_title(largest.space, dump.backend),
        None if largest is None else largest.peak_bytes,
        None if largest is None else largest.peak_step,
        count,
    )


def largest_buffers(dump: Compile, count: int) -> tuple[LiveBuffer, ...]:
    """Return the largest buffers at the peak of ``compiled_module``, none without live ranges."""
    largest = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    if largest is None:
        return ()
    return live_buffers(dump, largest.space, largest.peak_step)[:count]


def sorted_by_name(modules: Iterable[CompiledModule]) -> list[list[CompiledModule]]:
    """Return the compiles of each name, those with the largest peak first."""
    groups: dict[str, list[CompiledModule]] = {}
    for module in modules:
        groups.setdefault(module.name, []).append(module)
    for group in groups.values():
        group.sort(key=lambda one: -one.size)
    return sorted(groups.values(), key=lambda group: (-group[0].size, group[0].name))


def modules_content(
    groups: Sequence[Sequence[CompiledModule]], *, with_small: bool = False
) -> Content:
    """Yield a table of the compiles; by default, those of a small module share a row."""
    small = [] if with_small else largest_first(groups, lambda group: group[0].size)[1]
    short = set(map(id, small))
    rows: list[tuple[str, str]] = []
    for group in groups:
        first = group[0]
        alike = by_host(group)
        if len(alike) == 1:
            facts = f"{_facts(first)}{_hosts(alike[0])}"
            rows.append((size_text(first), f"`{first.name}` · {facts}"))
            continue
        hosts = set(map(_host, group)) - {None}
        where = f" on {count_noun(len(hosts), 'host')}" if len(hosts) > 1 else ""
        rows.append((size_text(first), f"`{first.name}` · {len(group):,} compiles{where}"))
        if id(group) in short:
            continue
        for same in alike:
            module = same[0]
            difference = first_difference(first, module) or "the same parameters"
            more = "" if module is first else f" · {difference}"
            rows.append((f"  {size_text(module)}", f"  {_facts(module)}{_hosts(same)}{more}"))
    yield Table(("size", "module"), rows, has_titles=False, indent="")


def by_host(group: Sequence[CompiledModule]) -> list[list[CompiledModule]]:
    """Return the compiles of a name, with equal ones of several hosts together."""
    return alike_on_hosts(
        group, _host, lambda module: (module.size, module.instruction_count, module.parameters)
    )


def _hosts(alike: Sequence[CompiledModule]) -> str:
    return hosts_note(map(_host, alike))


def _host(module: CompiledModule) -> str | None:
    return host_of(Path(module.path).parent)


def _facts(module: CompiledModule) -> str:
    return f"{count_noun(module.instruction_count, 'instruction')} · {module.path}"


def size_text(module: CompiledModule) -> str:
    """Return the peak or, if it is unknown, the allocated bytes.

    The number comes first: it stays visible where a list is too narrow for all of the text.
    """
    if module.peak_bytes is not None:
        return f"{short_size(module)} {module.space} peak"
    return short_size(module) + (" allocated" if module.allocated_bytes is not None else "")


def short_size(module: CompiledModule) -> str:
    """Return the bytes of ``size_text``."""
    size = module.allocated_bytes if module.peak_bytes is None else module.peak_bytes
    return "unknown size" if size is None else format_short_bytes(size)


def modules_json(groups: Sequence[Sequence[CompiledModule]]) -> list[dict[str, Any]]:
    """Return the compiles of each name as JSON; see docs/json_schema.md."""
    return [
        {
            "name": group[0].name,
            "compiles": [
                {
                    "path": module.path,
                    "host": _host(module),
                    "backend": module.backend.value,
                    "allocated_bytes": module.allocated_bytes,
                    "space": module.space,
                    "peak_bytes": module.peak_bytes,
                    "peak_step": module.peak_step,
                    "instructions": module.instruction_count,
                    "parameters": len(module.parameters),
                    "difference": first_difference(group[0], module),
                }
                for module in group
            ],
        }
        for group in groups
    ]
