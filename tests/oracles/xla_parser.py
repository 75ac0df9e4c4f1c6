"""Modules as XLA's own parser reads them.

``jaxlib._hlo`` returns a module as a serialized HloModuleProto (``xla/service/hlo.proto``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from hlo_lsp.model.shape import Shape
from hlo_lsp.protos.hlo_messages import CLASSES
from oracles.xla_shape import decode_shape


class XlaParseError(ValueError):
    """An error of XLA's parser."""


@dataclass(frozen=True, slots=True)
class XlaInstruction:
    """An instruction; operands and callees are names, in order."""

    name: str
    opcode: str
    shape: Shape
    is_root: bool
    operands: tuple[str, ...]
    called: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class XlaComputation:
    """A computation; each instruction comes after its operands.

    ``schedule`` lists the names in the order of execution, or is None in an unscheduled module.
    """

    name: str
    instructions: tuple[XlaInstruction, ...]
    schedule: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class XlaModule:
    """A module; ``computations`` come after those they call."""

    name: str
    entry: str
    computations: tuple[XlaComputation, ...]


def parse_with_xla(text: str) -> XlaModule:
    """Parse a module text with XLA, or skip the test without jaxlib.

    Raises:
        XlaParseError: XLA cannot parse the text.
    """
    hlo = pytest.importorskip("jaxlib._hlo", reason="there is no jaxlib 0.10.2 for this Python")
    try:
        module = hlo.hlo_module_from_text(text)
    except RuntimeError as error:
        raise XlaParseError(str(error)) from None
    proto = CLASSES["HloModuleProto"].FromString(module.as_serialized_hlo_module_proto())
    schedules = {entry.key: entry.value.instruction_ids for entry in proto.schedule.sequences}
    names = {computation.id: computation.name for computation in proto.computations}
    return XlaModule(
        proto.name,
        proto.entry_computation_name,
        tuple(_computation(each, names, schedules.get(each.id)) for each in proto.computations),
    )


def _computation(
    proto: Any, computations: Mapping[int, str], order: Iterable[int] | None
) -> XlaComputation:
    # The upper half of an id is that of the computation.
    names = {_local_id(each.id): each.name for each in proto.instructions}
    return XlaComputation(
        proto.name,
        tuple(
            XlaInstruction(
                each.name,
                each.opcode,
                decode_shape(each.shape.SerializeToString()),
                _local_id(each.id) == _local_id(proto.root_id),
                tuple(names[_local_id(operand)] for operand in each.operand_ids),
                tuple(computations[called] for called in each.called_computation_ids),
            )
            for each in proto.instructions
        ),
        None if order is None else tuple(names[_local_id(number)] for number in order),
    )


def _local_id(number: int) -> int:
    return number & 0xFFFF_FFFF
