"""Asynchronous operations of a compile, and those that overlap with no computation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlo_lsp.memory.data_origin import Origin, origins_of, source_label
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.display import count_noun, format_short_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.program.offload import OffloadRequest, offload_requests
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.program.transfers import AsyncOperation, async_operations
from hlo_lsp.reports.summary import module_name

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
class Overlap:
    """The asynchronous operations of a compile, with the origins of the exposed ones.

    ``totals`` is None if the module text is missing or not scheduled. ``offload`` are the values
    that the program asks to keep in host memory, the largest first.
    """

    name: str
    path: str
    totals: tuple[KindTotal, ...] | None
    exposed: tuple[tuple[AsyncOperation, Origin | None], ...] = ()
    offload: tuple[OffloadRequest, ...] = ()


def overlap_of(dump: DumpSet) -> Overlap:
    """Return the asynchronous operations of a compile, the largest exposed ones first."""
    file = module_at_buffer_assignment(dump)
    found = None if file is None else async_operations(file.module)
    name, path = module_name(dump), dump.files[0].label
    if found is None:
        return Overlap(name, path, None)
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
    )


def overlap_lines(overlap: Overlap, count: int) -> Iterator[str]:
    """Yield the lines of the text form, with at most ``count`` exposed operations."""
    if overlap.totals is None:
        yield f"{overlap.name}: no scheduled module text, so the overlap is unknown"
        return
    total = sum(one.bytes for one in overlap.totals)
    exposed = sum(one.exposed_bytes for one in overlap.totals)
    number = sum(len(one.operations) for one in overlap.totals)
    if not number:
        yield f"{overlap.name}: no asynchronous operations"
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
    if len(overlap.exposed) > count:
        yield f"  {len(overlap.exposed) - count:,} more"
    yield from _offload_lines(overlap, count)


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
    if len(requests) > count:
        yield f"  {len(requests) - count:,} more"


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
        }
        for one in found
    ]
