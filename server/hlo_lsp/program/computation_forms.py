"""The forms of computations: what is left of their texts without names.

XLA writes a fused computation for each fusion. The layers of a model have the same ones, with other
names: the 8,107 called computations of L96 have 98 forms, and 91 without metadata. What a form
decides, such as a cost, is computed once for all computations that have it.
"""

import re

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.instruction_text import OPCODES_WITHOUT_OPERANDS, attributes_column
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.statements import PLAIN_PREFIXES
from hlo_lsp.syntax.texts_without_names import (
    METADATA,
    WHOLE_NAME,
    signature_without_names,
    without_names,
)

# Larger ones are hardly ever repeated, and reading one takes at most 1 ms.
_MAX_MEMBERS = 200
_MAX_LENGTH = 100_000  # code points
_MAX_DEPTH = 50  # of calls; computations of deeper ones have no form
_CALL = re.compile(rf"=({WHOLE_NAME.pattern})")
_LISTED_NAMES = "={%"  # computations or predecessors

# Texts without names, the first occurrence of each name, and the forms of callees.
_Key = tuple[str, str, tuple[int, ...], tuple[int, ...]]


class ComputationForms:
    """The forms of the computations of a module text, as numbers.

    Two computations have one form if only names differ, and each name refers to the same line
    of its computation, or to a computation of the same form above. What can be read of a
    computation and its callees is then equal, except for names (in strings, too), lines, and
    comments; if a form ``ignores_metadata``, also except for that. The entry computation, one that
    is not intact, and one with statements of several lines have no form.
    """

    def __init__(self, module: ModuleIndex, *, ignores_metadata: bool = False) -> None:
        self._module = module
        self._ignores_metadata = ignores_metadata
        self._entry = module.entry
        self._known: dict[ComputationLine, int | None] = {}
        self._numbers: dict[_Key, int] = {}
        self._firsts: dict[int, ComputationLine] = {}

    def first(self, head: ComputationLine) -> ComputationLine:
        """Return the first computation asked about with the form of one, else the one itself."""
        number = self.of(head)
        return head if number is None else self._firsts.setdefault(number, head)

    def of(self, head: ComputationLine, depth: int = 0) -> int | None:
        """Return the number of the form of a computation, or None; ``depth`` counts its callers."""
        if head in self._known:
            return self._known[head]
        checkpoint()
        key = self._key(head, depth) if depth < _MAX_DEPTH else None
        number = None if key is None else self._numbers.setdefault(key, len(self._numbers))
        self._known[head] = number
        return number

    def of_callees(self, text: str, line: int, depth: int = 0) -> tuple[int, ...] | None:
        """Return the forms of the computations that a text names; None if one has none.

        The computations must begin above ``line``; ``depth`` counts the callers.
        """
        if _LISTED_NAMES in text:
            return None
        found: list[int] = []
        for name in _CALL.findall(text):
            head = self._module.named(name[1:])
            number = None if head is None or head.line >= line else self.of(head, depth)
            if number is None:
                return None
            found.append(number)
        return tuple(found)

    def _key(self, head: ComputationLine, depth: int) -> _Key | None:
        module = self._module
        if type(head) is not ComputationLine or head.is_entry or head is self._entry:
            return None
        scope = module.computation(head)
        first, closing, members = head.line + head.line_count, scope.closing, scope.members
        if closing is None or not scope.is_intact or scope.strays or scope.is_inside:
            return None
        if module.computations.count(head.name) > 1:
            return None
        # Each line must be one instruction.
        if len(members) > _MAX_MEMBERS or closing.line - first != len(members):
            return None
        text = "\n".join([member.text for member in members])
        if len(text) > _MAX_LENGTH:
            return None
        if self._ignores_metadata:
            text = METADATA.sub("", text)
        callees = self.of_callees(text, head.line, depth + 1)
        if callees is None:
            return None
        names = WHOLE_NAME.findall(text)
        first_of = dict(zip(reversed(names), range(len(names), 0, -1), strict=True))
        places = tuple(map(first_of.__getitem__, names))
        return without_names(text), signature_without_names(head.signature), places, callees


def has_only_whole_names(scope: Computation) -> bool:
    """Return True if a form without names shows all names in the instructions of a computation."""
    return all(map(_has_only_whole_names, scope.members))


def _has_only_whole_names(instruction: InstructionLine) -> bool:
    text, opened = instruction.text, instruction.opened
    if instruction.bodies or not text.startswith(PLAIN_PREFIXES):
        return False
    at = attributes_column(text, opened)
    attributes = text[at:]
    if "control-predecessors" in attributes:
        return False
    if instruction.opcode not in OPCODES_WITHOUT_OPERANDS:
        operands = instruction.operands
        if "" in operands or len(WHOLE_NAME.findall(text, opened, at)) != len(operands):
            return False
    return [f"%{name}" for name in instruction.called] == _CALL.findall(attributes)
