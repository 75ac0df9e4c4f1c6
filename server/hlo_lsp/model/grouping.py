"""Names of a folder by the module they were written for, where a name alone does not tell."""

from collections.abc import Iterable

from hlo_lsp.model.naming import DumpName, group_key

Groups = dict[str, list[str]]


def grouped(names: Iterable[str]) -> Groups:
    """The names by group; each is in one group, under a key that says nothing but which.

    Beyond ``group_key``:

    - Names with different timestamps are of different runs of XLA: it takes one timestamp for a
      module. A name without one is of the run with one if that is the only run here.
    - A name without the module name is of the module with that number if with its name it would
      be longer than XLA lets it be, and if there is only one such module.
    - A suffix that nobody knows begins where the names of a known module end.
    """
    groups: dict[str, list[DumpName]] = {}
    others: Groups = {}
    unknown: list[DumpName] = []
    for filename in names:
        name = DumpName.of(filename)
        if name is None:
            others.setdefault(group_key(filename), []).append(filename)
        elif name.suffix.is_known:
            groups.setdefault(name.head, []).append(name)
        else:
            unknown.append(name)
    _part_runs(groups)
    homes = _join_nameless(groups)
    for name in unknown:
        key = _home(name, groups, homes)
        groups.setdefault(name.head if key is None else key, []).append(name)
    for key, members in groups.items():
        others[key] = [name.filename for name in members]
    return others


def _part_runs(groups: dict[str, list[DumpName]]) -> None:
    for head, members in list(groups.items()):
        stamps = {name.timestamp for name in members} - {None}
        if len(stamps) < 2:
            continue
        del groups[head]
        for name in members:
            groups.setdefault(_stamped(name.timestamp, head), []).append(name)


def _join_nameless(groups: dict[str, list[DumpName]]) -> dict[str, str]:
    """Move names without a module name; under which key those of their head are now."""
    nameless = [key for key, members in groups.items() if members[0].module_name is None]
    named: dict[tuple[str, int | None], list[str]] = {}
    if nameless:
        for key, members in groups.items():
            if members[0].module_name is not None:
                named.setdefault((members[0].module, members[0].cl), []).append(key)
    homes: dict[str, str] = {}
    for key in nameless:
        members = groups.pop(key)
        candidates = named.get((members[0].module, members[0].cl), [])
        for name in members:
            fitting = [other for other in candidates if _may_join(name, groups[other])]
            home = fitting[0] if len(fitting) == 1 else key
            groups.setdefault(home, []).append(name)
            homes[key] = home
    return homes


def _may_join(nameless: DumpName, group: list[DumpName]) -> bool:
    first = group[0]
    assert first.module_name is not None
    stamps = {name.timestamp for name in group} | {nameless.timestamp}
    return len(stamps - {None}) < 2 and nameless.may_be_of(first.module_name)


def _home(name: DumpName, groups: dict[str, list[DumpName]], homes: dict[str, str]) -> str | None:
    """The group whose head the name begins with, the longest of them."""
    text = name.filename if name.timestamp is None else name.filename.partition(".")[2]
    end = text.rfind(".")
    while end > 0:
        head = text[:end]
        for known in (_stamped(name.timestamp, head), head):
            key = homes.get(known, known)
            if key in groups:
                return key
        end = text.rfind(".", 0, end)
    return None


def _stamped(timestamp: int | None, head: str) -> str:
    return head if timestamp is None else f"{timestamp}.{head}"
