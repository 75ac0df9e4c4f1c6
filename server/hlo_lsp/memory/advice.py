"""Advice on the peak of a memory space, with the bytes that it saves.

The order is that of XLA's decision tree for the error E1000 (CompileTimeHbmOom): donation, types,
padding, replication, rematerialization, offload. After the change, another step may be the peak, so
that it saves less. ``tests/oracles/test_advice.py`` compares savings with the peaks of changed
programs: they save at least three quarters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.hlo.vocabulary import narrower_type
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.donation_savings import IdleDonation, donation_saving, idle_donations
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.lost_bytes import tuple_table_bytes
from hlo_lsp.memory.occupancy_and_peaks import (
    SpaceOccupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.memory.savings import MIN_SAVED_BYTES, MIN_SAVED_SHARE, is_negligible
from hlo_lsp.model.backend import Backend, is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import ArrayShape, try_shape, without_layout, without_memory_space
from hlo_lsp.program.donation import is_part_of_program
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module
from hlo_lsp.text.amounts import format_short_bytes

_MIN_INPUT_SHARE = 0.05  # of all activations; smaller arrays are not inputs of layers
_LIVE_SHARE_OF_LAYER = 0.5  # of a layer that is computed again, at its peak
_MAX_NAMED_ARGUMENTS = 3
_MAX_IDLE_ARGUMENTS = 20  # the largest ones: the search for their uses takes time


class AdviceKind(Enum):
    """The kinds of advice, in the order in which they are given."""

    DONATION = "donation"
    IN_PLACE = "in place"
    DTYPE = "dtype"
    PADDING = "padding"
    REPLICATION = "replication"
    REMATERIALIZATION = "rematerialization"
    OFFLOAD = "offload"
    TUPLE_TABLES = "tuple tables"

    def applies_to(self, backend: Backend) -> bool:
        """Return True unless a program cannot follow the advice on a backend, or saves nothing.

        A CPU has no other memory to offload to, and XLA computes narrow types there in wider ones.
        Only TPUs pad arrays, and align the slots of tuple tables.
        """
        return backend is Backend.UNKNOWN or backend in _BACKENDS.get(self, {backend})


_BACKENDS = {
    AdviceKind.DTYPE: {Backend.GPU, Backend.TPU},
    AdviceKind.OFFLOAD: {Backend.GPU, Backend.TPU},
    AdviceKind.PADDING: {Backend.TPU},
    AdviceKind.TUPLE_TABLES: {Backend.TPU},
}


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of the program, with the bytes that it saves at most at the peak.

    ``saves_allocated_bytes`` are more than these if the allocation has bytes that are not part of
    the peak, such as the slots of tuple tables, which XLA does not reuse for other tables.
    ``buffer`` is the largest buffer that the advice is about, None for a donation.
    """

    kind: AdviceKind
    text: str
    saves_bytes: int
    saves_allocated_bytes: int = 0
    buffer: LiveBuffer | None = None

    @property
    def price(self) -> str:
        """The saving as text: ``saves at most 4.00 MiB``."""
        saved = f"saves at most {format_short_bytes(self.saves_bytes)}"
        if self.saves_allocated_bytes <= self.saves_bytes:
            return saved
        allocated = f"{format_short_bytes(self.saves_allocated_bytes)} of the allocations"
        if not self.saves_bytes:
            return f"saves at most {allocated}, but nothing at the peak"
        return f"{saved} at the peak and {allocated}"


def advice(
    dump: Compile,
    buffers: Sequence[OwnedBuffer],
    occupancy: SpaceOccupancy,
    *,
    with_negligible: bool = False,
) -> list[Advice]:
    """Return advice on a memory space at its peak, for the backend of the compile.

    Negligible savings are left out, unless ``with_negligible``. XLA fills on-chip memory with what
    fits, so that only the padding of its buffers is of interest.
    """
    if is_on_chip(occupancy.space, dump.backend):
        found = list(_padding(dump, buffers))
        return _worth(dump, found, occupancy, with_negligible=with_negligible)
    found = [
        *_donation(dump, occupancy),
        *_in_place(dump, occupancy),
        *_types(dump, buffers),
        *_padding(dump, buffers),
        *_replication(dump, buffers),
        *_rematerialization(dump, buffers),
        *_tuple_tables(dump, buffers, occupancy),
    ]
    return _worth(dump, found, occupancy, with_negligible=with_negligible)


def _worth(
    dump: Compile, found: Iterable[Advice], occupancy: SpaceOccupancy, *, with_negligible: bool
) -> list[Advice]:
    """Return advice that applies to the backend and saves enough."""
    peak = occupancy.peak_bytes
    return [
        one
        for one in found
        if one.kind.applies_to(dump.backend)
        and (
            with_negligible
            or not is_negligible(max(one.saves_bytes, one.saves_allocated_bytes), peak)
        )
    ]


@query
def advice_at_peaks(dump: Compile, with_negligible: bool) -> tuple[Advice, ...]:
    """Return the advice on the largest memory space off the chip, and on on-chip memory."""
    occupancies = memory_space_occupancies(dump)
    largest = largest_off_chip_space(occupancies, dump.backend)
    return tuple(
        one
        for occupancy in occupancies
        if occupancy is largest or is_on_chip(occupancy.space, dump.backend)
        for one in advice(
            dump,
            owned_buffers(dump, live_buffers(dump, occupancy.space, occupancy.peak_step)),
            occupancy,
            with_negligible=with_negligible,
        )
    )


def _donation(dump: Compile, occupancy: SpaceOccupancy) -> Iterator[Advice]:
    file = module_at_buffer_assignment(dump)
    if file is None or is_part_of_program(file.module):
        return
    usable = _large_arguments(
        one
        for one in donated_arguments(dump) or ()
        if one.state is DonationState.USABLE and one.space == occupancy.space
    )
    if usable:
        yield Advice(
            AdviceKind.DONATION,
            f"donate {_arguments(usable)} of the shape of an output (`donate_argnums`)",
            donation_saving(dump, usable, occupancy),
        )


def _large_arguments(arguments: Iterable[Argument]) -> list[Argument]:
    """Return those of the arguments of the function with 1% of the bytes of the largest or more."""
    groups: dict[str, list[Argument]] = {}
    for one in arguments:
        groups.setdefault(_of_function(one.name), []).append(one)
    sizes = {name: sum(one.bytes for one in group) for name, group in groups.items()}
    least = MIN_SAVED_SHARE * max(sizes.values(), default=0)
    return [one for name, group in groups.items() if sizes[name] >= least for one in group]


def _of_function(name: str) -> str:
    """Return the argument of the function that a path such as ``params['w']`` begins with."""
    return re.split(r"[\[.]", name)[0]


def _arguments(arguments: Sequence[Argument]) -> str:
    """Return the names of a few arguments; of many, those of the arguments of the function."""
    count, names = count_noun(len(arguments), "argument"), [one.name for one in arguments]
    if len(names) > _MAX_NAMED_ARGUMENTS:
        names = list(dict.fromkeys(_of_function(name) for name in sorted(names)))
        rest = len(names) - _MAX_NAMED_ARGUMENTS
        names = [f"`{name}`" for name in names[:_MAX_NAMED_ARGUMENTS]]
        return f"{count} in {', '.join(names)}{f' and {rest:,} more' if rest > 0 else ''}"
    return f"{count}, {', '.join(f'`{name}`' for name in names)},"


def _in_place(dump: Compile, occupancy: SpaceOccupancy) -> Iterator[Advice]:
    found = [
        one
        for one in idle_donations(dump, occupancy.space, MIN_SAVED_BYTES, _MAX_IDLE_ARGUMENTS)
        if one.saves_bytes and one.instruction is not None
    ]
    if not found:
        return
    first = max(found, key=lambda one: one.saves_bytes)
    more = f"; so are {count_noun(len(found) - 1, 'other')}" if len(found) > 1 else ""
    assert first.instruction is not None
    yield Advice(
        AdviceKind.IN_PLACE,
        f"use the bytes of the donated argument `{first.argument.name}`, which are idle "
        f"{first.argument.idle_text}: `{first.instruction.name}` could write its result there, "
        f"but {first.reason}{more}",
        sum(one.saves_bytes for one in found),
        buffer=_buffer_of(dump, first),
    )


def _buffer_of(dump: Compile, idle: IdleDonation) -> LiveBuffer | None:
    for located in dump.allocations():
        if located.record.number == idle.allocation:
            return LiveBuffer(located, None, located.record.size, 0)
    return None


def _types(dump: Compile, buffers: Sequence[OwnedBuffer]) -> Iterator[Advice]:
    temporaries = [one for one in buffers if one.buffer.allocation.record.preallocated_temp]
    on_chip = sum(
        located.record.size
        for located in dump.allocations()
        if located.record.preallocated_temp and is_on_chip(located.record.color, dump.backend)
    )
    wide: dict[str, list[OwnedBuffer]] = {}
    for owned in temporaries:
        shape = None if owned.buffer.value is None else try_shape(owned.buffer.value.record.shape)
        if isinstance(shape, ArrayShape) and narrower_type(shape.element_type) is not None:
            wide.setdefault(shape.element_type, []).append(owned)
    for name, members in wide.items():
        count = sum(owned.buffer.bytes for owned in members) // 2
        lines = _lines(dump, members)
        # Of the narrow arrays, more fit into on-chip memory.
        saved = min(2 * count, count + on_chip)
        yield Advice(
            AdviceKind.DTYPE,
            f"compute {name} temporaries in {narrower_type(name)}{lines}",
            saved,
            buffer=members[0].buffer,
        )


def _padding(dump: Compile, buffers: Sequence[OwnedBuffer]) -> Iterator[Advice]:
    padded = [owned for owned in buffers if owned.buffer.padding and not _is_scalar(owned)]
    groups = group_buffers(dump, padded, GroupKey.SHAPE)
    groups.sort(key=lambda group: -sum(owned.buffer.padding for owned in group.buffers))
    if groups:
        shape = groups[0].name
        saved = sum(owned.buffer.padding for owned in padded)
        yield Advice(
            AdviceKind.PADDING,
            f"avoid padding, most of it in arrays of shape `{shape}`",
            saved,
            buffer=groups[0].buffers[0].buffer,
        )


def _is_scalar(owned: OwnedBuffer) -> bool:
    value = owned.buffer.value
    shape = None if value is None else try_shape(value.record.shape)
    return isinstance(shape, ArrayShape) and not shape.dims


def _replication(dump: Compile, buffers: Sequence[OwnedBuffer]) -> Iterator[Advice]:
    file = module_at_buffer_assignment(dump)
    partitions = 1 if file is None else file.module.partition_count
    if partitions < 2:
        return
    whole_shapes = _unpartitioned_shapes(dump)
    replicated = [owned for owned in buffers if _is_replicated(owned, whole_shapes)]
    total = sum(owned.buffer.bytes for owned in replicated)
    # Each device gathers an array while it uses it, at least the largest one.
    largest = max((owned.buffer.bytes for owned in replicated), default=0)
    saved = total * (partitions - 1) // partitions - largest
    if saved > 0:
        yield Advice(
            AdviceKind.REPLICATION,
            f"partition {count_noun(len(replicated), 'replicated argument')} over "
            f"{partitions:,} devices",
            saved,
            buffer=replicated[0].buffer,
        )


def _unpartitioned_shapes(dump: Compile) -> dict[int, str]:
    """Return the shapes of the arguments before partitioning by parameter number."""
    file = unoptimized_module(dump)
    entry = None if file is None else file.module.entry
    if file is None or entry is None:
        return {}
    parameters = file.module.computation(entry).parameters
    return {number: without_layout(line.shape) for number, line in parameters.items()}


def _is_replicated(owned: OwnedBuffer, whole_shapes: Mapping[int, str]) -> bool:
    """Return whether an argument has the sharding ``{replicated}``, or the shape of the array.

    Since the partitioner Shardy, the parameters of a partitioned module have no sharding.
    """
    if not owned.is_argument or owned.origin is None:
        return False
    parameter = owned.origin.instruction.record
    sharding = parameter.parsed.attribute("sharding")
    if sharding is not None:
        return sharding.text.strip() == "{replicated}"
    number = parameter_number(parameter)
    return number is not None and whole_shapes.get(number) == without_layout(parameter.shape)


def _rematerialization(dump: Compile, buffers: Sequence[OwnedBuffer]) -> Iterator[Advice]:
    kept = [
        group for group in group_buffers(dump, buffers, GroupKey.ROLE) if group.name == "activation"
    ]
    if not kept:
        return
    lines = _lines(dump, kept[0].buffers)
    saved = rematerialization_saving(kept[0].buffers)
    if saved:
        yield Advice(
            AdviceKind.REMATERIALIZATION,
            f"recompute activations in the backward pass (`jax.checkpoint`){lines}",
            saved,
            buffer=kept[0].buffers[0].buffer,
        )
    yield Advice(
        AdviceKind.OFFLOAD,
        f"offload activations to host memory{lines}",
        kept[0].bytes,
        buffer=kept[0].buffers[0].buffer,
    )


def rematerialization_saving(activations: Iterable[OwnedBuffer]) -> int:
    """Return the bytes that ``jax.checkpoint`` around each layer saves at a peak.

    The activations of the layers of a network have the same operations and shapes. A loop stacks
    them along the first dimension. The input of each layer is kept: the smallest of its large
    activations. While a layer runs backward, part of its activations exists again. The saving is 0
    if there is only one layer.
    """
    layers: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    units: Counter[tuple[str, str]] = Counter()  # bytes of one layer
    for owned in activations:
        value, origin = owned.buffer.value, owned.origin
        if value is None or origin is None:
            continue
        key = origin.op_name or "", without_memory_space(value.record.shape)
        stacked = _stacked_layers(key)
        layers[key] = max(stacked, layers[key]) if stacked > 1 else layers[key] + 1
        sizes[key] += owned.buffer.bytes
        units[key] = owned.buffer.bytes // stacked
    total = sum(sizes.values())
    large = [key for key, size in sizes.items() if size >= _MIN_INPUT_SHARE * total]
    count = max((layers[key] for key in large), default=0)
    if count < 2:
        return 0
    inputs = min(units[key] for key in large if 2 * layers[key] >= count) * count
    return max(0, int(total - inputs - _LIVE_SHARE_OF_LAYER * total / count))


def _stacked_layers(key: tuple[str, str]) -> int:
    """Return the number of layers that a loop stacked in an array."""
    op_name, text = key
    shape = try_shape(text)
    if "/while/" not in op_name or "dynamic_update_slice" not in op_name:
        return 1
    if not isinstance(shape, ArrayShape) or not shape.dims:
        return 1
    return shape.dims[0].size or 1


def _tuple_tables(
    dump: Compile, buffers: Sequence[OwnedBuffer], occupancy: SpaceOccupancy
) -> Iterator[Advice]:
    allocated = tuple_table_bytes(dump, occupancy.space)
    if allocated:
        tables = (one.buffer for one in buffers if one.buffer.allocation.record.preallocated_temp)
        yield Advice(
            AdviceKind.TUPLE_TABLES,
            "use fewer and larger arrays, for example stacked layers for `jax.lax.scan`: each "
            "tuple, including that of each asynchronous copy, has a table in an aligned slot",
            tuple_table_bytes(dump, occupancy.space, occupancy.peak_step),
            allocated,
            next(tables, None),
        )


def _lines(dump: Compile, buffers: Iterable[OwnedBuffer]) -> str:
    """Return the Python line with most bytes as a part of a sentence."""
    groups = group_buffers(dump, buffers, GroupKey.LINE)
    sources = [(group.source, group.bytes) for group in groups if group.source is not None]
    if not sources:
        return ""
    source, count = sources[0]
    return f", starting with {source.short} ({format_short_bytes(count)})"
