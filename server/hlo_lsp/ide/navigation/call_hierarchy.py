"""Who calls whom, twice: computations by their calls, instructions by the data that flows.

Of a computation the callers are the computations whose instructions call it. Of an instruction
the operands come in and the users go out: data flows from what calls to what is called.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_lsp.ide.cursor.module_targets import place_in
from hlo_lsp.ide.cursor.resolution import resolve_computation, resolve_instruction
from hlo_lsp.ide.cursor.targets import (
    ComputationTarget,
    CursorTarget,
    InstructionTarget,
    ThunkTarget,
    TupleElementTarget,
    ValueTarget,
)
from hlo_lsp.ide.navigation.definitions import head_place, value_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.program.thunks import thunk_instruction
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InstructionLine,
)

Node = LocatedRecord[ComputationLine] | LocatedRecord[InstructionLine]


@dataclass(frozen=True, slots=True)
class Call:
    """The other end of a call, and where it happens.

    Between computations that is where the one that calls names the other. Where data flows it is
    where the other end names the data: an operand in front of its ``=``, a user in parentheses.
    """

    node: Node
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class NodeKey:
    """What finds a node of a file again after edits; ``home`` is an instruction's computation."""

    name: str
    home: str | None
    is_computation: bool


def node_at(dump: DumpSet, found: CursorTarget) -> Node | None:
    """The instruction or computation that is meant, in the module text of the compile."""
    subject = found.subject
    if isinstance(subject, ComputationTarget):
        return resolve_computation(dump, found, subject.name)
    name: str | None = None
    if isinstance(subject, InstructionTarget):
        name = subject.name
    elif isinstance(subject, TupleElementTarget):
        name = subject.instruction
    elif isinstance(subject, ThunkTarget):
        name = thunk_instruction(dump, subject.row)
    elif isinstance(subject, ValueTarget):
        value = value_of(dump, subject)
        name = subject.key.partition("{")[0] if value is None else value.name
    return None if name is None else resolve_instruction(dump, found, name)


def key_of(node: Node) -> NodeKey:
    """The key of a node."""
    record = node.record
    if isinstance(record, ComputationLine):
        return NodeKey(record.name, None, is_computation=True)
    home = node.file.module.computation_of(record)
    return NodeKey(record.name, None if home is None else home.name, is_computation=False)


def node_of(file: DumpFile, key: NodeKey) -> Node | None:
    """The node that has this key now, or None if it is gone.

    An instruction whose computation has another name by now is found if no other has its name.
    """
    module = file.module
    if key.is_computation:
        head = module.named(key.name)
        return None if head is None else LocatedRecord(file, head)
    home = None if key.home is None else module.named(key.home)
    record = None if home is None else module.in_scope(home, key.name)
    if record is None:
        alike = module.instructions.all(key.name)
        record = alike[0] if len(alike) == 1 else None
    return None if record is None else LocatedRecord(file, record)


def incoming(node: Node) -> list[Call]:
    """The computations that call one, or the operands of an instruction; each once, in order."""
    file, module = node.file, node.file.module
    if isinstance(node.record, InstructionLine):
        return [
            Call(LocatedRecord(file, record), (name_place(LocatedRecord(file, record)),))
            for record in module.read_by(node.record)
        ]
    places: dict[ComputationLine, list[Place]] = {}
    for caller in _callers(file, node.record):
        home = module.computation_of(caller)
        if home is not None:
            places.setdefault(home, []).extend(_call_places(file, caller, node.record))
    return _calls(file, places)


def outgoing(node: Node) -> list[Call]:
    """The computations that one calls, or the users of an instruction; each once, in order."""
    file, module = node.file, node.file.module
    if isinstance(node.record, InstructionLine):
        return [
            Call(LocatedRecord(file, user), tuple(_operand_places(file, user, node.record.name)))
            for user in module.users(node.record)
        ]
    places: dict[ComputationLine, list[Place]] = {}
    for member in module.members(node.record):
        for called in dict.fromkeys(module.called_by(member)):
            places.setdefault(called, []).extend(_call_places(file, member, called))
    return _calls(file, places)


def name_place(node: Node) -> Place:
    """Where the name of a node stands; of a computation without one that of its attribute."""
    record = node.record
    if isinstance(record, InstructionLine):
        return place_in(node.file, record, record.parsed.name)
    return head_place(LocatedRecord(node.file, record))


def end_of(node: Node) -> tuple[int, int]:
    """Line and column behind the last letter of a node."""
    file, record = node.file, node.record
    if isinstance(record, InstructionLine):
        rows = record.text.split("\n")
        return record.line + len(rows) - 1, len(rows[-1])
    if record.members:
        last = end_of(LocatedRecord(file, record.members[-1]))
        whole = record.line + record.line_count - 1
        return last if last[0] >= whole else (whole, len(file.lines[whole]))
    line = record.line + record.line_count - 1
    if not isinstance(record, InlineComputation):
        for member in file.records.members(record):
            if isinstance(member, InstructionLine | ComputationEnd):
                line = member.line + member.line_count - 1
    return line, len(file.lines[line])


def _callers(file: DumpFile, computation: ComputationLine) -> Iterable[InstructionLine]:
    if not isinstance(computation, InlineComputation):
        return file.module.callers(computation)
    records = file.module.instructions.records()
    return [record for record in records if any(body is computation for body in record.bodies)]


def _calls(file: DumpFile, places: dict[ComputationLine, list[Place]]) -> list[Call]:
    return [Call(LocatedRecord(file, head), tuple(found)) for head, found in places.items()]


def _call_places(
    file: DumpFile, caller: InstructionLine, called: ComputationLine
) -> Iterable[Place]:
    """Where an instruction names a computation; its own name if that is written out in it."""
    if isinstance(called, InlineComputation):
        return [name_place(LocatedRecord(file, caller))]
    spans = caller.parsed.called
    return [place_in(file, caller, span) for span in spans if span.text == called.name]


def _operand_places(file: DumpFile, user: InstructionLine, name: str) -> Iterable[Place]:
    spans = user.parsed.reads
    return [place_in(file, user, span) for span in spans if span.text == name]
