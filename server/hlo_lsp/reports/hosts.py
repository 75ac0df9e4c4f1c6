"""What the hosts of one program compiled: which modules are the same, and which hosts differ."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.display import count_noun, shortened
from hlo_lsp.model.host_folders import hosts_of, in_order
from hlo_lsp.reports.diff import ModuleDiff, compare
from hlo_lsp.reports.diff_text import first_change
from hlo_lsp.reports.modules import CompiledModule, compiled_module, first_difference, size_text
from hlo_lsp.reports.summary import largest_first

Json = dict[str, Any]
_MAX_LISTED_HOSTS = 6
_MAX_DIFFERENCE_CHARACTERS = 160
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file of one compile of one host.

    Attributes:
        host: The name of the host.
        program: The rest of the path of its folder, the same for all hosts of one program.
        module: The name of the module.
        number: The number of earlier compiles of that module by this host.
        path: A file of the compile.
        contents: The files that decide whether two hosts compiled the same program.
    """

    host: str
    program: str
    module: str
    number: int
    path: Path
    contents: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class HostGroup:
    """The hosts that compiled a module in the same way.

    Attributes:
        hosts: The names of the hosts.
        module: The compiled module of the first host; None for hosts without this module.
        difference: The first difference from the largest group; None for that group.
    """

    hosts: tuple[str, ...]
    module: CompiledModule | None
    difference: str | None


@dataclass(frozen=True, slots=True)
class ComparedModule:
    """A module of the program, with the groups of hosts, the largest group first."""

    name: str
    groups: tuple[HostGroup, ...]

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that compiled the module."""
        return tuple(
            in_order(host for one in self.groups if one.module is not None for host in one.hosts)
        )

    @property
    def is_same(self) -> bool:
        """True if all hosts compiled the module in the same way."""
        return len(self.groups) == 1

    @property
    def size(self) -> int:
        """The peak in bytes or, if it is unknown, the allocated bytes."""
        return max((one.module.size for one in self.groups if one.module is not None), default=0)


def host_files(
    paths: Iterable[Path],
    name_of: Callable[[Path], str],
    contents: Callable[[Path], Iterable[Path]],
) -> list[HostFile]:
    """Return the compiles of all hosts.

    Args:
        paths: A file of each compile, those of a folder in the order of the compiler.
        name_of: Returns the name of the module of a file.
        contents: Returns the files that decide whether two hosts compiled the same program.
    """
    files = list(paths)
    hosts = hosts_of({path.parent.absolute() for path in files})
    counts: dict[tuple[str, str, str], int] = {}
    found = []
    for path in files:
        host, program = hosts[path.parent.absolute()]
        module = name_of(path)
        number = counts.setdefault((host, program, module), 0)
        counts[host, program, module] += 1
        found.append(HostFile(host, program, module, number, path, tuple(contents(path))))
    return found


def compare_hosts(
    files: Sequence[HostFile], read: Callable[[Path], Compile | None]
) -> Iterator[ComparedModule]:
    """Yield each module with its groups of hosts; hosts with the same files are read once.

    Args:
        files: The compiles of all hosts.
        read: Returns the compile of a file, or None if it is not a dump.
    """
    hosts = {one.host for one in files}
    modules: dict[tuple[str, str, int], list[HostFile]] = {}
    for one in files:
        modules.setdefault((one.program, one.module, one.number), []).append(one)
    repeated = {(program, module) for program, module, number in modules if number}
    for (program, module, number), members in modules.items():
        name = f"{program}/{module}" if len({one.program for one in files}) > 1 else module
        if (program, module) in repeated:
            name += f" (compile {number + 1:,})"
        absent = hosts.difference(one.host for one in members)
        groups = _groups(members, read)
        if groups:
            yield ComparedModule(name, tuple(_with_differences(groups, absent)))


_Group = tuple[list[str], Compile]


def _groups(members: Sequence[HostFile], read: Callable[[Path], Compile | None]) -> list[_Group]:
    """Return the hosts with the same program, the largest group first."""
    by_content: dict[str, list[HostFile]] = {}
    for one in members:
        by_content.setdefault(_digest(one.contents), []).append(one)
    found: list[_Group] = []
    for same in sorted(by_content.values(), key=lambda same: -len(same)):
        dump = read(same[0].path)
        if dump is None:
            continue
        names = [one.host for one in same]
        home = next((group for group in found if _is_same(compare(group[1], dump))), None)
        if home is None:
            found.append((names, dump))
        else:
            home[0].extend(names)
    return sorted(found, key=lambda group: -len(group[0]))


def _digest(paths: Sequence[Path]) -> str:
    """Return a hash of the contents of files; if one is unreadable, a hash of their names."""
    found = hashlib.sha256()
    try:
        for path in paths:
            with path.open("rb") as file:
                while data := file.read(_READ_BYTES):
                    checkpoint()
                    found.update(data)
            found.update(b"\0")
    except OSError:  # the reader of the dump reports it
        found.update("\n".join(map(str, paths)).encode(errors="surrogateescape"))
    return found.hexdigest()


def _is_same(diff: ModuleDiff) -> bool:
    """Return whether two hosts have the same program; flags differ in the folder of the dumps."""
    instructions = diff.instructions
    return (instructions is None or instructions.is_equal) and not any(
        one.peak_change or one.allocated_change for one in diff.spaces
    )


def _with_differences(groups: Sequence[_Group], absent: Iterable[str]) -> Iterator[HostGroup]:
    _, reference = groups[0]
    known = compiled_module(reference)
    for hosts, dump in groups:
        module, difference = compiled_module(dump), None
        if dump is not reference:
            difference = first_difference(known, module) or first_change(compare(reference, dump))
        yield HostGroup(tuple(in_order(hosts)), module, difference)
    missing = tuple(in_order(absent))
    if missing:
        yield HostGroup(missing, None, "did not compile this module")


def hosts_lines(hosts: Iterable[str], modules: Sequence[ComparedModule]) -> Iterator[str]:
    """Yield the lines of the text form."""
    names = in_order(set(hosts))
    differing = {host for one in modules for group in one.groups[1:] for host in group.hosts}
    same = sum(one.is_same for one in modules)
    counts = f"{count_noun(len(names), 'host')} · {count_noun(len(modules), 'module')}"
    if not differing:
        yield f"{counts} · all hosts compiled the same programs"
    else:
        which = _listed(in_order(differing))
        yield f"{counts} · {same:,} the same on all hosts · hosts that differ: {which}"
    _, small = largest_first(modules, lambda one: one.size)
    hidden = [one for one in small if one.is_same]
    shown = sorted((one for one in modules if one not in hidden), key=lambda one: one.is_same)
    width = max((len(_size(one)) for one in shown), default=0)
    for module in shown:
        first, *others = module.groups
        where = count_noun(len(first.hosts), "host") if others else "all hosts"
        yield f"  {_size(module):<{width}}  {module.name} · the same on {where}"
        for group in others:
            text = shortened(group.difference or "", _MAX_DIFFERENCE_CHARACTERS)
            yield f"    {_listed(group.hosts)}: {text}".replace("`", "")
    if hidden:
        yield f"  {count_noun(len(hidden), 'smaller module')} · the same on all hosts"


def _size(module: ComparedModule) -> str:
    first = module.groups[0].module
    return "" if first is None else size_text(first)


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
