"""The bytes that a fusion reads and writes; its other instructions stay in registers."""

from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import Operation, element_count, leaf_texts
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import selected_element
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.tuple_elements import element_of
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_IMMEDIATE_ELEMENTS = 1  # A larger constant is read from memory.
_MAX_FUSION_DEPTH = 20  # fusions inside of fusions; real ones have 1


def fusion_bytes(
    operands: OperandIndex, body: Computation, fusion: Operation, *, by_users: bool
) -> int:
    """Return the bytes that a fusion accesses.

    Args:
        operands: The operands of the instructions of the module.
        body: The fused computation.
        fusion: The fusion.
        by_users: Count what a fusion inside of it reads once for each of its users, as XLA does: a
            root has none. Otherwise, it counts once.
    """
    reader = _FusionReader(operands, fusion, by_users=by_users)
    return reader.bytes_written(body) + reader.bytes_read(body)


class _FusionReader:
    """Counts the bytes that the parameters and the root of a fusion access."""

    def __init__(self, operands: OperandIndex, fusion: Operation, *, by_users: bool) -> None:
        self._operands = operands
        self._by_users = by_users
        self._size_of = fusion.size_of
        self._shape = fusion.shape

    def bytes_written(self, body: Computation) -> int:
        """Return the bytes of the result; a dynamic-update-slice writes only its update."""
        root = body.root
        elements = element_texts(self._shape)
        if root is None:
            return sum(map(self._size_of, leaf_texts(self._shape)))
        if elements is None:
            return self._bytes_of_result(root, self._shape)
        operands = self._operands.of(root) if root.opcode == "tuple" else []
        producers = [*operands, *[None] * (len(elements) - len(operands))]
        return sum(
            self._bytes_of_result(producer, element)
            for producer, element in zip(producers, elements, strict=False)
        )

    def _bytes_of_result(self, producer: InstructionLine | None, shape: str) -> int:
        is_array = element_texts(shape) is None
        if producer is not None and producer.opcode == "dynamic-update-slice" and is_array:
            update = self._operands.of(producer)[1:2]
            return self._size_of(update[0].shape, shape) if update and update[0] is not None else 0
        return sum(map(self._size_of, leaf_texts(shape)))

    def bytes_read(self, body: Computation) -> int:
        """Return the bytes that are read of the operands and of large constants."""
        constants = (member.shape for member in body.members if member.opcode == "constant")
        large = (shape for shape in constants if element_count(shape) > _MAX_IMMEDIATE_ELEMENTS)
        parameters = body.parameters.values()
        read = sum(self._bytes_of_parameter(body, each, each.shape) for each in parameters)
        return sum(map(self._size_of, large)) + read

    def _bytes_of_parameter(self, body: Computation, value: InstructionLine, shape: str) -> int:
        elements = element_texts(shape)
        if elements is None:
            return self._read_bytes(body, value, 0)
        return sum(
            self._bytes_of_parameter(body, self._element(body, value, number), element)
            for number, element in enumerate(elements)
        )

    def _element(self, body: Computation, value: InstructionLine, number: int) -> InstructionLine:
        """Return the instruction that reads an element of a tuple, or the tuple without one."""
        users = self._operands.users(body, value)
        named = (user for user in users if user.opcode == "get-tuple-element")
        element = element_of(value, number)
        if element is not None and self._operands.users(body, element):
            return element
        return next((user for user in named if selected_element(user) == number), value)

    def _read_bytes(self, body: Computation, value: InstructionLine, depth: int) -> int:
        """Return what the users of a parameter read of it, each part once or per slice."""
        total, is_read_whole = 0, False
        for user in self._operands.users(body, value):
            read = self._bytes_of_slice(user, value)
            if user.opcode == "fusion":
                total += self._bytes_of_nested_fusion(body, user, value, depth + 1)
            elif read is not None:
                total += read
            elif user.opcode in {"broadcast", "reshape"}:
                total += self._size_of(value.shape)
            elif not is_read_whole:
                is_read_whole = True
                total += self._size_of(value.shape)
        return total

    def _bytes_of_slice(self, user: InstructionLine, value: InstructionLine) -> int | None:
        """Return the bytes that an operation on slices reads, or None if it reads the whole."""
        if user.opcode == "slice":
            return self._size_of(user.shape, value.shape)
        if user.opcode not in {"dynamic-slice", "dynamic-update-slice"}:
            return None
        if next(iter(self._operands.of(user)), None) is not value:
            return None
        if user.opcode == "dynamic-update-slice":
            return 0
        return self._size_of(user.shape, value.shape)

    def _bytes_of_nested_fusion(
        self, outer: Computation, fusion: InstructionLine, value: InstructionLine, depth: int
    ) -> int:
        """Return the bytes that a fusion inside of the fusion reads of a parameter."""
        called = self._operands.module.called_by(fusion)
        if not called or depth > _MAX_FUSION_DEPTH:
            return 0
        body = self._operands.module.computation(called[0])
        first = [] if body.root is None else self._operands.of(body.root)[:1]
        total = 0
        for number, operand in enumerate(self._operands.of(fusion)):
            parameter = body.parameters.get(number)
            if operand is not value or parameter is None:
                continue
            if not self._by_users:
                total += self._read_bytes(body, parameter, depth)
                continue
            is_simple, is_read_whole = not first or first[0] is parameter, False
            for user in self._operands.users(outer, fusion):
                read = self._bytes_of_slice(user, fusion) if is_simple else None
                if read is not None:
                    total += read
                elif not is_read_whole:
                    is_read_whole = True
                    total += self._read_bytes(body, parameter, depth)
        return total
