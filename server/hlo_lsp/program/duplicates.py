"""Computations that are equal except for names."""

import re
from dataclasses import dataclass

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.statements import closing_bracket
from hlo_lsp.text.checkpoint import checkpoint

# Attributes of every opcode, which follow the opcode's own attributes (in print order).
_COMMON_ATTRIBUTE = re.compile(
    r", (?:sharding|frontend_attributes|control-predecessors|metadata|backend_config|"
    r"parameter_replication|statistics|origin)="
)
_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)")


@dataclass(frozen=True, slots=True)
class DuplicateComputations:
    """Computations with the same body, in text order."""

    computations: tuple[ComputationLine, ...]
    instructions: int

    @property
    def saved(self) -> int:
        """Number of redundant instructions."""
        return self.instructions * (len(self.computations) - 1)


def find_duplicate_computations(module: ModuleIndex, least: int) -> list[DuplicateComputations]:
    """Return groups of computations with equal bodies of at least ``least`` instructions.

    Names, metadata, and backend configurations are ignored, except for the backend configuration of
    custom calls, which contains the kernel. Callees must be equal as well.
    """
    kinds: dict[tuple[str, ...], int] = {}
    kind_of: dict[str, int] = {}
    alike: dict[int, list[ComputationLine]] = {}
    sizes: dict[int, int] = {}
    for computation in module.all_computations():
        if isinstance(computation, InlineComputation):
            continue
        members = module.members(computation)
        places = {member.name: place for place, member in enumerate(members)}
        body = []
        for member in members:
            checkpoint()
            body.append(_canonical_text(member, places, kind_of))
        kind = kinds.setdefault(tuple(body), len(kinds))
        kind_of[computation.name] = kind
        sizes[kind] = len(members)
        alike.setdefault(kind, []).append(computation)
    groups = [
        DuplicateComputations(tuple(found), sizes[kind])
        for kind, found in alike.items()
        if len(found) > 1 and sizes[kind] >= least
    ]
    return sorted(groups, key=lambda group: (-group.saved, group.computations[0].line))


def _canonical_text(
    member: InstructionLine, places: dict[str, int], kind_of: dict[str, int]
) -> str:
    """Return an instruction with operand positions and callee kinds instead of names."""
    text = member.text
    close = closing_bracket(text, member.opened - 1)
    end = len(text) if close is None else close + 1
    operands = member.operands
    if operands and all(name in places for name in operands):
        inside = ",".join(str(places[name]) for name in operands)
    else:
        inside = text[member.opened : end]
    general = _COMMON_ATTRIBUTE.search(text, end)
    own = text[end:] if general is None else text[end : general.start()]
    if member.called:
        own = _NAME.sub(lambda name: f"<{kind_of.get(name[1], name[1])}>", own)
    if member.opcode == "custom-call" and "backend_config=" in text:
        own += text[text.rindex("backend_config=") :]
    return f"{member.is_root} {member.shape} {member.opcode}({inside}){own}"
