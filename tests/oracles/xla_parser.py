"""Module text as XLA's own parser reads it.

``jaxlib._hlo`` returns a module as a serialized HloModuleProto. The field numbers are those of
openxla/xla: ``xla/service/hlo.proto`` and ``xla/xla_data.proto``.
"""

from dataclasses import dataclass

import pytest

from hlo_lsp.model.shape import Shape
from oracles.protobuf import Value, as_bytes, as_integer, as_text, fields, integers
from oracles.xla_shape import decode_shape


class XlaParseError(ValueError):
    """An error of XLA's parser, with its message."""


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
    return _module(module.as_serialized_hlo_module_proto())


def _module(message: bytes) -> XlaModule:
    texts = {1: "", 2: ""}
    computations: list[_Computation] = []
    schedules: dict[int, list[int]] = {}
    for number, value in fields(message):
        if number in texts:
            texts[number] = as_text(value)
        elif number == 3:
            computations.append(_Computation(value))
        elif number == 7:
            schedules = dict(_schedule(entry) for _, entry in fields(value))
    names = {computation.id: computation.name for computation in computations}
    return XlaModule(
        texts[1],
        texts[2],
        tuple(each.resolved(names, schedules.get(each.id)) for each in computations),
    )


def _schedule(entry: Value) -> tuple[int, list[int]]:
    """Return a computation and its instructions by id, from HloScheduleProto.sequences."""
    computation = 0
    order: list[int] = []
    for number, value in fields(entry):
        if number == 1:
            computation = as_integer(value)
        elif number == 2:
            order = [each for _, packed in fields(value) for each in integers(packed)]
    return computation, order


class _Computation:
    """A HloComputationProto, in which instructions and computations have ids."""

    def __init__(self, message: Value) -> None:
        self.name = ""
        self.id = self._root = 0
        self._instructions: list[_Instruction] = []
        for number, value in fields(message):
            if number == 1:
                self.name = as_text(value)
            elif number == 2:
                self._instructions.append(_Instruction(value))
            elif number == 5:
                self.id = as_integer(value)
            elif number == 6:
                self._root = as_integer(value)

    def resolved(self, computations: dict[int, str], order: list[int] | None) -> XlaComputation:
        # The upper half of an id is the computation, the same for all of these.
        names = {_low(each.id): each.name for each in self._instructions}
        return XlaComputation(
            self.name,
            tuple(
                XlaInstruction(
                    each.name,
                    each.opcode,
                    decode_shape(each.shape),
                    _low(each.id) == _low(self._root),
                    tuple(names[_low(operand)] for operand in each.operands),
                    tuple(computations[called] for called in each.called),
                )
                for each in self._instructions
            ),
            None if order is None else tuple(names[_low(number)] for number in order),
        )


class _Instruction:
    """A HloInstructionProto."""

    def __init__(self, message: Value) -> None:
        self.name = self.opcode = ""
        self.shape = b""
        self.id = 0
        self.operands: list[int] = []
        self.called: list[int] = []
        for number, value in fields(message):
            if number == 1:
                self.name = as_text(value)
            elif number == 2:
                self.opcode = as_text(value)
            elif number == 3:
                self.shape = as_bytes(value)
            elif number == 35:
                self.id = as_integer(value)
            elif number == 36:
                self.operands += integers(value)
            elif number == 38:
                self.called += integers(value)


def _low(number: int) -> int:
    return number & 0xFFFF_FFFF
