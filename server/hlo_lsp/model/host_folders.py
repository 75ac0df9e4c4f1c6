"""The hosts of one program: folders with dumps of the same names, one for each process.

A program on a pod runs as one process for each host, and each process dumps the modules that it
compiles into a folder of its own, such as ``dumps/host_3`` or ``xla/worker-3/dump``.
"""

import re
from collections.abc import Callable, Container, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

from hlo_lsp.model.file_names import DumpName
from hlo_lsp.text.disk import names_in

# The names of folders of one process: `host_3`, `t1v-n-1a2b-w-3`, `rank3`, `10.0.0.3`.
_HOST = re.compile(
    r"(?:.*[-_.])?(?:host|process|proc|worker|task|rank|node|machine|pod|replica)[-_.=]?\d+"
    r"|.*[-_.]w[-_.]\d+"  # of Cloud TPU
    r"|(?:\d{1,3}\.){3}\d{1,3}",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"([0-9]{1,18})")
T = TypeVar("T")


def hosts_of(folders: Iterable[Path], named: Iterable[Path] = ()) -> dict[Path, tuple[str, str]]:
    """Return the host of each folder with dumps, and the rest of the path.

    The host is the innermost folder with the name of a process. If there is none, it is the
    first folder in which the paths differ. Folders of different hosts with the same rest hold
    the dumps of one program. Where the user named the folder of a host, the rest is what is below.

    Args:
        folders: The folders with dumps.
        named: The folders that the user named.
    """
    found = sorted(folders)
    roots = _common_parts(found)
    tops = set(named)
    return {folder: _split(folder, len(roots), tops) for folder in found}


def host_of(folder: Path) -> str | None:
    """Return the innermost folder of a path with the name of a process, if there is one."""
    return next(filter(_HOST.fullmatch, reversed(folder.parts)), None)


def files_of_other_hosts(path: Path) -> list[tuple[str, Path]]:
    """Return the other hosts that have a file, and their paths of it.

    The names of the file may differ in the time of the run.
    """
    host = host_of(path.parent)
    if host is None:
        return []
    parts = path.parent.parts
    at = len(parts) - 1 - parts[::-1].index(host)
    wanted = _without_time(path.name)
    found = []
    for other in in_order(names_in(Path(*parts[:at]))):
        if other != host and _HOST.fullmatch(other):
            folder = Path(*parts[:at], other, *parts[at + 1 :])
            same = [name for name in names_in(folder) if _without_time(name) == wanted]
            if same:
                found.append((other, folder / (path.name if path.name in same else max(same))))
    return found


def _without_time(filename: str) -> str:
    name = DumpName.of(filename)
    if name is None or name.timestamp is None:
        return filename
    return filename.removeprefix(f"{name.timestamp}.")


def in_order(hosts: Iterable[str]) -> list[str]:
    """Sort the names of hosts, numbers in them by value: ``host_2`` before ``host_10``."""
    return sorted(
        hosts,
        key=lambda host: [(int(part), "") if part.isdecimal() else (-1, part)
                          for part in _NUMBER.split(host)],
    )  # fmt: skip


def _common_parts(folders: list[Path]) -> tuple[str, ...]:
    if not folders:
        return ()
    first, last = folders[0].parts, folders[-1].parts  # of sorted paths, these differ most
    count = 0
    while count < min(len(first), len(last)) and first[count] == last[count]:
        count += 1
    return first[:count]


def _split(folder: Path, common: int, named: Container[Path]) -> tuple[str, str]:
    parts = folder.parts
    top = next((one for one in (folder, *folder.parents) if one in named), Path())
    places = [at for at, name in enumerate(parts) if at >= common and _HOST.fullmatch(name)]
    at = places[-1] if places else min(common, len(parts) - 1)
    if at < len(top.parts):
        return parts[at], "/".join(parts[len(top.parts) :])
    return parts[at], "/".join((*parts[common:at], *parts[at + 1 :]))


def alike_on_hosts(
    items: Iterable[T], host: Callable[[T], str | None], facts: Callable[[T], Hashable]
) -> list[list[T]]:
    """Return the items with equal facts of several hosts together, in the order of the first ones.

    An item without a host is alone.
    """
    alike: dict[Hashable, list[T]] = {}
    for number, item in enumerate(items):
        key = number if host(item) is None else facts(item)
        alike.setdefault(key, []).append(item)
    return list(alike.values())
