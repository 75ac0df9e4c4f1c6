"""The device meshes of a compile, and the axes that a collective runs over."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, compress, pairwise, product, starmap
from math import prod
from operator import ne

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.device_groups import (
    DeviceGroups,
    DeviceOrder,
    EqualGroups,
    GroupList,
    GroupMode,
    Mesh,
    ShardingError,
    group_mode,
    parse_device_groups,
    parse_mesh,
    parse_sharding_text,
)
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sharding import Sharding, TupleSharding, parse_sharding
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, performed_operation, without_async_ending
from hlo_lsp.syntax.module_records import InstructionLine

Groups = tuple[tuple[int, ...], ...]
_MAX_DEVICES = 1 << 16  # of a mesh; the texts can claim any number
_SHARDY_MESH = re.compile(r"#sdy\.mesh<\[([^\]]*)\](?:, device_ids=\[([\d, ]*)\])?>")
_SHARDY_AXIS = re.compile(r'\\?"([^"\\]+)\\?"=(\d{1,9})')
_INVENTED_NAME = re.compile(r"axis_\d+")  # XLA names the axes of a mesh without names so
_OVER, _RING, _SHIFT, _EXCHANGE = "over", "ring along", "shift along", "exchange along"
_PAIRS = "pairs along"


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """An axis of a mesh; ``name`` is None if no text has it.

    ``stride`` is the distance of neighbors, if it tells the axis from others without names.
    """

    name: str | None
    size: int
    stride: int | None = None

    @property
    def label(self) -> str:
        """The name, or what is known in its place."""
        if self.name is not None:
            return self.name
        apart = "" if self.stride is None else f" (devices {self.stride:,} apart)"
        return f"axis of {self.size:,}{apart}"


@dataclass(frozen=True, slots=True)
class DeviceMesh:
    """The axes of a mesh, major to minor, and its devices in row-major order."""

    axes: tuple[MeshAxis, ...]
    devices: tuple[int, ...]

    @property
    def text(self) -> str:
        """The axes with their sizes: ``data=2, model=4``."""
        return ", ".join(
            axis.label if axis.name is None else f"{axis.name}={axis.size}" for axis in self.axes
        )

    def coordinates(self) -> dict[int, tuple[int, ...]]:
        """Return the position of each device along each axis."""
        sizes = [range(axis.size) for axis in self.axes]
        return dict(zip(self.devices, product(*sizes), strict=True))


@dataclass(frozen=True, slots=True)
class CollectiveAxes:
    """The axes that a collective runs over.

    Attributes:
        axes: The axes, major to minor; empty if the groups follow none, or more than one mesh.
        label: The names of the axes: ``data x model``, or ``no axis``.
        text: The same with the number of devices, as a phrase: ``over `model` (4 devices)``.
    """

    axes: tuple[MeshAxis, ...]
    label: str
    text: str


def axes_json(found: Iterable[CollectiveAxes | DeviceMesh | None]) -> list[dict[str, object]]:
    """Return the distinct axes of collectives or meshes as JSON."""
    axes = dict.fromkeys(chain.from_iterable(one.axes for one in found if one is not None))
    return [asdict(axis) for axis in axes]


@query
def meshes_of(dump: Compile) -> tuple[DeviceMesh, ...]:
    """Return the meshes of all partitions of a program, in the order of the texts.

    They are those with names, from the shardings and the collectives of all texts. Without names,
    one mesh has the axes that all shardings, or else all collectives, follow; there is none if they
    contradict each other.
    """
    modules = [file.module for file in (*dump.others, *dump.files) if file.module.header]
    counts = [(one.partition_count, one.replica_count) for one in modules[-1:]]
    count = max(map(max, counts), default=1)
    if not 1 < count <= _MAX_DEVICES:
        return ()
    named: dict[tuple[frozenset[MeshAxis], tuple[int, ...]], DeviceMesh] = {}
    cuts: list[set[int]] = []
    groups: list[set[int]] = []
    for meshes, shardings, others in map(_devices_in, modules):
        for mesh in dict.fromkeys(meshes):
            if mesh.devices.count != count:
                continue
            if not _has_names(mesh):
                cuts.append(_strides([size for _, size in mesh.axes], mesh.devices, count))
                continue
            axes = tuple(MeshAxis(name, size) for name, size in mesh.axes)
            one = DeviceMesh(axes, tuple(map(mesh.devices.at, range(count))))
            named.setdefault((frozenset(one.axes), one.devices), one)
        cuts += [_strides(_tiles(one), one.order, count) for one in shardings]
        listed = (_listed(one, count) for one in others if one.count * (one.size or 0) == count)
        groups += [_stride_of(sorted(one[0])) for one in listed]
    if named:
        return tuple(named.values())
    every = [*cuts, *groups]
    return next(filter(None, (_unnamed_mesh(one, count) for one in (every, cuts, groups))), ())


def collective_axes(
    dump: Compile, module: ModuleIndex, instruction: InstructionLine
) -> CollectiveAxes | None:
    """Return the axes that a collective runs over, None for others and if no mesh is known.

    The instruction can be the collective, or start, end, wrap, or contain it.
    """
    operation = collective_in(module, instruction)
    if operation is None or not (meshes := meshes_of(dump)):
        return None
    pairs = operation.attribute("source_target_pairs")
    groups = operation.attribute("replica_groups")
    channel, ids = operation.attribute("channel_id"), operation.attribute("use_global_device_ids")
    mode = group_mode(
        operation.opcode,
        channel=channel is not None,
        global_ids=ids is not None and ids.text.strip() == "true",
    )
    counts = module.replica_count, module.partition_count
    if 1 not in counts or (mode is GroupMode.REPLICAS and counts[1] > 1):
        return None  # the numbers in the groups are not those of the mesh
    whole = mode is GroupMode.WHOLE_REPLICAS and counts[1] > 1
    span = groups if pairs is None else pairs
    text = "{}" if whole or span is None else span.text.strip()
    return _axes_of_text(meshes, text, are_pairs=pairs is not None)


def cut_axes(meshes: Sequence[DeviceMesh], sharding: Sharding | None, dimension: int) -> str | None:
    """Return the names of the axes along which a dimension is cut, None if they are unknown."""
    if sharding is None:
        return None
    own = sharding.partitions[dimension].axes
    if own and sharding.mesh is not None and _has_names(sharding.mesh):
        return " x ".join(map(str, own))
    order = sharding.order
    if not meshes or order is None or order.count != len(meshes[0].devices):
        return None
    sizes = _tiles(sharding)
    inner, size = prod(sizes[dimension + 1 :]), sizes[dimension]
    starts = (place for place in range(order.count) if place // inner % size == 0)
    groups = tuple(
        tuple(order.at(start + inner * part) for part in range(size)) for start in starts
    )
    found = _described_axes(meshes, groups, are_pairs=False)
    return found.label if found.axes else None


def collective_in(module: ModuleIndex, instruction: InstructionLine) -> InstructionLine | None:
    """Return the collective that an instruction is, starts, ends, wraps, or contains."""
    start = instruction
    if instruction.opcode.endswith(("-done", "-update")):
        start = ModuleFlow(module).async_start(instruction) or instruction
    operation = performed_operation(module, start)
    if without_async_ending(operation.opcode) in COLLECTIVE_OPCODES:
        return operation
    if operation.opcode != "fusion":
        return None
    members = chain.from_iterable(map(module.members, module.called_by(operation)))
    return next((one for one in members if one.opcode in COLLECTIVE_OPCODES), None)


def _devices_in(module: ModuleIndex) -> tuple[list[Mesh], list[Sharding], list[DeviceGroups]]:
    """Return the meshes in a module text, the shardings without mesh, and the other groups."""
    texts: dict[tuple[str, str], None] = {}
    for record in module.instructions.records():
        checkpoint()
        for name in ("sharding", "replica_groups"):
            span = record.attribute(name) if f"{name}=" in record.text else None
            if span is not None:
                texts[name, span.text.strip()] = None
    header = module.header
    meshes = [] if header is None else list(_shardy_meshes(header.text))
    shardings: list[Sharding] = []
    groups: list[DeviceGroups] = []
    for name, text in texts:
        try:
            if name == "sharding":
                found = parse_sharding(text)
                shardings += found.elements if isinstance(found, TupleSharding) else [found]
            else:
                groups.append(parse_device_groups(text))
        except ShardingError:
            continue
    meshes += [one.mesh for one in shardings if one.mesh is not None]
    meshes += [one.mesh for one in groups if isinstance(one, EqualGroups) and one.mesh is not None]
    return meshes, shardings, groups


def _shardy_meshes(header: str) -> Iterator[Mesh]:
    """Yield the meshes in ``xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}`` of a header."""
    for axes, listed in _SHARDY_MESH.findall(header):
        sizes = ",".join(f"'{name}'={size}" for name, size in _SHARDY_AXIS.findall(axes))
        ids = f", device_ids=({listed.replace(' ', '')})" if listed else ""
        try:
            yield parse_mesh(parse_sharding_text("mesh", f"mesh[{sizes}]{ids}", "mesh"))
        except ShardingError:
            continue


def _tiles(sharding: Sharding) -> list[int]:
    """Return the sizes of all dimensions of the devices of a sharding, major to minor."""
    partitions = [one.parts for one in sharding.partitions]
    return partitions + [one.size for one in sharding.subgroups]


def _strides(sizes: Sequence[int], order: DeviceOrder | None, count: int) -> set[int]:
    """Return the strides of the dimensions of an order of devices, and those of its tiles."""
    if order is None or order.count != count or prod(sizes) != count:
        return set()
    dims = order.dims if order.base is None else ()
    found = {prod(dims[place:]) for place in range(len(dims))}
    inner = order.count
    for size in sizes:
        inner //= size
        found |= _stride_of([order.at(inner * place) for place in range(size)])
    return found


def _stride_of(devices: Sequence[int]) -> set[int]:
    """Return the distance of neighbors and the extent of devices, if all distances are equal."""
    steps = {second - first for first, second in pairwise(devices)}
    step = steps.pop() if len(steps) == 1 else 0
    return {step, step * len(devices)} if step > 0 else set()


def _unnamed_mesh(strides: Iterable[set[int]], count: int) -> tuple[DeviceMesh, ...]:
    """Return the mesh with an axis between each two strides; empty if they contradict another."""
    found: set[int] = {1, count}.union(*strides)
    bounds = sorted(found)
    if bounds[-1] != count or any(high % low for low, high in pairwise(bounds)):
        return ()
    sizes = [high // low for low, high in pairwise(bounds)]
    axes = (
        MeshAxis(None, size, low if sizes.count(size) > 1 else None)
        for size, low in zip(sizes, bounds, strict=False)
    )
    return (DeviceMesh(tuple(axes)[::-1], tuple(range(count))),)


def _listed(groups: GroupList | EqualGroups, count: int) -> Groups:
    """Return the devices of each group; an empty list means one group of all."""
    if groups.count == 0:
        return (tuple(range(count)),)
    if isinstance(groups, GroupList):
        return groups.groups
    at, size = groups.order.at, groups.size
    return tuple(
        tuple(map(at, range(start, start + size))) for start in range(0, groups.count * size, size)
    )


@lru_cache(maxsize=1 << 10)
def _axes_of_text(
    meshes: tuple[DeviceMesh, ...], text: str, *, are_pairs: bool
) -> CollectiveAxes | None:
    """Return the axes of the value of ``replica_groups=`` or ``source_target_pairs=``."""
    count = len(meshes[0].devices)
    try:
        parsed = parse_device_groups(text)
    except ShardingError:
        return None
    if isinstance(parsed, EqualGroups) and parsed.order.count > count:
        return None
    if isinstance(parsed, EqualGroups) and parsed.mesh is not None and _has_names(parsed.mesh):
        names = [name for name, _ in parsed.mesh.axes]
        ordered = sorted(parsed.axes, key=lambda axis: (names.index(axis.name), axis.before))
        axes = tuple(MeshAxis(str(axis), axis.size) for axis in ordered if axis.size > 1)
        return _described(axes, _OVER)
    return _described_axes(meshes, _listed(parsed, count), are_pairs=are_pairs)


def _described_axes(
    meshes: Sequence[DeviceMesh], groups: Groups, *, are_pairs: bool
) -> CollectiveAxes:
    axes_of = _axes_of_pairs if are_pairs else _axes_of_groups
    found = filter(None, (axes_of(mesh, groups) for mesh in meshes))
    different = {frozenset(axes): (axes, how) for axes, how in found}
    if not different:
        sizes = set(map(len, groups))
        size = f" of {sizes.pop():,}" if len(sizes) == 1 else ""
        what = "pairs" if are_pairs else f"{count_noun(len(groups), 'group')}{size}"
        return CollectiveAxes((), "no axis", f"{what} that follow no axis")
    if len(different) > 1:
        labels = [axes.label for axes in starmap(_described, different.values())]
        return CollectiveAxes((), " or ".join(labels), f"over {' or '.join(labels)}")
    return _described(*next(iter(different.values())))


def _has_names(mesh: Mesh) -> bool:
    return not all(_INVENTED_NAME.fullmatch(name) for name, _ in mesh.axes)


def _described(axes: tuple[MeshAxis, ...], how: str) -> CollectiveAxes:
    if not axes:
        return CollectiveAxes((), "one device", "within each device")
    names = " x ".join(f"an {one.label}" if one.name is None else f"`{one.name}`" for one in axes)
    devices = f" ({count_noun(prod(axis.size for axis in axes), 'device')})"
    size = "" if axes[0].name is None and len(axes) == 1 else devices
    return CollectiveAxes(axes, " x ".join(axis.label for axis in axes), f"{how} {names}{size}")


def _axes_of_groups(mesh: DeviceMesh, groups: Groups) -> tuple[tuple[MeshAxis, ...], str] | None:
    """Return the axes, or parts of axes, of which each group has all devices."""
    places = mesh.coordinates()
    if sorted(chain.from_iterable(groups)) != sorted(places) or len(set(map(len, groups))) > 1:
        return None
    found = set()
    for group in groups:
        checkpoint()
        columns = zip(*map(places.__getitem__, group), strict=True)
        found.add(tuple(map(_part, mesh.axes, map(frozenset, columns))))
    parts = found.pop()
    axes = tuple(axis for axis in parts if axis is None or axis.size > 1)
    # A group with as many devices as its axes span has all of them.
    known = tuple(filter(None, axes))
    is_whole = not found and prod(axis.size for axis in known) == len(groups[0])
    return (known, _OVER) if is_whole and len(known) == len(axes) else None


@lru_cache(maxsize=1 << 10)
def _part(axis: MeshAxis, positions: frozenset[int]) -> MeshAxis | None:
    """Return the axis, or the part of it as XLA writes it, on which these positions are a line."""
    size = len(positions)
    if size in {1, axis.size}:
        return axis if size == axis.size else MeshAxis(axis.name, 1)
    ordered = sorted(positions)
    strides = sorted(_stride_of(ordered))
    if not strides or axis.name is None:
        return None
    step, extent = strides
    is_aligned = axis.size % extent == 0 and ordered[0] % extent < step
    return MeshAxis(f"{axis.name}:({axis.size // extent}){size}", size) if is_aligned else None


def _axes_of_pairs(mesh: DeviceMesh, pairs: Groups) -> tuple[tuple[MeshAxis, ...], str] | None:
    """Return the axes along which all lines of devices exchange data in the same way."""
    places = mesh.coordinates()
    moves = [(places.get(pair[0]), places.get(pair[-1])) for pair in pairs if len(pair) == 2]
    known = [(one, other) for one, other in moves if one is not None and other is not None]
    if len(known) < len(pairs):
        return None
    columns = zip(*(map(ne, *move) for move in known), strict=True)
    varying = list(map(any, columns))
    axes, fixed = tuple(compress(mesh.axes, varying)), [not one for one in varying]
    index = {at: n for n, at in enumerate(product(*(range(axis.size) for axis in axes)))}
    lines: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for source, target in known:
        along = (index[tuple(compress(one, varying))] for one in (source, target))
        lines.setdefault(tuple(compress(source, fixed)), set()).add((next(along), next(along)))
    first = next(iter(lines.values()))
    if not axes:
        return (), _OVER
    if len(lines) * len(index) != len(places) or any(line != first for line in lines.values()):
        return None
    size = len(index)
    for step in (1, -1):
        ring = {(source, (source + step) % size) for source in range(size)}
        if first == ring:
            return axes, _RING
        if first == {pair for pair in ring if pair[1] - pair[0] == step}:
            return axes, _SHIFT
    is_permutation = len({source for source, _ in first}) == len(first) == size
    if is_permutation:
        return axes, _EXCHANGE
    return (axes, _PAIRS) if len(axes) == 1 else None
