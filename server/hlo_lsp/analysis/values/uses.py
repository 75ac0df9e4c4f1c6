"""The uses of a value as the module text has them, whatever the values file prints."""

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import Position

_FORWARDS = {"tuple", "domain"}  # hand all of an operand on and read none of it
_READS_THE_TOP = {"get-tuple-element", "copy"}  # read the table of a tuple, hand its elements on


@dataclass(frozen=True, slots=True)
class TextUse:
    """An instruction that uses a value: by which operand, and the leaf of that operand.

    ``index`` is None where the operand is no tuple, as XLA prints it.
    """

    user: InstructionLine
    operand: int
    index: str | None


class TextUses:
    """Tells the uses of the values of one module, as long as the module does not change.

    Who uses an instruction is remembered: all leaves of a large tuple ask for the same users.
    """

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._users: dict[InstructionLine, list[tuple[InstructionLine, int]]] = {}

    def of(self, positions: Iterable[Position]) -> list[TextUse] | None:
        """The uses of the value with these positions, in the order of positions and of the text.

        None if a position names no instruction of the module, or more than one: then the text is
        not the one that the positions were printed of, or is damaged.

        The rule is ``HloValue::ComputeUses`` (hlo_value.cc): every instruction with a position
        among its operands, except those that only hand the value on. The root of a computation
        counts in any case if the value has a position there too.
        """
        found: list[tuple[InstructionLine, str | None]] = []
        for position in positions:
            named = self._module.instructions.all(position.name)
            if len(named) != 1:
                return None
            found.append((named[0], position.index))
        roots = {instruction for instruction, _ in found if self._module.is_root(instruction)}
        return [
            TextUse(user, operand, index)
            for instruction, index in found
            for user, operand in self._users_of(instruction)
            if _reads(user, index) or user in roots
        ]

    def _users_of(self, instruction: InstructionLine) -> list[tuple[InstructionLine, int]]:
        known = self._users.get(instruction)
        if known is None:
            known = self._users[instruction] = [
                (user, number)
                for user in self._module.users(instruction)
                for number, operand in enumerate(user.operands)
                if operand == instruction.name
            ]
        return known


def _reads(user: InstructionLine, index: str | None) -> bool:
    if user.opcode in _READS_THE_TOP:
        return index in {None, "{}"}
    return user.opcode not in _FORWARDS
