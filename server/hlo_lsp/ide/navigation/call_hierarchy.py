"""The call hierarchy of computations and the data flow between instructions.

The callers of a computation are the computations whose instructions call it. For an instruction,
the incoming calls are its operands and the outgoing calls are its users.
"""

from collections import defaultdict
from dataclasses import dataclass

from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, Place, name_place, named_places
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InstructionLine,
)

CallNode = LocatedRecord[ComputationLine] | LocatedRecord[InstructionLine]


@dataclass(frozen=True, slots=True)
class CallEdge:
    """The other end of a call, and the places of the call.

    Between computations, the places are where the caller names the callee. Between instructions,
    they are where the other end names the data: the defined name of an operand, or the operands of
    a user.
    """

    node: CallNode
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class CallNodeKey:
    """The identity of a node that survives edits; ``home`` is the computation of an instruction."""

    name: str
    home: str | None
    is_computation: bool


def call_node_at(dump: Compile, target: CursorTarget) -> CallNode | None:
    """Return the instruction or computation at the cursor, in the module text of the compile."""
    if isinstance(target.entity, targets.ComputationTarget):
        return targets.resolve_computation(dump, target, target.entity.name)
    return targets.instruction_at(dump, target)


def node_key(node: CallNode) -> CallNodeKey:
    """Return the key of a node."""
    record = node.record
    if isinstance(record, ComputationLine):
        return CallNodeKey(record.name, None, is_computation=True)
    home = node.file.module.computation_of(record)
    return CallNodeKey(record.name, None if home is None else home.name, is_computation=False)


def find_node(file: DumpFile, key: CallNodeKey) -> CallNode | None:
    """Return the node with this key, or None if it no longer exists.

    If the computation of an instruction was renamed, the instruction is found by its name, provided
    that the name is unique.
    """
    module = file.module
    if key.is_computation:
        head = module.named(key.name)
        return None if head is None else LocatedRecord(file, head)
    home = None if key.home is None else module.named(key.home)
    record = None if home is None else module.instruction_in_scope(home, key.name)
    if record is None:
        alike = module.instructions.all(key.name)
        record = alike[0] if len(alike) == 1 else None
    return None if record is None else LocatedRecord(file, record)


def incoming_calls(node: CallNode) -> list[CallEdge]:
    """Return the callers of a computation or the operands of an instruction, without duplicates."""
    file, module = node.file, node.file.module
    if isinstance(node.record, InstructionLine):
        operands = [LocatedRecord(file, record) for record in module.inputs(node.record)]
        return [CallEdge(operand, (operand.name_place,)) for operand in operands]
    places: dict[ComputationLine, list[Place]] = {}
    for caller in module.callers(node.record):
        home = module.computation_of(caller.printed)
        if home is not None:
            places.setdefault(home, []).extend(_call_places(file, caller.printed, node.record))
    return _call_edges(file, places)


def outgoing_calls(node: CallNode) -> list[CallEdge]:
    """Return the callees of a computation or the users of an instruction, without duplicates."""
    file, module = node.file, node.file.module
    if isinstance(node.record, InstructionLine):
        name = node.record.name
        return [
            CallEdge(
                LocatedRecord(file, user), tuple(named_places(file, user, user.parsed.reads, name))
            )
            for user in module.users(node.record)
        ]
    places: dict[ComputationLine, list[Place]] = {}
    for member in module.members(node.record):
        for called, found in _calls_of(file, member, module.called_by(member)).items():
            places.setdefault(called, []).extend(found)
    return _call_edges(file, places)


def node_end(node: CallNode) -> tuple[int, int]:
    """Return the line and column after the last character of a node."""
    file, record = node.file, node.record
    if isinstance(record, InstructionLine):
        rows = record.printed.text.split("\n")
        return record.line + len(rows) - 1, len(rows[-1])
    line = record.line + record.line_count - 1
    if record.members:
        last = node_end(LocatedRecord(file, record.members[-1]))
        return last if last[0] >= line else (line, len(file.lines[line]))
    if not isinstance(record, InlineComputation):
        for member in file.records.members(record):
            if isinstance(member, InstructionLine | ComputationEnd):
                line = member.line + member.line_count - 1
    return line, len(file.lines[line])


def _call_edges(file: DumpFile, places: dict[ComputationLine, list[Place]]) -> list[CallEdge]:
    return [CallEdge(LocatedRecord(file, head), tuple(found)) for head, found in places.items()]


def _calls_of(
    file: DumpFile, caller: InstructionLine, called: list[ComputationLine]
) -> dict[ComputationLine, list[Place]]:
    """Return the places of all calls of an instruction, which may be thousands."""
    spans: defaultdict[str, list[TextSpan]] = defaultdict(list)
    for span in caller.parsed.called if called else ():
        spans[span.text].append(span)
    return {
        computation: _call_places(file, caller, computation)
        if isinstance(computation, InlineComputation)
        else named_places(file, caller, spans[computation.name], computation.name)
        for computation in dict.fromkeys(called)  # a conditional can name one many times
    }


def _call_places(file: DumpFile, caller: InstructionLine, called: ComputationLine) -> list[Place]:
    """Return where an instruction names a computation, or the caller's name if it is inline."""
    if isinstance(called, InlineComputation):
        return [name_place(file, caller)]
    return named_places(file, caller, caller.parsed.called, called.name)
