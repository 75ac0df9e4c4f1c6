"""Donations that save nothing: those that JAX drops, and donated arguments that are copied.

JAX donates whole arguments of a function. It drops the arrays of them that fit no output, with the
warning ``Some donated buffers were not usable``, and the module does not mention these.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.donation_savings import parameter_value
from hlo_lsp.memory.why_alive import BufferUse, lifetime_of
from hlo_lsp.model.buffer_assignment import block_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Value
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.donation import donation_status
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module

_COPIES = frozenset({"copy", "copy-start", "copy-done"})
# The beginning of the path of an array: an element of ``*args`` is an argument of its own.
_FUNCTION_ARGUMENT = re.compile(r"[^\W\d]\w*(?:\[\d+\])?")


@dataclass(frozen=True, slots=True)
class DroppedDonation:
    """An array of a donated argument that fits no output, and the reason."""

    argument: Argument
    donor: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class CopiedDonation:
    """A donated argument whose data is copied to other bytes of its memory space all the same.

    Attributes:
        copy: The copy.
        reader: The last instruction that reads the copy, except the one that writes to the bytes of
            the argument; None if there is none.
        source: The Python line of the reader, None if it is unknown.
        writer: The first instruction that writes new data to the bytes of the argument after the
            copy, with its step; None if it is unknown.
    """

    argument: Argument
    copy: BufferUse
    reader: BufferUse | None
    source: SourceLine | None
    writer: tuple[str, int] | None


def dropped_donations(dump: Compile, count: int) -> tuple[DroppedDonation, ...]:
    """Return the arrays that no output can use of arguments with other arrays that are donated.

    Args:
        dump: The compile.
        count: The maximum number of arrays with a reason.
    """
    arguments = donated_arguments(dump) or ()
    donated = {_function_argument(one) for one in arguments if one.is_donated}
    file = module_at_buffer_assignment(dump)
    original = unoptimized_module(dump)
    found: list[DroppedDonation] = []
    for one in arguments:
        donor = _function_argument(one)
        if one.state is not DonationState.KEPT or donor not in donated or donor is None:
            continue
        status = None
        if file is not None and len(found) < count and one.shape:
            checkpoint()
            before = None if original is None else original.module
            status = donation_status(file.module, one.parameter, one.index, before)
        found.append(DroppedDonation(one, donor, None if status is None else status.obstacle))
    return tuple(found)


def _function_argument(argument: Argument) -> str | None:
    """Return the argument of the Python function that an array is in: ``p`` for ``p['w']``.

    It is None for an array that is an argument itself.
    """
    name = _FUNCTION_ARGUMENT.match(argument.name)
    if name is None or name[0] == argument.name or argument.name[name.end()] not in "[.":
        return None
    return name[0]


def copied_donations(dump: Compile, least: int, count: int) -> tuple[CopiedDonation, ...]:
    """Return the largest donated arguments that are copied as wholes within their memory space.

    Args:
        dump: The compile.
        least: The least number of bytes.
        count: The maximum number of arguments that are examined.
    """
    used = [
        one
        for one in donated_arguments(dump) or ()
        if one.state is DonationState.DONATED and one.bytes >= least
    ]
    return tuple(found for one in used[:count] for found in _copies(dump, one))


def _copies(dump: Compile, argument: Argument) -> Iterator[CopiedDonation]:
    checkpoint()
    value = parameter_value(dump, argument)
    lifetime = None if value is None else lifetime_of(dump, value)
    if value is None or lifetime is None:
        return
    for use in lifetime.uses:
        is_direct = use.is_copy and use.copy is None
        copy = dump.value_at(use.instruction.name) if is_direct else None
        if copy is not None and _is_other_buffer(copy, value, argument):
            writer = _writer(dump, value, use)
            readers = _readers(use, lifetime.uses, writer)
            reader = readers[-1] if readers else None
            owner = None if reader is None else owner_of(dump, reader.instruction.name)
            source = None if owner is None else owner.source
            yield CopiedDonation(argument, use, reader, source, writer)


def _is_other_buffer(copy: Value, value: Value, argument: Argument) -> bool:
    """Return whether a copy has bytes of its own, as many as the argument in its memory space."""
    if copy.allocation is None or value.allocation is None:
        return False
    is_other = copy.allocation.record.number != value.allocation.record.number
    return is_other and copy.space == argument.space and copy.size == argument.bytes


def _readers(
    copy: BufferUse, uses: Iterable[BufferUse], writer: tuple[str, int] | None
) -> list[BufferUse]:
    """Return the uses of a copy by step, without other copies and the writer."""
    return [
        use
        for use in uses
        if use.copy == copy.instruction.name
        and use.instruction.opcode not in _COPIES
        and (writer is None or use.instruction.name != writer[0])
    ]


def _writer(dump: Compile, value: Value, copy: BufferUse) -> tuple[str, int] | None:
    """Return the first instruction that writes to the bytes of an argument after a copy of it."""
    found = []
    for one in () if value.allocation is None else block_of(value.allocation).values:
        live, line = dump.live(one.key), dump.instruction(one.name)
        is_copy = line is not None and line.record.opcode in _COPIES
        if live is not None and copy.step is not None and not is_copy:
            found.append((live.record.start_step, one.name))
    step, name = min((one for one in found if one[0] > (copy.step or 0)), default=(0, ""))
    return (name, step) if name else None
