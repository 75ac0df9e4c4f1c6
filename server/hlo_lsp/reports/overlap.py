"""Asynchronous operations of a compile, and those that overlap with no computation."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.exposure import ExposureCause, exposure_cause
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.cost.utilization import NetworkTransfer, network_transfers
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.display.table import Content, Table
from hlo_lsp.memory.savings import Proof, is_negligible
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
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
from hlo_lsp.text.inert import Json

_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """An asynchronous operation, or a synchronous collective, maybe in a fusion.

    Attributes:
        start: The start of the operation, or the synchronous collective.
        kind: The operation: ``copy``, ``all-gather``.
        bytes: Logical bytes of the result in each execution.
        executions: How often it runs in one run of the program.
        origin: The origin of the data of an exposed operation.
        axes: The axes that a collective runs over, None if they are unknown.
        role: Why a collective is there, None if it is unknown.
        operation: The asynchronous operation, None for a synchronous collective.
        spaces: The names of the memory spaces that an asynchronous operation reads and writes.
    """

    start: InstructionLine
    kind: str
    bytes: int
    executions: int
    origin: Origin | None
    axes: CollectiveAxes | None
    role: CollectiveRole | None
    operation: AsyncOperation | None = None
    spaces: tuple[str, ...] = ()

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of all executions."""
        return self.bytes * self.executions

    @property
    def is_exposed(self) -> bool:
        """True if no computation runs meanwhile."""
        return self.operation is None or self.operation.is_exposed

    @property
    def title(self) -> str:
        """The kind, with the memory spaces if they differ."""
        if self.operation is None:
            return f"{self.kind}, synchronous"
        return f"{self.kind} {' -> '.join(self.spaces)}" if len({*self.spaces}) > 1 else self.kind

    @property
    def text(self) -> str:
        """The names of the instructions, and the role or else the origin of the data."""
        label = "" if self.origin is None else self.origin.label
        end = "" if self.operation is None else f" -> {self.operation.done.name}"
        return f"{self.start.name}{end} {label if self.role is None else self.role.text}".rstrip()

    @property
    def axis(self) -> str:
        """The names of the axes of a collective, empty for others and if unknown."""
        return "" if self.axes is None else self.axes.label


@dataclass(frozen=True, slots=True)
class OverlapGroup:
    """Operations with something in common, such as their kind or their axes.

    Attributes:
        least_ps: The least time of one run on the network in picoseconds, 0 without a chip, and for
            groups by kind.
        uncovered_ps: The part of it that is longer than the work meanwhile.
    """

    rows: tuple[OverlapRow, ...]
    least_ps: float = 0.0
    uncovered_ps: float = 0.0

    @property
    def bytes(self) -> int:
        """Logical bytes of one execution of each."""
        return sum(one.bytes for one in self.rows)

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of all executions."""
        return sum(one.bytes_per_run for one in self.rows)

    @property
    def exposed(self) -> "OverlapGroup":
        """The operations that overlap with no computation."""
        return OverlapGroup(tuple(one for one in self.rows if one.is_exposed))


@dataclass(frozen=True, slots=True)
class Overlap:
    """The operations of a compile that move data, asynchronous and synchronous.

    ``asynchronous`` is None if the module text is missing or not scheduled. ``offload`` are the
    values that the program asks to keep in host memory, the largest first. ``synchronous`` are the
    collectives that are not asynchronous, the largest first. ``network`` are all collectives with
    their least times on ``chip``, None if they are unknown. ``missing_part`` is the reason why the
    text is only a part of the program, None if it is whole. ``unknown_loops`` is true if one of all
    operations is in a loop of unknown trip count, of which one iteration counts. ``unbounded`` are
    the operations of unknown size, which count as nothing. The axes of collectives are those of
    ``meshes``. ``program`` has the cost of the operations, for causes. ``proofs`` are about causes
    by their options.
    """

    name: str
    path: str
    asynchronous: tuple[OverlapRow, ...] | None
    offload: tuple[OffloadRequest, ...] = ()
    synchronous: tuple[OverlapRow, ...] = ()
    chip: Chip | None = None
    network: tuple[NetworkTransfer, ...] | None = None
    missing_part: str | None = None
    unknown_loops: bool = False
    unbounded: tuple[str, ...] = ()
    meshes: tuple[DeviceMesh, ...] = ()
    program: ProgramCost | None = field(default=None, hash=False)
    proofs: Mapping[str, Proof] = field(default_factory=dict, hash=False)

    @property
    def at_least(self) -> bool:
        """True if the bytes are lower bounds."""
        return self.unknown_loops or bool(self.unbounded)

    @property
    def totals(self) -> list[OverlapGroup]:
        """The asynchronous operations by kind and memory spaces, those with most bytes first."""
        found = _groups(self.asynchronous or (), lambda one: (one.kind, one.spaces))
        return sorted(found, key=lambda one: (-one.exposed.bytes, -one.bytes, one.rows[0].kind))

    @property
    def synchronous_totals(self) -> list[OverlapGroup]:
        """The synchronous collectives by kind, those with most bytes first."""
        return sorted(_groups(self.synchronous, lambda one: one.kind), key=lambda one: -one.bytes)

    @property
    def kinds(self) -> list[OverlapGroup]:
        """All operations by kind, those that expose most bytes first."""
        return sorted(
            [*self.totals, *self.synchronous_totals],
            key=lambda one: (-one.exposed.bytes_per_run, -one.bytes_per_run, one.rows[0].title),
        )

    @property
    def exposed(self) -> list[OverlapRow]:
        """The exposed asynchronous operations, the largest first."""
        found = (one for one in self.asynchronous or () if one.is_exposed)
        return sorted(found, key=lambda one: -one.bytes)

    @property
    def waiting(self) -> list[OverlapRow]:
        """All exposed operations, also the synchronous ones, that with most bytes first."""
        return sorted([*self.exposed, *self.synchronous], key=lambda one: -one.bytes_per_run)

    @property
    def fused(self) -> list[tuple[OverlapRow, AsyncOperation]]:
        """The collectives that start and end in fusions, the largest first."""
        rows = (one for total in self.totals for one in total.rows)
        found = [(one, one.operation) for one in rows if one.operation and one.operation.is_fused]
        return sorted(found, key=lambda one: -one[0].bytes)

    @property
    def by_start(self) -> Mapping[InstructionLine, OverlapRow]:
        """All operations by their starts."""
        return {one.start: one for one in (*(self.asynchronous or ()), *self.synchronous)}

    @property
    def placed(self) -> list[OverlapRow]:
        """The collectives of known axes."""
        groups = (*self.totals, OverlapGroup(self.synchronous))
        return [one for group in groups for one in group.rows if one.axes is not None]

    @property
    def by_axis(self) -> list[OverlapGroup]:
        """The collectives by their axes, those with most time or else bytes first."""
        times = {one.start: one for one in self.network or ()}
        found = []
        for group in _groups(self.placed, lambda one: one.axis):
            known = [times[one.start] for one in group.rows if one.start in times]
            found.append(OverlapGroup(group.rows, *_network_ps(known)))
        return sorted(found, key=lambda one: (-one.least_ps, -one.bytes_per_run, one.rows[0].axis))

    def cause(self, row: OverlapRow) -> ExposureCause | None:
        """Return why a collective is exposed, None for other operations."""
        if self.program is None or row.kind not in COLLECTIVE_OPCODES:
            return None
        times = (one.least_ps for one in self.network or () if one.start is row.start)
        operations = (one.operation for one in self.asynchronous or ())
        others = [one for one in operations if one is not None and one.start is not row.start]
        cause = exposure_cause(self.program, row.start, row.kind, next(times, None), others)
        return replace(cause, proven=self.proofs.get(cause.option or ""))


def _groups(
    rows: Iterable[OverlapRow], key: Callable[[OverlapRow], object]
) -> Iterator[OverlapGroup]:
    """Yield the operations with equal keys, in the order of the first one."""
    members: dict[object, list[OverlapRow]] = {}
    for one in rows:
        members.setdefault(key(one), []).append(one)
    return (OverlapGroup(tuple(group)) for group in members.values())


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
    collectives = sorted(synchronous_collectives(file.module), key=lambda each: -each[-1])
    results = [one.done for one in found if one.is_exposed]
    results += [one for one, *_ in collectives]
    origins = origins_of(dump, ((one.name, None) for one in results))

    def row(
        start: InstructionLine, kind: str, size: int, operation: AsyncOperation | None = None
    ) -> OverlapRow:
        result = start if operation is None else operation.done
        spaces = () if operation is None else (operation.source_space, operation.target_space)
        return OverlapRow(
            start,
            kind,
            size,
            counts.of(start).count,
            origins.get((result.name, None)),
            collective_axes(dump, file.module, start),
            collective_role(dump, LocatedRecord(file, start)),
            operation,
            tuple(space_title(space, dump.backend) for space in spaces),
        )

    offload = offload_requests(dump)
    rows = tuple(row(one.start, one.kind, one.bytes, one) for one in found)
    synchronous = tuple(row(*each) for each in collectives)
    results = [one.done for one in found]
    results += [one.start for one in synchronous]
    results += [one.instruction for one in offload]
    program = program_cost(dump, chip)
    network = None if program is None else network_transfers(program)
    return Overlap(
        name,
        path,
        rows,
        offload,
        synchronous,
        chip,
        None if network is None else tuple(network),
        missing,
        not all(counts.of(one.start).is_exact for one in (*rows, *synchronous)),
        tuple(one.name for one in results if is_unbounded(one.shape)),
        meshes_of(dump),
        program,
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
        cause = overlap.cause(one)
        if cause is not None and cause.option is not None:
            kinds.setdefault(cause.option, set()).add(one.kind)
    proofs = {option: prove(option, frozenset(names)) for option, names in kinds.items()}
    return replace(overlap, proofs=proofs)


def overlap_content(overlap: Overlap, count: int, title: str) -> Content:
    """Yield the text and the tables, with at most ``count`` exposed operations."""
    if overlap.asynchronous is None:
        problem = overlap.missing_part or "no scheduled module text"
        yield f"{title}: {problem}, so the overlap is unknown"
        return
    if overlap.missing_part is not None:
        yield f"{title}: only a part of the program: {overlap.missing_part}"
    kinds = overlap.kinds
    number = len(overlap.asynchronous)
    parts = [
        count_noun(number, "asynchronous operation") if number else "no asynchronous operations"
    ]
    if overlap.synchronous:
        parts.append(count_noun(len(overlap.synchronous), "synchronous collective"))
    text = f"{title}: {' and '.join(parts)}"
    if kinds:
        size = format_short_bytes(sum(one.bytes_per_run for one in kinds))
        text += f", {'at least ' * overlap.at_least}{size} in one run"
    if exposed := overlap.waiting:
        size = format_short_bytes(sum(one.bytes_per_run for one in exposed))
        text += f"; exposed {len(exposed):,}, {size} (no computation runs meanwhile)"
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
    yield from _exposed_content(exposed, sum(one.bytes_per_run for one in kinds), count)
    yield from _cause_content(overlap, count)
    yield from _fused_content(overlap, count)
    yield from _network_content(overlap, count)
    yield from _offload_content(overlap, count)


def _kind_content(kinds: Sequence[OverlapGroup]) -> Content:
    """Yield the table of all kinds, which adds up to the first line."""
    if not kinds:
        return
    rows = [(*_group_cells(one), one.rows[0].title) for one in kinds]
    yield Table((">bytes", ">exposed bytes", ">operations", ">exposed", "kind"), rows)


def _group_cells(group: OverlapGroup) -> tuple[str, ...]:
    """Return the bytes and the number of operations, of all and of the exposed ones."""
    exposed = group.exposed
    sizes = map(format_short_bytes, (group.bytes_per_run, exposed.bytes_per_run))
    return (*sizes, f"{len(group.rows):,}", f"{len(exposed.rows):,}")


def _exposed_content(found: Sequence[OverlapRow], total: int, count: int) -> Content:
    """Yield the table of the exposed operations, which adds up to those of all kinds.

    Those with less than 1% of ``total``, the bytes of all operations, share a row.
    """
    if not found:
        return
    rows: list[tuple[str, ...]] = []
    has_axes = any(one.axis for one in found)
    for one in [one for one in found if not is_negligible(one.bytes_per_run, total, 1)][:count]:
        sizes = map(format_short_bytes, (one.bytes_per_run, one.bytes))
        rows.append((*sizes, f"{one.executions:,}", *[one.axis] * has_axes, one.text))
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
        cause = overlap.cause(one)
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
        rows.append((*times, *_group_cells(one), one.rows[0].axis))
    titles = [">network", ">longer by"] if any(one.least_ps for one in found) else []
    rows = [("",) * (len(titles) + 5 - len(row)) + row for row in rows]
    yield Table((*titles, ">bytes", ">exposed bytes", ">collectives", ">exposed", "axis"), rows)


def _fused_content(overlap: Overlap, count: int) -> Content:
    """Yield the collectives that start and end in fusions: they look like computation."""
    found = overlap.fused
    if not found:
        return
    size = format_short_bytes(sum(one.bytes_per_run for one, _ in found))
    yield f"{count_noun(len(found), 'collective')} of them in fusions, {size}"
    rows: list[tuple[str, ...]] = []
    for one, operation in found[:count]:
        size = format_short_bytes(one.bytes_per_run)
        name = f"{one.kind} {one.start.name} -> {operation.done.name}"
        rows.append((size, count_noun(operation.work, "instruction"), name))
    rest = found[count:]
    if rest:
        size = format_short_bytes(sum(one.bytes_per_run for one, _ in rest))
        rows.append((size, "", f"in {len(rest):,} more"))
    yield Table((">bytes", ">work meanwhile", "in fusions"), rows)


def _network_content(overlap: Overlap, count: int) -> Content:
    """Yield the least times of collectives, and by how much the work meanwhile is shorter."""
    if not overlap.network or overlap.chip is None:
        return
    yield network_line(overlap.chip, overlap.network)
    rows: list[tuple[str, ...]] = []
    has_axes = bool(overlap.placed)
    axes = {start: row.axis for start, row in overlap.by_start.items()}
    for one in overlap.network[:count]:
        end = "" if one.done is None else f" -> {one.done.name}"
        work = format_time(one.work_ps) if one.work_ps else "none"
        times = format_time(one.least_ps), format_time(one.uncovered_ps)
        axis = [axes.get(one.start, "")] * has_axes
        rows.append((*times, work, *axis, f"{one.start.name}{end}"))
    rest = overlap.network[count:]
    if rest:
        least, longer = map(format_time, _network_ps(rest))
        rows.append((least, longer, "", *[""] * has_axes, f"in {len(rest):,} more"))
    title = ["axis"] * has_axes
    yield Table((">network", ">longer by", ">work meanwhile", *title, "collective"), rows)


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
    exposed = {one.start for one in overlap.exposed}
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
        rows.append((size, "", "", f"in {len(rest):,} more"))
    yield Table((">bytes", ">each", ">executions", "value"), rows)


def overlap_json(overlap: Overlap, count: int) -> Json:
    """Return the operations as JSON; see docs/json_schema.md."""
    is_known = overlap.asynchronous is not None
    total = sum(each.bytes_per_run for each in overlap.kinds)
    exposed = sum(each.bytes_per_run for each in overlap.waiting)
    return {
        "path": overlap.path,
        "complete": is_known and overlap.missing_part is None,
        "bytes_per_run": total if is_known else None,
        "exposed_bytes_per_run": exposed if is_known else None,
        "at_least": overlap.at_least,
        "totals": list(map(_total_json, overlap.totals)) if is_known else None,
        "exposed": [
            {
                "start": each.start.name,
                "done": each.operation and each.operation.done.name,
                "bytes": each.bytes,
                "executions": each.executions,
                "source": _source(each.origin),
                "argument": each.origin and each.origin.argument,
                **collective_json(each),
                "cause": _cause_json(overlap, each),
            }
            for each in overlap.exposed[:count]
        ],
        "fused": [
            {
                "kind": each.kind,
                "start": each.start.name,
                "done": operation.done.name,
                "bytes": each.bytes,
                "work": operation.work,
                "executions": each.executions,
                **collective_json(each),
            }
            for each, operation in overlap.fused[:count]
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
            for request in overlap.offload
        ],
        "network": _network_json(overlap, count),
        "synchronous_totals": [
            {
                "kind": total.rows[0].kind,
                "count": len(total.rows),
                "bytes": total.bytes,
                "bytes_per_run": total.bytes_per_run,
            }
            for total in overlap.synchronous_totals
        ],
        "synchronous": [
            {
                "instruction": each.start.name,
                "kind": each.kind,
                "bytes": each.bytes,
                "executions": each.executions,
                "source": _source(each.origin),
                **collective_json(each),
                "cause": _cause_json(overlap, each),
            }
            for each in overlap.synchronous[:count]
        ],
        "meshes": [axes_json([mesh]) for mesh in overlap.meshes],
        "by_axis": [
            _axis_total_json(total, overlap.network is not None) for total in overlap.by_axis
        ],
    }


def _total_json(total: OverlapGroup) -> Json:
    source, target = total.rows[0].spaces
    exposed = total.exposed
    return {
        "kind": total.rows[0].kind,
        "from": source,
        "to": target,
        "count": len(total.rows),
        "bytes": total.bytes,
        "exposed_count": len(exposed.rows),
        "exposed_bytes": exposed.bytes,
        "bytes_per_run": total.bytes_per_run,
        "exposed_bytes_per_run": exposed.bytes_per_run,
    }


def _source(origin: Origin | None) -> str | None:
    return None if origin is None or origin.source is None else str(origin.source)


def collective_json(row: OverlapRow | None) -> Json:
    """Return the axes of a collective, and why it is there, as JSON."""
    axes, role = (None, None) if row is None else (row.axes, row.role)
    return {
        "axes": None if axes is None else axes_json([axes]),
        "role": None if role is None else asdict(role),
    }


def _cause_json(overlap: Overlap, row: OverlapRow) -> Json | None:
    cause = overlap.cause(row)
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


def _axis_total_json(total: OverlapGroup, has_times: bool) -> Json:
    first, exposed = total.rows[0], total.exposed
    return {
        "axes": axes_json([first.axes]),
        "label": first.axis,
        "count": len(total.rows),
        "exposed_count": len(exposed.rows),
        "bytes_per_run": total.bytes_per_run,
        "exposed_bytes_per_run": exposed.bytes_per_run,
        "least_seconds": in_seconds(total.least_ps) if has_times else None,
        "uncovered_seconds": in_seconds(total.uncovered_ps) if has_times else None,
    }


def _network_json(overlap: Overlap, count: int) -> Json | None:
    if overlap.network is None or overlap.chip is None:
        return None
    least, uncovered = _network_ps(overlap.network)
    rows = overlap.by_start
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
                **collective_json(rows.get(one.start)),
            }
            for one in overlap.network[:count]
        ],
    }
