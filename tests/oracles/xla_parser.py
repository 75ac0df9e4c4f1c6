"""Modules as XLA's own parser reads them.

``jaxlib._hlo`` returns a module as a serialized HloModuleProto (``xla/service/hlo.proto``). From
jaxlib 0.11 on, the parser also reads operands such as ``%tuple#1``, and adds the
``get-tuple-element`` instructions that the text omits.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pytest

from hlo_lsp.model.shape import Shape
from hlo_lsp.protos.hlo_messages import CLASSES
from oracles.xla_shape import decode_shape

# Operands such as `%tuple#1`, and shardings that name a device.
_NEWER_FORM = re.compile(r"%[\w.\-]+#\d|\{single_device\[")
_ASYNC_WITH_BODY = re.compile(r"-start\(.*=$", re.MULTILINE)
_MODULE_WITH_ELEMENT = """HloModule m
ENTRY %e {
  %t = (f32[]) parameter(0)
  ROOT %n = f32[] negate(%t#0)
}
"""


class XlaParseError(ValueError):
    """An error of XLA's parser."""


@dataclass(frozen=True, slots=True)
class XlaInstruction:
    """An instruction; operands and callees are names, in order.

    ``element`` is the number that a ``get-tuple-element`` reads.
    """

    name: str
    opcode: str
    shape: Shape
    is_root: bool
    operands: tuple[str, ...]
    called: tuple[str, ...]
    element: int = 0


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
    try:
        module = xla_hlo().hlo_module_from_text(text)
    except RuntimeError as error:
        raise XlaParseError(str(error)) from None
    return decode_module(module.as_serialized_hlo_module_proto())


def xla_hlo() -> Any:
    """Return ``jaxlib._hlo``, or skip the test without it."""
    return pytest.importorskip("jaxlib._hlo", reason="there is no jaxlib 0.10.2 for this Python")


@lru_cache
def reads_elements() -> bool:
    """Return whether the installed parser reads operands such as ``%tuple#1``."""
    try:
        parse_with_xla(_MODULE_WITH_ELEMENT)
    except XlaParseError:
        return False
    return True


def is_readable(text: str) -> bool:
    """Return whether the installed parser reads the form of a module text."""
    return reads_elements() or _NEWER_FORM.search(text) is None


def ends_the_process(text: str) -> bool:
    """Return whether the installed parser fails with a segmentation fault.

    That of jaxlib 0.12 does for an asynchronous instruction with the body of its computation.
    """
    return reads_elements() and _ASYNC_WITH_BODY.search(text) is not None


def decode_module(serialized: bytes) -> XlaModule:
    """Return the module of a serialized HloModuleProto."""
    proto = CLASSES["HloModuleProto"].FromString(serialized)
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
                each.tuple_index,
            )
            for each in proto.instructions
        ),
        None if order is None else tuple(names[_local_id(number)] for number in order),
    )


def _local_id(number: int) -> int:
    return number & 0xFFFF_FFFF
