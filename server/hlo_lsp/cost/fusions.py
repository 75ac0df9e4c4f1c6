"""The bytes that a fusion reads and writes; its other instructions stay in registers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hlo_lsp.cost.operation import OperandIndex, element_count, leaf_texts
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import selected_element
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.unprinted_instructions import element_of
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_IMMEDIATE_ELEMENTS = 1  # A larger constant is read from memory.
_MAX_FUSION_DEPTH = 20  # fusions inside of fusions; real ones have 1


class Access(NamedTuple):
    """An array, or a part of one, that is read or written; ``array`` is None for the whole."""

    shape: str
    array: str | None = None


def fusion_accesses(
    operands: OperandIndex,
    body: Computation,
    shape: str,
    *,
    by_users: bool,
    aliases: Sequence[tuple[int, int]] = (),
) -> Sequence[Access]:
    """Return what a fusion writes and reads.

    Args:
        operands: The operands of the instructions of the module.
        body: The fused computation.
        shape: The shape of the result.
        by_users: Count what a fusion inside of it reads once for each of its users, as XLA does: a
            root has none. Otherwise, it counts once.
        aliases: The elements of the result that have the buffer of an operand, with its number.
            Nothing moves if the fusion only passes the operand on, or if the element is the result
            of a collective that an earlier fusion has started, and the operand its buffer.
    """
    passed = frozenset(_passed_on(operands, body, aliases))
    reader = _FusionReader(operands, passed, by_users=by_users)
    return [*reader.written(body, shape), *reader.read(body)]


def _passed_on(
    operands: OperandIndex, body: Computation, aliases: Sequence[tuple[int, int]]
) -> Iterator[InstructionLine]:
    """Yield the parameters and the collectives that move nothing in a fusion."""
    root = body.root
    producers = [] if root is None or root.opcode != "tuple" else operands.of(root)
    for element, number in aliases:
        producer = producers[element] if element < len(producers) else None
        parameter = body.parameters.get(number)
        if producer is None or parameter is None:
            continue
        is_continued = is_collective(producer.opcode) and parameter not in operands.of(producer)
        if producer is parameter or is_continued:
            yield producer


class _FusionReader:
    """Finds what the parameters and the root of a fusion access."""

    def __init__(
        self, operands: OperandIndex, passed: frozenset[InstructionLine], *, by_users: bool
    ) -> None:
        self._operands = operands
        self._passed = passed
        self._by_users = by_users

    def written(self, body: Computation, shape: str) -> Iterator[Access]:
        """Yield the arrays of the result; a dynamic-update-slice writes only its update."""
        root = body.root
        elements = element_texts(shape)
        if root is None:
            yield from map(Access, leaf_texts(shape))
        elif elements is None:
            yield from self._result(root, shape)
        else:
            operands = self._operands.of(root) if root.opcode == "tuple" else []
            producers = [*operands, *[None] * (len(elements) - len(operands))]
            for producer, element in zip(producers, elements, strict=False):
                yield from self._result(producer, element)

    def _result(self, producer: InstructionLine | None, shape: str) -> Iterator[Access]:
        if producer in self._passed:
            return
        is_array = element_texts(shape) is None
        if producer is not None and producer.opcode == "dynamic-update-slice" and is_array:
            for update in self._operands.of(producer)[1:2]:
                if update is not None:
                    yield Access(update.shape, shape)
        else:
            yield from map(Access, leaf_texts(shape))

    def read(self, body: Computation) -> Iterator[Access]:
        """Yield the parts of the operands and the large constants that are read."""
        constants = (member.shape for member in body.members if member.opcode == "constant")
        large = (shape for shape in constants if element_count(shape) > _MAX_IMMEDIATE_ELEMENTS)
        yield from map(Access, large)
        for each in body.parameters.values():
            yield from self._parameter(body, each, each.shape)

    def _parameter(self, body: Computation, value: InstructionLine, shape: str) -> Iterator[Access]:
        elements = element_texts(shape)
        if elements is None:
            yield from self._reads(body, value, 0)
        else:
            for number, element in enumerate(elements):
                yield from self._parameter(body, self._element(body, value, number), element)

    def _element(self, body: Computation, value: InstructionLine, number: int) -> InstructionLine:
        """Return the instruction that reads an element of a tuple, or the tuple without one."""
        users = self._operands.users(body, value)
        named = (user for user in users if user.opcode == "get-tuple-element")
        element = element_of(value, number)
        if element is not None and self._operands.users(body, element):
            return element
        return next((user for user in named if selected_element(user) == number), value)

    def _reads(self, body: Computation, value: InstructionLine, depth: int) -> list[Access]:
        """Return what the users of a parameter read of it, each part once or per slice."""
        found: list[Access] = []
        is_read_whole = False
        for user in self._operands.users(body, value):
            if user in self._passed or (value in self._passed and user is body.root):
                continue
            sliced = self._sliced(user, value)
            if user.opcode == "fusion":
                found += self._nested_fusion(body, user, value, depth + 1)
            elif sliced is not None:
                found += sliced
            elif user.opcode in {"broadcast", "reshape"}:
                found.append(Access(value.shape))
            elif not is_read_whole:
                is_read_whole = True
                found.append(Access(value.shape))
        return found

    def _sliced(self, user: InstructionLine, value: InstructionLine) -> Sequence[Access] | None:
        """Return what an operation on slices reads, or None if it reads the whole."""
        if user.opcode == "slice":
            return [Access(user.shape, value.shape)]
        if user.opcode not in {"dynamic-slice", "dynamic-update-slice"}:
            return None
        if next(iter(self._operands.of(user)), None) is not value:
            return None
        if user.opcode == "dynamic-update-slice":
            return ()
        return [Access(user.shape, value.shape)]

    def _nested_fusion(
        self, outer: Computation, fusion: InstructionLine, value: InstructionLine, depth: int
    ) -> list[Access]:
        """Return what a fusion inside of the fusion reads of a parameter."""
        called = self._operands.called_by(fusion)
        if not called or depth > _MAX_FUSION_DEPTH:
            return []
        body = self._operands.module.computation(called[0])
        first = [] if body.root is None else self._operands.of(body.root)[:1]
        found: list[Access] = []
        for number, operand in enumerate(self._operands.of(fusion)):
            parameter = body.parameters.get(number)
            if operand is not value or parameter is None:
                continue
            if not self._by_users:
                found += self._reads(body, parameter, depth)
                continue
            is_simple, is_read_whole = not first or first[0] is parameter, False
            for user in self._operands.users(outer, fusion):
                sliced = self._sliced(user, fusion) if is_simple else None
                if sliced is not None:
                    found += sliced
                elif not is_read_whole:
                    is_read_whole = True
                    found += self._reads(body, parameter, depth)
        return found


def is_collective(opcode: str) -> bool:
    """Return whether an opcode, or the start of one, exchanges data between devices."""
    return opcode.removesuffix("-start") in COLLECTIVE_OPCODES
