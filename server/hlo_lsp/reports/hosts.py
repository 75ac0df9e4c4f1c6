"""The compiles of the hosts of one program: equal modules, and the hosts that differ."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlo_lsp.display.phrases import count_noun, shortened
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.host_folders import in_order
from hlo_lsp.reports.diff import ModuleDiff, compare
from hlo_lsp.reports.diff_text import first_change
from hlo_lsp.reports.module_names import first_difference
from hlo_lsp.reports.modules import CompiledModule, compiled_module, size_text
from hlo_lsp.text.inert import Json

_MAX_LISTED_HOSTS = 6
_MAX_DIFFERENCE_CHARACTERS = 160
_UNREAD = "unreadable files"
_TEXT_DIFFERS = "the same instructions, in another order or with another module header"


@dataclass(frozen=True, slots=True)
class HostCompile:
    """A compile of a module by one host.

    Attributes:
        program: The rest of the path of its folder, the same for all hosts of one program.
        fingerprint: That of the text of the compiled module; None if there is no such text.
        memory: A hash of the buffer assignment and the live ranges; None if there are none.
        read: Returns the compile, or None if it cannot be read.
    """

    host: str
    program: str
    module: str
    fingerprint: str | None
    memory: str | None
    read: Callable[[], Compile | None]

    @property
    def key(self) -> tuple[str | None, str | None]:
        """The hashes, which are equal for equal compiles."""
        return self.fingerprint, self.memory


@dataclass(frozen=True, slots=True)
class HostGroup:
    """The hosts that compiled a module in the same way.

    Attributes:
        hosts: The names of the hosts.
        module: The compiled module of the first host; None if the hosts did not compile it.
        difference: The first difference from the largest group; None for that group.
    """

    hosts: tuple[str, ...]
    module: CompiledModule | None
    difference: str | None


@dataclass(frozen=True, slots=True)
class ComparedModule:
    """A module of the program, with the groups of hosts, the largest group first.

    Attributes:
        unread: The hosts whose files cannot be read, which are in no group.
    """

    name: str
    groups: tuple[HostGroup, ...]
    unread: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that compiled the module, apart from the unread ones."""
        return tuple(
            in_order(host for one in self.groups if one.module is not None for host in one.hosts)
        )

    @property
    def differs(self) -> bool:
        """True if some hosts compiled the module in another way, or not at all."""
        return any(one.difference is not None for one in self.groups)

    @property
    def is_same(self) -> bool:
        """True if all hosts compiled the module in the same way."""
        return not self.differs and not self.unread

    @property
    def size(self) -> int:
        """The peak in bytes or, if it is unknown, the allocated bytes."""
        return max((one.module.size for one in self.groups if one.module is not None), default=0)


def compare_hosts(compiles: Sequence[HostCompile]) -> Iterator[ComparedModule]:
    """Yield each module with its groups of hosts; equal compiles are read once.

    Of several compiles of one name, those that all hosts have are matched first, and the others in
    their order.
    """
    hosts = in_order({one.host for one in compiles})
    has_programs = len({one.program for one in compiles}) > 1
    by_name: dict[tuple[str, str], dict[str, list[HostCompile]]] = {}
    for one in compiles:
        by_name.setdefault((one.program, one.module), {}).setdefault(one.host, []).append(one)
    for (program, module), by_host in by_name.items():
        rows = list(_aligned(hosts, by_host))
        for number, row in enumerate(rows, 1):
            name = f"{program}/{module}" if has_programs and program else module
            if len(rows) > 1:
                name += f" (compile {number:,})"
            unread: list[str] = []
            groups = tuple(_groups(hosts, row, unread))
            yield ComparedModule(name, groups, tuple(in_order(unread)))


_Row = dict[str, HostCompile]  # by host


def _aligned(hosts: Sequence[str], by_host: Mapping[str, list[HostCompile]]) -> Iterator[_Row]:
    """Yield the compiles that correspond: first the equal ones of all hosts, then the others."""
    counts = {host: Counter(one.key for one in by_host.get(host, ())) for host in hosts}
    shared = {key: min(count[key] for count in counts.values()) for key in counts[hosts[0]]}
    left: dict[str, list[HostCompile]] = {}
    equal: dict[tuple[object, int], _Row] = {}
    for host in hosts:
        seen: Counter[object] = Counter()
        for one in by_host.get(host, ()):
            number = seen[one.key]
            seen[one.key] += 1
            if number < shared.get(one.key, 0):
                equal.setdefault((one.key, number), {})[host] = one
            else:
                left.setdefault(host, []).append(one)
    yield from equal.values()
    for number in range(max(map(len, left.values()), default=0)):
        yield {host: found[number] for host, found in left.items() if number < len(found)}


@dataclass(slots=True)
class _Alike:
    """Hosts with equal compiles, and one of these."""

    hosts: list[str]
    compile: HostCompile
    dump: Compile
    module: CompiledModule


def _groups(hosts: Sequence[str], row: _Row, unread: list[str]) -> Iterator[HostGroup]:
    """Yield the groups of hosts, the largest first, with the differences from it.

    Args:
        hosts: All hosts.
        row: The compiles.
        unread: The list to which the hosts are added whose compiles cannot be read.
    """
    by_key: dict[object, list[HostCompile]] = {}
    for compile_ in row.values():
        by_key.setdefault(compile_.key, []).append(compile_)
    alike: dict[object, _Alike] = {}
    for number, same in enumerate(sorted(by_key.values(), key=len, reverse=True)):
        first = same[0]
        names = [each.host for each in same]
        dump = first.read()
        if dump is None:
            unread += names
            continue
        module = compiled_module(dump)
        # Names of buffers can differ, so the sizes decide, not the texts of the memory files.
        size = module.peak_bytes, module.allocated_bytes
        key = (first.fingerprint, size) if first.fingerprint else number
        if key in alike:
            alike[key].hosts += names
        else:
            alike[key] = _Alike(names, first, dump, module)
    found = sorted(
        alike.values(),
        key=lambda one: (-len(one.hosts), one.compile.fingerprint is None),
    )
    missing = [host for host in hosts if host not in row]
    is_rare = bool(found) and len(missing) > len(found[0].hosts)
    if is_rare:
        yield HostGroup(tuple(missing), None, None)
    for one in found:
        difference = None
        if is_rare:
            difference = "compiled only here"
        elif one is not found[0]:
            difference = _difference(found[0], one)
        yield HostGroup(tuple(in_order(one.hosts)), one.module, difference)
    if missing and not is_rare:
        yield HostGroup(tuple(missing), None, "did not compile this module")


def _difference(known: _Alike, other: _Alike) -> str:
    """Return the first difference between two compiles."""
    for here, there, what in (
        (other.compile.fingerprint, known.compile.fingerprint, "text of the compiled module"),
        (other.compile.memory, known.compile.memory, "buffer assignment"),
    ):
        if (here is None) != (there is None):
            return f"no {what}" if here is None else f"the other hosts have no {what}"
    changed = first_difference(known.module, other.module)
    if changed is not None:
        return changed
    diff = compare(known.dump, other.dump)
    if diff.is_equal or (diff.instructions is not None and diff.instructions.is_equal):
        return first_change(diff) if _has_other_sizes(diff) else _TEXT_DIFFERS
    return first_change(diff)


def _has_other_sizes(diff: ModuleDiff) -> bool:
    return any(one.peak_change or one.allocated_change for one in diff.spaces)


def hosts_content(hosts: Iterable[str], modules: Sequence[ComparedModule]) -> Content:
    """Yield the counts, and a table of the modules, those that differ first."""
    names = in_order(set(hosts))
    groups = (group for one in modules for group in one.groups)
    differing = {host for one in groups if one.difference is not None for host in one.hosts}
    unread = {host for one in modules for host in one.unread}
    same = sum(one.is_same for one in modules)
    counts = f"{count_noun(len(names), 'host')} · {count_noun(len(modules), 'module')}"
    if same == len(modules):
        yield f"{counts} · all hosts compiled the same programs"
    else:
        differ = f" · hosts that differ: {_listed(in_order(differing))}" if differing else ""
        unknown = f" · hosts with {_UNREAD}: {_listed(in_order(unread))}" if unread else ""
        yield f"{counts} · {same:,} the same on all hosts{differ}{unknown}"
    _, small = largest_first(modules, lambda one: one.size)
    hidden = [one for one in small if one.is_same]
    shown = sorted((one for one in modules if one not in hidden), key=difference_first)
    rows: list[tuple[str, str]] = []
    for module in shown:
        rows.append((_size(module), f"`{module.name}` · {_where(module)}"))
        for group in module.groups[1:]:
            text = shortened(group.difference or "", _MAX_DIFFERENCE_CHARACTERS)
            rows.append(("", f"{_listed(group.hosts)}: {text}"))
        if module.groups and module.unread:
            rows.append(("", f"{_listed(module.unread)}: {_UNREAD}"))
    yield Table(("size", "module and hosts"), rows, has_titles=False)
    if hidden:
        yield f"  {count_noun(len(hidden), 'smaller module')} · the same on all hosts"


def difference_first(module: ComparedModule) -> tuple[bool, bool]:
    """Return a key that sorts modules that differ first, then those with unread hosts."""
    return not module.differs, module.is_same


def _where(module: ComparedModule) -> str:
    if module.is_same:
        return "the same on all hosts"
    if not module.groups:
        return _UNREAD
    first = module.groups[0]
    if first.module is None:
        return f"not on {count_noun(len(first.hosts), 'host')}"
    if len(first.hosts) > 1:
        return f"the same on {count_noun(len(first.hosts), 'host')}"
    return f"unlike {first.hosts[0]}" if module.differs else f"known only from {first.hosts[0]}"


def _size(module: ComparedModule) -> str:
    found = next((one.module for one in module.groups if one.module is not None), None)
    return "" if found is None else size_text(found)


def _listed(hosts: Sequence[str]) -> str:
    shown = ", ".join(hosts[:_MAX_LISTED_HOSTS])
    more = len(hosts) - _MAX_LISTED_HOSTS
    return f"{shown}, and {more:,} more" if more > 0 else shown


def hosts_json(hosts: Iterable[str], modules: Iterable[ComparedModule]) -> Json:
    """Return the modules of all hosts as JSON; see docs/json_schema.md."""
    return {
        "hosts": in_order(set(hosts)),
        "modules": [
            {
                "name": one.name,
                "hosts": list(one.hosts),
                "groups": [_group_json(group) for group in one.groups],
                "unread": list(one.unread),
            }
            for one in modules
        ],
    }


def _group_json(group: HostGroup) -> Mapping[str, Any]:
    module = group.module
    return {
        "hosts": list(group.hosts),
        "path": None if module is None else module.path,
        "space": None if module is None else module.space,
        "peak_bytes": None if module is None else module.peak_bytes,
        "allocated_bytes": None if module is None else module.allocated_bytes,
        "instructions": None if module is None else module.instruction_count,
        "difference": group.difference,
    }
