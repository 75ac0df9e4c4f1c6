"""The operands, users, and callees of the instructions of a module, each computation read once."""

from collections.abc import Sequence

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.computation_forms import ComputationForms
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_Operands = Sequence[InstructionLine | None]


class OperandIndex:
    """Operands and callees by instruction, and users by computation, all read on request."""

    def __init__(self, module: ModuleIndex) -> None:
        self.module = module
        self._operands: dict[InstructionLine, _Operands] = {}
        self._shapes: dict[InstructionLine, tuple[str, ...]] = {}
        self.equal = ComputationForms(module, ignores_metadata=True)
        self._called: dict[InstructionLine, Sequence[ComputationLine]] = {}
        self._users: dict[Computation, dict[InstructionLine, list[InstructionLine]]] = {}

    def of(self, instruction: InstructionLine) -> _Operands:
        """Return the operands of an instruction; None for undefined ones."""
        known = self._operands.get(instruction)
        if known is None:
            scope = self.module.scope_of(instruction)
            if isinstance(scope, ComputationLine):
                self._read(self.module.computation(scope))
            known = self._operands.get(instruction)
        if known is None:  # an instruction outside of computations, or an element of a tuple
            known = self._operands[instruction] = self.module.operands(instruction)
        return known

    def shapes(self, instruction: InstructionLine) -> tuple[str, ...]:
        """Return the shapes of the operands of an instruction; empty ones for undefined ones."""
        known = self._shapes.get(instruction)
        if known is None:
            found = self.of(instruction)
            known = tuple(["" if one is None else one.shape for one in found])
            self._shapes[instruction] = known
        return known

    def called_by(self, instruction: InstructionLine) -> Sequence[ComputationLine]:
        """Return the computations that an instruction calls, or others of equal cost."""
        known = self._called.get(instruction)
        if known is None:
            known = [self.equal.first(one) for one in self.module.called_by(instruction)]
            self._called[instruction] = known
        return known

    def _read(self, body: Computation) -> None:
        find = body.names.get
        for member in body.members:
            checkpoint()
            self._operands[member] = [
                body.instruction(name) if "#" in name else find(name) for name in member.operands
            ]

    def users(self, body: Computation, value: InstructionLine) -> Sequence[InstructionLine]:
        """Return the instructions of a computation that have a value as an operand, in order."""
        known = self._users.get(body)
        if known is None:
            known = self._users[body] = {}
            for member in body.members:
                checkpoint()
                for operand in dict.fromkeys(self.of(member)):
                    if operand is not None:
                        known.setdefault(operand, []).append(member)
        return known.get(value, ())
