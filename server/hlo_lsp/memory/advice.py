"""Advice on the peak of a memory space, with the bytes that it saves at most, or about.

The order is that of XLA's decision tree for the error E1000 (CompileTimeHbmOom): donation, types,
padding, replication, rematerialization, offload. After the change, another step may be the peak, so
that it saves less. ``tests/oracles/test_advice.py`` compiles programs with and without the change
of each kind with a bound: none saves more, and eight of ten save at least half of it. A donation
has only an estimate: with the memory that it frees, XLA can also move other arrays on the chip.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.hlo.vocabulary import narrower_type
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.donation_savings import donation_saving, idle_donations
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.occupancy_and_peaks import (
    SpaceOccupancy,
    largest_off_chip_space,
    memory_space_occupancies,
)
from hlo_lsp.memory.savings import (
    ABOUT,
    AT_MOST,
    MIN_SAVED_BYTES,
    MIN_SAVED_SHARE,
    Proof,
    is_negligible,
    saving_text,
)
from hlo_lsp.model.backend import Backend, is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import ArrayShape, try_shape, without_layout, without_memory_space
from hlo_lsp.program.donation import is_part_of_program
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module
from hlo_lsp.text.amounts import format_short_bytes

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

    def applies_to(self, backend: Backend) -> bool:
        """Return True unless a program cannot follow the advice on a backend, or saves nothing.

        A CPU has no other memory to offload to, and XLA computes narrow types there in wider ones.
        Only TPUs pad arrays.
        """
        return backend is Backend.UNKNOWN or backend in _BACKENDS.get(self, {backend})


_BACKENDS = {
    AdviceKind.DTYPE: {Backend.GPU, Backend.TPU},
    AdviceKind.OFFLOAD: {Backend.GPU, Backend.TPU},
    AdviceKind.PADDING: {Backend.TPU},
}


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of the program, with the bytes at the peak that it is about.

    Attributes:
        buffer: The largest buffer that the advice is about, None for a donation.
        label: ``at most`` for a bound, ``about`` for an estimate; None if the change can save more
            than these bytes, or often saves far less.
        donated: The numbers of the arguments to donate.
        proof: What the compiler says, None if it was not asked.
    """

    kind: AdviceKind
    text: str
    bytes: int
    buffer: LiveBuffer | None = None
    label: str | None = AT_MOST
    donated: tuple[int, ...] = ()
    proof: Proof | None = None

    @property
    def saves_bytes(self) -> int | None:
        """The bytes that the change saves at most, or about; None if that is unknown."""
        return None if self.label is None else self.bytes

    @property
    def price(self) -> str:
        """The saving as text: ``saves at most 4.00 MiB``."""
        estimate = saving_text(self.saves_bytes, self.label or AT_MOST)
        if self.proof is None:
            return estimate
        saved = self.proof.saved
        if saved is None:
            return f"{estimate}; not compiled: {self.proof.problem}"
        is_close = self.bytes <= 2 * saved and is_negligible(saved - self.bytes, self.bytes)
        note = "" if is_close else f"; estimate: {self.label} {format_short_bytes(self.bytes)}"
        verb = "saves" if saved >= 0 else "the peak grows by"
        return f"{verb} {format_short_bytes(abs(saved))} (compiled{note})"


def advice(
    dump: Compile,
    buffers: Sequence[OwnedBuffer],
    occupancy: SpaceOccupancy,
    *,
    with_negligible: bool = False,
) -> list[Advice]:
    """Return advice on a memory space at its peak, for the backend of the compile.

    Negligible savings are left out, unless ``with_negligible``. XLA fills on-chip memory with what
    fits, so that only the padding of its buffers is of interest, and other buffers take its place.
    """
    if is_on_chip(occupancy.space, dump.backend):
        found = [replace(one, label=None) for one in _padding(dump, buffers)]
    else:
        found = [
            *_donation(dump, occupancy),
            *_in_place(dump, occupancy),
            *_types(dump, buffers),
            *_padding(dump, buffers),
            *_replication(dump, buffers),
            *_rematerialization(dump, buffers),
        ]
    return [
        one
        for one in found
        if one.kind.applies_to(dump.backend)
        and (with_negligible or not is_negligible(one.bytes, occupancy.peak_bytes))
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
            label=ABOUT,
            donated=tuple(sorted({one.number for one in usable})),
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
    result = None if first.allocation is None else dump.allocation(first.allocation)
    yield Advice(
        AdviceKind.IN_PLACE,
        f"use the {format_short_bytes(first.argument.bytes)} of the donated argument "
        f"`{first.argument.name}`, which are idle {first.argument.idle_text}: "
        f"`{first.instruction.name}` could write its result there, "
        f"but {first.reason}{more}",
        sum(one.saves_bytes for one in found),
        buffer=None if result is None else LiveBuffer(result, None, result.record.size, 0),
        label=None,
    )


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
        total = sum(owned.buffer.bytes for owned in members)
        text = f"compute {name} temporaries in {narrower_type(name)}{_lines(dump, members)}"
        # Of the narrow arrays, more fit in on-chip memory.
        moved = min(on_chip, sum(one.buffer.bytes for one in members) // 2)
        if moved:
            text += f": half of {format_short_bytes(total)}, and what then fits in on-chip memory"
        yield Advice(AdviceKind.DTYPE, text, total // 2 + moved, buffer=members[0].buffer)


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
    if total:
        yield Advice(
            AdviceKind.REPLICATION,
            f"partition {count_noun(len(replicated), 'replicated argument')} "
            f"({format_short_bytes(total)}) over {partitions:,} devices",
            total * (partitions - 1) // partitions,
            buffer=replicated[0].buffer,
            label=None,  # XLA partitions temporaries and outputs with them
        )


def _unpartitioned_shapes(dump: Compile) -> dict[int, str]:
    """Return the shapes of the arguments before partitioning by parameter number."""
    file = unoptimized_module(dump)
    parameters = {} if file is None else file.module.parameters
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
    groups = group_buffers(dump, buffers, GroupKey.ROLE)
    kept = next((group for group in groups if group.name == "activation"), None)
    if kept is None:
        return
    lines, buffer = _lines(dump, kept.buffers), kept.buffers[0].buffer
    if _has_layers(kept.buffers):
        yield Advice(
            AdviceKind.REMATERIALIZATION,
            f"recompute activations in the backward pass (`jax.checkpoint`){lines}",
            kept.bytes,
            buffer,
        )
    text = f"offload activations to host memory{lines}"
    yield Advice(AdviceKind.OFFLOAD, text, kept.bytes, buffer, label=None)


def _has_layers(activations: Iterable[OwnedBuffer]) -> bool:
    """Return whether activations are those of several layers, so that one is needed at a time.

    Layers have the same operations and shapes, or are iterations of a loop.
    """
    found: Counter[tuple[str, str]] = Counter()
    for owned in activations:
        value, origin = owned.buffer.value, owned.origin
        if value is not None and origin is not None:
            name = origin.op_name or ""
            found[name, without_memory_space(value.record.shape)] += 2 if "/while/" in name else 1
    return any(count > 1 for count in found.values())


def _lines(dump: Compile, buffers: Iterable[OwnedBuffer]) -> str:
    """Return the Python line with most bytes as a part of a sentence."""
    groups = group_buffers(dump, buffers, GroupKey.LINE)
    sources = [(group.source, group.bytes) for group in groups if group.source is not None]
    if not sources:
        return ""
    source, count = sources[0]
    return f", starting with {source.short} ({format_short_bytes(count)})"
