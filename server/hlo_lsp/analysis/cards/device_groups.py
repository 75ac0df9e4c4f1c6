"""Groups of devices in words, however many there are."""

from collections.abc import Iterable

from hlo_lsp.analysis.cards.card import Fact, counted
from hlo_lsp.model.device_groups import (
    EqualGroups,
    Members,
    OrderedGroup,
    members,
    parse_groups,
)
from hlo_lsp.model.device_order import DeviceOrder, ShardingError
from hlo_lsp.model.mesh import Axis
from hlo_lsp.syntax.instruction_text import InstructionText

_GROUPS = 4  # shown at most
_DEVICES = 8  # of a group


def group_facts(text: InstructionText) -> list[Fact]:
    """Which devices work together by ``replica_groups=``; nothing if that is not there."""
    groups = text.attribute("replica_groups")
    channel = text.attribute("channel_id")
    global_ids = text.attribute("use_global_device_ids")
    if groups is None:
        return []
    counted_by = members(
        text.opcode.text,
        channel=channel is not None,
        global_ids=global_ids is not None and global_ids.text.strip() == "true",
    )
    words = collective_words(groups.text.strip(), counted_by)
    return [Fact("replica groups", words)] if words else []


def collective_words(text: str, counted_by: Members) -> str:
    """The value of ``replica_groups=`` in words; empty if it cannot be read."""
    try:
        groups = parse_groups(text)
    except ShardingError:
        return ""
    whole = counted_by is Members.WHOLE_REPLICAS
    noun = (Members.REPLICAS if whole else counted_by).value
    if groups.count == 0:
        return f"all {Members.DEVICES.value if whole else noun}s in one group"
    size = f" of {noun}s" if groups.size is None else f" of {counted(groups.size, noun)}"
    rest = " with all their partitions" if whole else ""
    along = ""
    if isinstance(groups, EqualGroups) and groups.mesh is not None:
        mesh = ", ".join(f"{name}={count}" for name, count in groups.mesh.axes)
        along = f"{axes_words(groups.axes)} of the mesh {mesh}"
    shown = groups_words(groups.first(_GROUPS), groups.count)
    return f"{counted(groups.count, 'group')}{size}{rest}{along}: {shown}"


def groups_words(groups: "Iterable[tuple[int, ...] | OrderedGroup]", count: int) -> str:
    """``{0,1}, {2,3} and 6 more``: the first of ``count`` groups."""
    shown = [f"{{{','.join(_members(group))}}}" for group in groups]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def copies_words(order: DeviceOrder, parts: int) -> str:
    """The devices of each part, in the order of the parts: ``0, 1, 2, 3`` or ``{0,2}, {1,3}``."""
    copies = order.count // parts
    if copies == 1:
        return ", ".join(_members(OrderedGroup(order, 0, order.count)))
    shown = range(min(parts, _GROUPS))
    return groups_words((OrderedGroup(order, n * copies, copies) for n in shown), parts)


def axes_words(axes: tuple[Axis, ...]) -> str:
    """`` by axis x``, or nothing where there is no axis."""
    names = ", ".join(map(str, axes))
    return f" by {'axis' if len(axes) == 1 else 'axes'} {names}" if axes else ""


def _members(group: "tuple[int, ...] | OrderedGroup") -> list[str]:
    """The devices of a group; of a large one the first and the last."""
    if isinstance(group, tuple):
        count = len(group)
        devices = group if count <= _DEVICES else (*group[: _DEVICES // 2], group[-1])
    else:
        count = group.count
        places = range(count) if count <= _DEVICES else (*range(_DEVICES // 2), count - 1)
        devices = tuple(map(group.at, places))
    words = list(map(str, devices))
    return words if count <= _DEVICES else [*words[:-1], "...", words[-1]]
