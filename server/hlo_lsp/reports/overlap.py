"""Asynchronous operations of a compile, and those that overlap with no computation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.network import NetworkTransfer, network_transfers
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.memory.data_origin import Origin, origins_of, source_label
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.display import count_noun, format_seconds, format_short_bytes, more_line
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.sections import missing_part
from hlo_lsp.program.offload import OffloadRequest, offload_requests
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.program.transfers import (
    AsyncOperation,
    async_operations,
    synchronous_collectives,
)
from hlo_lsp.reports.summary import module_name
from hlo_lsp.syntax.module_records import InstructionLine

Json = dict[str, Any]


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
    """A synchronous collective, maybe in a fusion, with the logical bytes of its result."""

    instruction: InstructionLine
    kind: str
    bytes: int
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """The asynchronous operations of a compile, with the origins of the exposed ones.

    ``totals`` is None if the module text is missing or not scheduled. ``offload`` are the values
    that the program asks to keep in host memory, the largest first. ``synchronous`` are the
    collectives that are not asynchronous, the largest first. ``network`` are all collectives with
    their least times on ``chip``, None if they are unknown. ``missing_part`` is the reason why the
    text is only a part of the program, None if it is whole.
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
    name, path = module_name(dump), dump.files[0].label
    if file is None or found is None:
        return Overlap(name, path, None, missing_part=missing)
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
    return Overlap(
        name,
        path,
        tuple(totals),
        tuple((one, origins.get((one.done.name, None))) for one in exposed),
        offload_requests(dump),
        _collectives(dump, file),
        chip,
        _network(dump, chip),
        missing,
    )


def _network(dump: Compile, chip: Chip | None) -> tuple[NetworkTransfer, ...] | None:
    program = None if chip is None else program_cost(dump, chip)
    found = None if program is None else network_transfers(program)
    return None if found is None else tuple(found)


def _collectives(dump: Compile, file: DumpFile) -> tuple[Collective, ...]:
    found = sorted(synchronous_collectives(file.module), key=lambda each: -each[-1])
    origins = origins_of(dump, ((one.name, None) for one, *_ in found))
    return tuple(Collective(*each, origins.get((each[0].name, None))) for each in found)


def overlap_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the lines of the text form, with at most ``count`` exposed operations."""
    if overlap.totals is None:
        problem = overlap.missing_part or "no scheduled module text"
        yield f"{overlap.name}: {problem}, so the overlap is unknown"
        return
    if overlap.missing_part is not None:
        yield f"{overlap.name}: only a part of the program: {overlap.missing_part}"
    total = sum(one.bytes for one in overlap.totals)
    exposed = sum(one.exposed_bytes for one in overlap.totals)
    number = sum(len(one.operations) for one in overlap.totals)
    if not number:
        yield f"{overlap.name}: no asynchronous operations"
        yield from _collective_lines(overlap, count)
        yield from _network_lines(overlap, count)
        yield from _offload_lines(overlap, count)
        return
    text = _exposed(len(overlap.exposed), exposed)
    yield (
        f"{overlap.name}: {count_noun(number, 'asynchronous operation')}, "
        f"{format_short_bytes(total)}{text and f'{text} (no computation runs meanwhile)'}"
    )
    for one in overlap.totals:
        text = _exposed(len(one.exposed), one.exposed_bytes)
        size = format_short_bytes(one.bytes)
        yield f"  {one.kind}{_route(one)}: {len(one.operations):,}, {size}{text}"
    for operation, origin in overlap.exposed[:count]:
        place = "" if origin is None else f" {origin.label}"
        yield (
            f"  {format_short_bytes(operation.bytes):>11}  {operation.start.name} -> "
            f"{operation.done.name}{place}".rstrip()
        )
    yield from more_line(overlap.exposed, count)
    yield from _fused_lines(overlap, count)
    yield from _collective_lines(overlap, count)
    yield from _network_lines(overlap, count)
    yield from _offload_lines(overlap, count)


def _fused_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the collectives that start and end in fusions: they look like computation."""
    found = overlap.fused
    if not found:
        return
    size = format_short_bytes(sum(one.bytes for one in found))
    yield f"{count_noun(len(found), 'collective')} of them in fusions, {size}"
    for one in found[:count]:
        during = count_noun(one.work, "instruction")
        yield (
            f"  {format_short_bytes(one.bytes):>11}  {one.kind} {one.start.name} -> "
            f"{one.done.name}, {during} meanwhile"
        )
    yield from more_line(found, count)


def _collective_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the synchronous collectives: the sums of each kind, and the largest ones."""
    found = overlap.synchronous
    if not found:
        return
    size = format_short_bytes(sum(one.bytes for one in found))
    number = count_noun(len(found), "synchronous collective")
    yield f"{number}, {size} (no computation runs meanwhile)"
    for kind, sizes in _sizes_by_kind(found).items():
        yield f"  {kind}: {len(sizes):,}, {format_short_bytes(sum(sizes))}"
    for one in found[:count]:
        place = "" if one.origin is None else f" {one.origin.label}"
        yield f"  {format_short_bytes(one.bytes):>11}  {one.instruction.name}{place}".rstrip()
    yield from more_line(found, count)


def _network_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the least time of collectives, and those that the work meanwhile does not cover."""
    if not overlap.network or overlap.chip is None:
        return
    yield network_line(overlap.chip, overlap.network)
    found = [one for one in overlap.network if one.uncovered_seconds]
    for one in found[:count]:
        end = "" if one.done is None else f" -> {one.done.name}"
        work = format_seconds(one.work_seconds)
        during = f", {work} of work meanwhile" if one.work_seconds else ""
        yield f"  {format_seconds(one.uncovered_seconds):>11}  {one.start.name}{end}{during}"
    yield from more_line(found, count)


def network_line(chip: Chip, network: Sequence[NetworkTransfer]) -> str:
    """Return the least time of collectives, and the part of it that no work covers."""
    least, uncovered = map(format_seconds, _network_seconds(network))
    return (
        f"network of {chip.title}: at least {least}, {uncovered} more than"
        " the least time of the work meanwhile"
    )


def _network_seconds(found: Sequence[NetworkTransfer]) -> tuple[float, float]:
    """Return the least time of all collectives, and the part that no work covers."""
    least = sum((one.seconds for one in found), 0.0)
    return least, sum((one.uncovered_seconds for one in found), 0.0)


def _sizes_by_kind(found: Sequence[Collective]) -> dict[str, list[int]]:
    """Return the bytes of the collectives of each kind, those with most bytes first."""
    sizes: dict[str, list[int]] = {}
    for one in found:
        sizes.setdefault(one.kind, []).append(one.bytes)
    return dict(sorted(sizes.items(), key=lambda item: -sum(item[1])))


def _offload_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the values for host memory: those that are not there, then the others."""
    requests = overlap.offload
    if not requests:
        return
    moved = [one for one in requests if one.transfer is not None]
    yield (
        f"host memory: {len(moved):,} of {count_noun(len(requests), 'requested value')} offloaded, "
        f"{format_short_bytes(sum(one.bytes for one in moved))} of "
        f"{format_short_bytes(sum(one.bytes for one in requests))}"
    )
    exposed = {operation.start for operation, _ in overlap.exposed}
    for one in sorted(requests, key=lambda one: one.transfer is not None)[:count]:
        place = source_label(one.source, None)
        text = f"  {format_short_bytes(one.bytes):>11}  {one.instruction.shape} {place}".rstrip()
        if one.transfer is None:
            yield f"{text} not offloaded: {one.reason}"
        else:
            start = one.transfer.instruction
            yield f"{text} -> {start.name}{', exposed' if start in exposed else ''}"
    yield from more_line(requests, count)


def _exposed(count: int, size: int) -> str:
    return f"; exposed {count:,}, {format_short_bytes(size)}" if count else ""


def _route(total: KindTotal) -> str:
    return "" if total.source == total.target else f" {total.source} -> {total.target}"


def overlaps_json(found: Sequence[Overlap], count: int) -> list[Json]:
    """Return the operations as JSON; see docs/json_schema.md."""
    return [
        {
            "name": one.name,
            "path": one.path,
            "complete": one.totals is not None and one.missing_part is None,
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
                }
                for total in one.totals
            ],
            "exposed": [
                {
                    "start": operation.start.name,
                    "done": operation.done.name,
                    "bytes": operation.bytes,
                    "source": None
                    if origin is None or origin.source is None
                    else str(origin.source),
                    "argument": None if origin is None else origin.argument,
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
                }
                for each in one.fused[:count]
            ],
            "offload": [
                {
                    "shape": request.instruction.shape,
                    "bytes": request.bytes,
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
                {"kind": kind, "count": len(sizes), "bytes": sum(sizes)}
                for kind, sizes in _sizes_by_kind(one.synchronous).items()
            ],
            "synchronous": [
                {
                    "instruction": each.instruction.name,
                    "kind": each.kind,
                    "bytes": each.bytes,
                    "source": None
                    if each.origin is None or each.origin.source is None
                    else str(each.origin.source),
                }
                for each in one.synchronous[:count]
            ],
        }
        for one in found
    ]


def _network_json(overlap: Overlap, count: int) -> Json | None:
    if overlap.network is None or overlap.chip is None:
        return None
    least, uncovered = _network_seconds(overlap.network)
    return {
        "chip": overlap.chip.name,
        "least_seconds": least,
        "uncovered_seconds": uncovered,
        "collectives": [
            {
                "start": one.start.name,
                "done": None if one.done is None else one.done.name,
                "wire_bytes": one.wire_bytes,
                "least_seconds": one.seconds,
                "work_seconds": one.work_seconds,
                "uncovered_seconds": one.uncovered_seconds,
            }
            for one in overlap.network[:count]
        ],
    }
