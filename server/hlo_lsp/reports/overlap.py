"""Asynchronous operations of a compile, and those that overlap with no computation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.exposure import ExposureCause, exposure_cause
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.cost.utilization import NetworkTransfer, network_transfers
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.savings import Proof, is_negligible
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.shape import is_unbounded
from hlo_lsp.program.collective_roles import CollectiveRole, collective_role
from hlo_lsp.program.data_origin import Origin, origins_of, source_label
from hlo_lsp.program.mesh import CollectiveAxes, DeviceMesh, axes_json, collective_axes, meshes_of
from hlo_lsp.program.offload import OffloadRequest, offload_requests
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.program.transfers import (
    COLLECTIVE_OPCODES,
    AsyncOperation,
    async_operations,
    synchronous_collectives,
)
from hlo_lsp.program.trip_counts import Executions
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_short_bytes, format_time, in_seconds

Json = dict[str, Any]
_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class KindTotal:
    """The operations of one kind between two memory spaces."""

    kind: str
    source: str
    target: str
    operations: tuple[AsyncOperation, ...]

    @property
    def bytes(self) -> int:
        """Logical bytes of the results."""
        return sum(one.bytes for one in self.operations)

    @property
    def exposed(self) -> list[AsyncOperation]:
        """The operations that overlap with no computation."""
        return [one for one in self.operations if one.is_exposed]

    @property
    def exposed_bytes(self) -> int:
        """Logical bytes of the exposed operations."""
        return sum(one.bytes for one in self.exposed)


@dataclass(frozen=True, slots=True)
class Collective:
    """A synchronous collective, maybe in a fusion, with the logical bytes of its result.

    ``executions`` is how often it runs in one run of the program.
    """

    instruction: InstructionLine
    kind: str
    bytes: int
    origin: Origin | None
    executions: int = 1

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of all executions."""
        return self.bytes * self.executions


@dataclass(frozen=True, slots=True)
class _Kind:
    """A row of the text: what the operations of one kind move in one run."""

    title: str
    bytes: int
    exposed_bytes: int
    count: int
    exposed_count: int


@dataclass(frozen=True, slots=True)
class _Exposed:
    """A row of the text: an operation during which no computation runs."""

    name: str
    bytes: int
    executions: int
    axis: str
    start: InstructionLine
    kind: str

    @property
    def bytes_per_run(self) -> int:
        return self.bytes * self.executions


@dataclass(frozen=True, slots=True)
class PlacedCollective:
    """A collective with its axes, and the logical bytes of its result in each execution."""

    start: InstructionLine
    kind: str
    bytes: int
    executions: int
    is_exposed: bool
    axes: CollectiveAxes

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of all executions."""
        return self.bytes * self.executions


@dataclass(frozen=True, slots=True)
class AxisTotal:
    """The collectives over the same axes, with the bytes and the times of one run.

    Attributes:
        bytes: Logical bytes of the results.
        least_ps: The least time on the network in picoseconds, 0 without a chip.
        uncovered_ps: The part of it that is longer than the work meanwhile.
    """

    axes: CollectiveAxes
    count: int
    exposed_count: int
    bytes: int
    exposed_bytes: int
    least_ps: float
    uncovered_ps: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """The asynchronous operations of a compile, with the origins of the exposed ones.

    ``totals`` is None if the module text is missing or not scheduled. ``offload`` are the values
    that the program asks to keep in host memory, the largest first. ``synchronous`` are the
    collectives that are not asynchronous, the largest first. ``network`` are all collectives with
    their least times on ``chip``, None if they are unknown. ``missing_part`` is the reason why the
    text is only a part of the program, None if it is whole. ``executions`` is how often each
    asynchronous operation runs, by its start; ``unknown_loops`` is true if one of all operations is
    in a loop of unknown trip count, of which one iteration counts. ``unbounded`` are the operations
    of unknown size, which count as nothing. ``axes`` are those that collectives run over, by the
    collective or its start; they are axes of ``meshes``. ``roles`` say why collectives are
    there, and ``program`` has their cost, for causes. ``proofs`` are about causes by
    their options.
    """

    name: str
    path: str
    totals: tuple[KindTotal, ...] | None
    exposed: tuple[tuple[AsyncOperation, Origin | None], ...] = ()
    offload: tuple[OffloadRequest, ...] = ()
    synchronous: tuple[Collective, ...] = ()
    chip: Chip | None = None
    network: tuple[NetworkTransfer, ...] | None = None
    missing_part: str | None = None
    executions: Mapping[InstructionLine, int] = field(default_factory=dict, hash=False)
    unknown_loops: bool = False
    unbounded: tuple[str, ...] = ()
    meshes: tuple[DeviceMesh, ...] = ()
    axes: Mapping[InstructionLine, CollectiveAxes] = field(default_factory=dict, hash=False)
    roles: Mapping[InstructionLine, CollectiveRole] = field(default_factory=dict, hash=False)
    program: ProgramCost | None = field(default=None, hash=False)
    proofs: Mapping[str, Proof] = field(default_factory=dict, hash=False)

    @property
    def at_least(self) -> bool:
        """True if the bytes are lower bounds."""
        return self.unknown_loops or bool(self.unbounded)

    def bytes_per_run(self, operations: Iterable[AsyncOperation]) -> int:
        """Return the logical bytes of all executions of asynchronous operations."""
        return sum(one.bytes * self.executions.get(one.start, 1) for one in operations)

    @property
    def kinds(self) -> list[_Kind]:
        """All operations by kind, also the synchronous ones: no other one is exposed."""
        found = [
            _Kind(
                f"{total.kind}{_route(total)}",
                self.bytes_per_run(total.operations),
                self.bytes_per_run(total.exposed),
                len(total.operations),
                len(total.exposed),
            )
            for total in self.totals or ()
        ]
        for kind, members in _by_kind(self.synchronous).items():
            size, count = sum(one.bytes_per_run for one in members), len(members)
            found.append(_Kind(f"{kind}, synchronous", size, size, count, count))
        return sorted(found, key=lambda one: (-one.exposed_bytes, -one.bytes, one.title))

    @property
    def waiting(self) -> list[_Exposed]:
        """All exposed operations, also the synchronous ones, that with most bytes first."""
        found = [
            self._row(one, one.start, f" -> {one.done.name}", origin)
            for one, origin in self.exposed
        ]
        found += [self._row(one, one.instruction, "", one.origin) for one in self.synchronous]
        return sorted(found, key=lambda one: -one.bytes_per_run)

    def axis(self, start: InstructionLine) -> str:
        """Return the names of the axes of a collective, empty for others and if unknown."""
        axes = self.axes.get(start)
        return "" if axes is None else axes.label

    def _row(
        self,
        one: AsyncOperation | Collective,
        start: InstructionLine,
        end: str,
        origin: Origin | None,
    ) -> _Exposed:
        """Return the row of an operation, with its role or else the origin of its data."""
        role = self.roles.get(start)
        label = "" if origin is None else origin.label
        name = f"{start.name}{end} {label if role is None else role.text}".rstrip()
        count = one.executions if isinstance(one, Collective) else self.executions.get(start, 1)
        return _Exposed(name, one.bytes, count, self.axis(start), start, one.kind)

    def cause(self, start: InstructionLine, kind: str) -> ExposureCause | None:
        """Return why a collective is exposed, None for other operations."""
        if self.program is None or kind not in COLLECTIVE_OPCODES:
            return None
        times = (one.least_ps for one in self.network or () if one.start is start)
        operations = (one for total in self.totals or () for one in total.operations)
        others = [one for one in operations if one.start is not start]
        cause = exposure_cause(self.program, start, kind, next(times, None), others)
        return replace(cause, proven=self.proofs.get(cause.option or ""))

    @property
    def placed(self) -> list[PlacedCollective]:
        """The collectives of known axes."""
        rows = [
            (one.start, one.kind, one.bytes, self.executions.get(one.start, 1), one.is_exposed)
            for total in self.totals or ()
            for one in total.operations
        ]
        rows += [
            (one.instruction, one.kind, one.bytes, one.executions, True) for one in self.synchronous
        ]
        return [PlacedCollective(*row, self.axes[row[0]]) for row in rows if row[0] in self.axes]

    @property
    def by_axis(self) -> list[AxisTotal]:
        """The collectives by their axes, those with most time or else bytes first."""
        times = {one.start: one for one in self.network or ()}
        groups: dict[str, list[PlacedCollective]] = {}
        for one in self.placed:
            groups.setdefault(one.axes.label, []).append(one)
        found = []
        for members in groups.values():
            known = [times[one.start] for one in members if one.start in times]
            exposed = [one.bytes_per_run for one in members if one.is_exposed]
            total = sum(one.bytes_per_run for one in members)
            counts = len(members), len(exposed), total, sum(exposed)
            found.append(AxisTotal(members[0].axes, *counts, *_network_ps(known)))
        return sorted(found, key=lambda one: (-one.least_ps, -one.bytes, one.axes.label))

    @property
    def fused(self) -> list[AsyncOperation]:
        """The collectives that start and end in fusions, the largest first."""
        found = (one for total in self.totals or () for one in total.operations if one.is_fused)
        return sorted(found, key=lambda one: -one.bytes)


def overlap_of(dump: Compile, chip: Chip | None = None) -> Overlap:
    """Return the asynchronous operations of a compile, the largest exposed ones first.

    Args:
        dump: The compile.
        chip: The chip for the least times of collectives.
    """
    file = module_at_buffer_assignment(dump)
    missing = None if file is None else missing_part(file)
    is_unknown = file is None or file.module.entry is None
    found = None if file is None or is_unknown else async_operations(file.module)
    name, path = dump.module_name, dump.files[0].label
    if file is None or found is None:
        return Overlap(name, path, None, missing_part=missing)
    counts = Executions(file.module)
    groups: dict[tuple[str, str, str], list[AsyncOperation]] = {}
    for one in found:
        spaces = [
            space_title(space, dump.backend) for space in (one.source_space, one.target_space)
        ]
        groups.setdefault((one.kind, spaces[0], spaces[1]), []).append(one)
    totals = [KindTotal(*key, tuple(members)) for key, members in groups.items()]
    totals.sort(key=lambda total: (-total.exposed_bytes, -total.bytes, total.kind))
    exposed = sorted((one for one in found if one.is_exposed), key=lambda one: -one.bytes)
    origins = origins_of(dump, ((one.done.name, None) for one in exposed))
    collectives = _collectives(dump, file, counts)
    moving = [*(one.start for one in found), *(one.instruction for one in collectives)]
    offload = offload_requests(dump)
    results = [one.done for one in found]
    results += [one.instruction for one in collectives]
    results += [one.instruction for one in offload]
    return Overlap(
        name,
        path,
        tuple(totals),
        tuple((one, origins.get((one.done.name, None))) for one in exposed),
        offload,
        collectives,
        chip,
        _network(dump, chip),
        missing,
        {one.start: counts.of(one.start).count for one in found},
        not all(counts.of(one).is_exact for one in moving),
        tuple(one.name for one in results if is_unbounded(one.shape)),
        meshes_of(dump),
        {one: axes for one in moving if (axes := collective_axes(dump, file.module, one))},
        {one: role for one in moving if (role := collective_role(dump, LocatedRecord(file, one)))},
        program_cost(dump, chip),
    )


def with_proofs(
    overlap: Overlap, prove: Callable[[str, frozenset[str]], Proof], count: int
) -> Overlap:
    """Return the operations with proofs of the causes of the first exposed collectives.

    Args:
        overlap: The operations of a compile.
        prove: A function of the options of a cause, and of the kinds of collectives that have it.
        count: The number of collectives.
    """
    kinds: dict[str, set[str]] = {}
    for one in overlap.waiting[:count]:
        cause = overlap.cause(one.start, one.kind)
        if cause is not None and cause.option is not None:
            kinds.setdefault(cause.option, set()).add(one.kind)
    proofs = {option: prove(option, frozenset(names)) for option, names in kinds.items()}
    return replace(overlap, proofs=proofs)


def _network(dump: Compile, chip: Chip | None) -> tuple[NetworkTransfer, ...] | None:
    program = None if chip is None else program_cost(dump, chip)
    found = None if program is None else network_transfers(program)
    return None if found is None else tuple(found)


def _collectives(dump: Compile, file: DumpFile, counts: Executions) -> tuple[Collective, ...]:
    found = sorted(synchronous_collectives(file.module), key=lambda each: -each[-1])
    origins = origins_of(dump, ((one.name, None) for one, *_ in found))
    return tuple(
        Collective(*each, origins.get((each[0].name, None)), counts.of(each[0]).count)
        for each in found
    )


def overlap_content(overlap: Overlap, count: int) -> Content:
    """Yield the text and the tables, with at most ``count`` exposed operations."""
    if overlap.totals is None:
        problem = overlap.missing_part or "no scheduled module text"
        yield f"{overlap.name}: {problem}, so the overlap is unknown"
        return
    if overlap.missing_part is not None:
        yield f"{overlap.name}: only a part of the program: {overlap.missing_part}"
    kinds = overlap.kinds
    number = sum(len(one.operations) for one in overlap.totals)
    parts = [
        count_noun(number, "asynchronous operation") if number else "no asynchronous operations"
    ]
    if overlap.synchronous:
        parts.append(count_noun(len(overlap.synchronous), "synchronous collective"))
    text = f"{overlap.name}: {' and '.join(parts)}"
    if kinds:
        size = format_short_bytes(sum(one.bytes for one in kinds))
        text += f", {'at least ' * overlap.at_least}{size} in one run"
    if exposed := sum(one.exposed_count for one in kinds):
        size = format_short_bytes(sum(one.exposed_bytes for one in kinds))
        text += f"; exposed {exposed:,}, {size} (no computation runs meanwhile)"
    if overlap.network:
        longer = format_time(_network_ps(overlap.network)[1])
        text += f"; collectives take {longer} longer than the work meanwhile"
    yield text
    if overlap.unknown_loops:
        yield "loops of unknown trip count: one iteration counts"
    if overlap.unbounded:
        names = join_limited(list(overlap.unbounded), _MAX_NAMES)
        yield f"{count_noun(len(overlap.unbounded), 'operation')} of unknown size: {names}"
    yield from _kind_content(kinds)
    yield from _axis_content(overlap)
    yield from _exposed_content(overlap.waiting, sum(one.bytes for one in kinds), count)
    yield from _cause_content(overlap, count)
    yield from _fused_content(overlap, count)
    yield from _network_content(overlap, count)
    yield from _offload_content(overlap, count)


def _kind_content(kinds: Sequence[_Kind]) -> Content:
    """Yield the table of all kinds, which adds up to the first line."""
    if not kinds:
        return
    rows: list[tuple[str, ...]] = []
    for one in kinds:
        sizes = map(format_short_bytes, (one.bytes, one.exposed_bytes))
        rows.append((*sizes, f"{one.count:,}", f"{one.exposed_count:,}", one.title))
    yield Table((">bytes", ">exposed bytes", ">operations", ">exposed", "kind"), rows)


def _exposed_content(found: Sequence[_Exposed], total: int, count: int) -> Content:
    """Yield the table of the exposed operations, which adds up to those of all kinds.

    Those with less than 1% of ``total``, the bytes of all operations, share a row.
    """
    if not found:
        return
    rows: list[tuple[str, ...]] = []
    has_axes = any(one.axis for one in found)
    for one in [one for one in found if not is_negligible(one.bytes_per_run, total, 1)][:count]:
        sizes = map(format_short_bytes, (one.bytes_per_run, one.bytes))
        rows.append((*sizes, f"{one.executions:,}", *[one.axis] * has_axes, one.name))
    rest = found[len(rows) :]
    if rest:
        size = format_short_bytes(sum(one.bytes_per_run for one in rest))
        name = f"in {len(rest):,} more" if rows else f"in {count_noun(len(rest), 'operation')}"
        rows.append((size, "", "", *[""] * has_axes, name))
    yield Table((">bytes", ">each", ">executions", *["axis"] * has_axes, "exposed"), rows)


def _cause_content(overlap: Overlap, count: int) -> Content:
    """Yield the known causes of the first exposed collectives."""
    causes: dict[str, list[str]] = {}
    for one in overlap.waiting[:count]:
        cause = overlap.cause(one.start, one.kind)
        if cause is not None and cause.text:
            causes.setdefault(cause.text, []).append(one.start.name)
    rows = [(join_limited(names, _MAX_NAMES), text) for text, names in causes.items()]
    if rows:
        yield Table(("exposed", "cause"), rows)
    yield from dict.fromkeys(note for one in overlap.proofs.values() for note in one.notes)


def _axis_content(overlap: Overlap) -> Content:
    """Yield the meshes, and the table of the collectives over each axis."""
    found = overlap.by_axis
    if not found:
        return
    yield f"mesh: {'; '.join(mesh.text for mesh in overlap.meshes)}"
    rows: list[tuple[str, ...]] = []
    for one in found:
        times = [format_time(one.least_ps), format_time(one.uncovered_ps)] if one.least_ps else []
        sizes = map(format_short_bytes, (one.bytes, one.exposed_bytes))
        rows.append((*times, *sizes, f"{one.count:,}", f"{one.exposed_count:,}", one.axes.label))
    titles = [">network", ">longer by"] if any(one.least_ps for one in found) else []
    rows = [("",) * (len(titles) + 5 - len(row)) + row for row in rows]
    yield Table((*titles, ">bytes", ">exposed bytes", ">collectives", ">exposed", "axis"), rows)


def _fused_content(overlap: Overlap, count: int) -> Content:
    """Yield the collectives that start and end in fusions: they look like computation."""
    found = overlap.fused
    if not found:
        return
    size = format_short_bytes(overlap.bytes_per_run(found))
    yield f"{count_noun(len(found), 'collective')} of them in fusions, {size}"
    rows: list[tuple[str, ...]] = []
    for one in found[:count]:
        size = format_short_bytes(overlap.bytes_per_run([one]))
        name = f"{one.kind} {one.start.name} -> {one.done.name}"
        rows.append((size, count_noun(one.work, "instruction"), name))
    rest = found[count:]
    if rest:
        rows.append((format_short_bytes(overlap.bytes_per_run(rest)), "", f"in {len(rest):,} more"))
    yield Table((">bytes", ">work meanwhile", "in fusions"), rows)


def _network_content(overlap: Overlap, count: int) -> Content:
    """Yield the least times of collectives, and by how much the work meanwhile is shorter."""
    if not overlap.network or overlap.chip is None:
        return
    yield network_line(overlap.chip, overlap.network)
    rows: list[tuple[str, ...]] = []
    has_axes = bool(overlap.axes)
    for one in overlap.network[:count]:
        end = "" if one.done is None else f" -> {one.done.name}"
        work = format_time(one.work_ps) if one.work_ps else "none"
        times = format_time(one.least_ps), format_time(one.uncovered_ps)
        rows.append((*times, work, *[overlap.axis(one.start)] * has_axes, f"{one.start.name}{end}"))
    rest = overlap.network[count:]
    if rest:
        least, longer = map(format_time, _network_ps(rest))
        rows.append((least, longer, "", *[""] * has_axes, f"in {len(rest):,} more"))
    axis = ["axis"] * has_axes
    yield Table((">network", ">longer by", ">work meanwhile", *axis, "collective"), rows)


def network_line(chip: Chip, network: Sequence[NetworkTransfer]) -> str:
    """Return the least time of collectives, and the part of it that no work covers."""
    least, uncovered = map(format_time, _network_ps(network))
    return (
        f"network of {chip.title}: at least {least}, {uncovered} more than"
        " the least time of the work meanwhile"
    )


def _network_ps(found: Sequence[NetworkTransfer]) -> tuple[float, float]:
    """Return the least time of all collectives, and the part that no work covers."""
    least = sum((one.least_ps for one in found), 0.0)
    return least, sum((one.uncovered_ps for one in found), 0.0)


def _by_kind(found: Sequence[Collective]) -> dict[str, list[Collective]]:
    """Return the collectives of each kind, those with most bytes first."""
    members: dict[str, list[Collective]] = {}
    for one in found:
        members.setdefault(one.kind, []).append(one)
    return dict(sorted(members.items(), key=lambda item: -sum(one.bytes for one in item[1])))


def _offload_content(overlap: Overlap, count: int) -> Content:
    """Yield the values for host memory: those that are not there, then the others."""
    requests = overlap.offload
    if not requests:
        return
    moved = [one for one in requests if one.transfer is not None]
    yield (
        f"host memory: {len(moved):,} of {count_noun(len(requests), 'requested value')} offloaded, "
        f"{format_short_bytes(sum(one.bytes_per_run for one in moved))} of "
        f"{format_short_bytes(sum(one.bytes_per_run for one in requests))} in one run"
    )
    exposed = {operation.start for operation, _ in overlap.exposed}
    ordered = sorted(requests, key=lambda one: (one.transfer is not None, -one.bytes_per_run))
    rows: list[tuple[str, ...]] = []
    for one in ordered[:count]:
        sizes = map(format_short_bytes, (one.bytes_per_run, one.bytes))
        text = f"{one.instruction.shape} {source_label(one.source, None)}".rstrip()
        if one.transfer is None:
            text += f" not offloaded: {one.reason}"
        else:
            start = one.transfer.instruction
            text += f" -> {start.name}{', exposed' if start in exposed else ''}"
        rows.append((*sizes, f"{one.executions:,}", text))
    rest = ordered[count:]
    if rest:
        size = format_short_bytes(sum(one.bytes_per_run for one in rest))
        name = f"in {len(rest):,} more" if rows else f"in {count_noun(len(rest), 'operation')}"
        rows.append((size, "", "", name))
    yield Table((">bytes", ">each", ">executions", "value"), rows)


def _route(total: KindTotal) -> str:
    return "" if total.source == total.target else f" {total.source} -> {total.target}"


def overlaps_json(found: Sequence[Overlap], count: int) -> list[Json]:
    """Return the operations as JSON; see docs/json_schema.md."""
    return [
        {
            "name": one.name,
            "path": one.path,
            "complete": one.totals is not None and one.missing_part is None,
            "bytes_per_run": None if one.totals is None else sum(each.bytes for each in one.kinds),
            "exposed_bytes_per_run": None
            if one.totals is None
            else sum(each.exposed_bytes for each in one.kinds),
            "at_least": one.at_least,
            "totals": None
            if one.totals is None
            else [
                {
                    "kind": total.kind,
                    "from": total.source,
                    "to": total.target,
                    "count": len(total.operations),
                    "bytes": total.bytes,
                    "exposed_count": len(total.exposed),
                    "exposed_bytes": total.exposed_bytes,
                    "bytes_per_run": one.bytes_per_run(total.operations),
                    "exposed_bytes_per_run": one.bytes_per_run(total.exposed),
                }
                for total in one.totals
            ],
            "exposed": [
                {
                    "start": operation.start.name,
                    "done": operation.done.name,
                    "bytes": operation.bytes,
                    "executions": one.executions.get(operation.start, 1),
                    "source": None
                    if origin is None or origin.source is None
                    else str(origin.source),
                    "argument": None if origin is None else origin.argument,
                    **collective_json(one, operation.start),
                    "cause": _cause_json(one, operation.start, operation.kind),
                }
                for operation, origin in one.exposed[:count]
            ],
            "fused": [
                {
                    "kind": each.kind,
                    "start": each.start.name,
                    "done": each.done.name,
                    "bytes": each.bytes,
                    "work": each.work,
                    "executions": one.executions.get(each.start, 1),
                    **collective_json(one, each.start),
                }
                for each in one.fused[:count]
            ],
            "offload": [
                {
                    "shape": request.instruction.shape,
                    "bytes": request.bytes,
                    "executions": request.executions,
                    "source": None if request.source is None else str(request.source),
                    "instruction": None
                    if request.transfer is None
                    else request.transfer.instruction.name,
                    "reason": request.reason or None,
                }
                for request in one.offload
            ],
            "network": _network_json(one, count),
            "synchronous_totals": [
                {
                    "kind": kind,
                    "count": len(members),
                    "bytes": sum(each.bytes for each in members),
                    "bytes_per_run": sum(each.bytes_per_run for each in members),
                }
                for kind, members in _by_kind(one.synchronous).items()
            ],
            "synchronous": [
                {
                    "instruction": each.instruction.name,
                    "kind": each.kind,
                    "bytes": each.bytes,
                    "executions": each.executions,
                    "source": None
                    if each.origin is None or each.origin.source is None
                    else str(each.origin.source),
                    **collective_json(one, each.instruction),
                    "cause": _cause_json(one, each.instruction, each.kind),
                }
                for each in one.synchronous[:count]
            ],
            "meshes": [axes_json([mesh]) for mesh in one.meshes],
            "by_axis": [_axis_total_json(total, one.network is not None) for total in one.by_axis],
        }
        for one in found
    ]


def collective_json(overlap: Overlap, start: InstructionLine) -> Json:
    """Return the axes of a collective, and why it is there, as JSON."""
    axes, role = overlap.axes.get(start), overlap.roles.get(start)
    return {
        "axes": None if axes is None else axes_json([axes]),
        "role": None if role is None else asdict(role),
    }


def _cause_json(overlap: Overlap, start: InstructionLine, kind: str) -> Json | None:
    cause = overlap.cause(start, kind)
    if cause is None:
        return None
    return {
        "kind": cause.kind,
        "text": cause.text or None,
        "option": cause.option,
        "instruction": cause.instruction,
        "independent_seconds": in_seconds(cause.independent_ps),
        "proven": None if cause.proven is None else asdict(cause.proven),
    }


def _axis_total_json(total: AxisTotal, has_times: bool) -> Json:
    return {
        "axes": axes_json([total.axes]),
        "label": total.axes.label,
        "count": total.count,
        "exposed_count": total.exposed_count,
        "bytes_per_run": total.bytes,
        "exposed_bytes_per_run": total.exposed_bytes,
        "least_seconds": in_seconds(total.least_ps) if has_times else None,
        "uncovered_seconds": in_seconds(total.uncovered_ps) if has_times else None,
    }


def _network_json(overlap: Overlap, count: int) -> Json | None:
    if overlap.network is None or overlap.chip is None:
        return None
    least, uncovered = _network_ps(overlap.network)
    return {
        "chip": overlap.chip.name,
        "least_seconds": in_seconds(least),
        "uncovered_seconds": in_seconds(uncovered),
        "collectives": [
            {
                "start": one.start.name,
                "done": None if one.done is None else one.done.name,
                "wire_bytes": one.wire_bytes,
                "least_seconds": in_seconds(one.least_ps),
                "work_seconds": in_seconds(one.work_ps),
                "uncovered_seconds": in_seconds(one.uncovered_ps),
                **collective_json(overlap, one.start),
            }
            for one in overlap.network[:count]
        ],
    }
