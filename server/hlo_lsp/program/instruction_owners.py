"""The owners of instructions: the Python line, operation, scope, and phase that each belongs to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.dataflow import started_element
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.data_origin import COPIES_OF_ARGUMENTS, NO_LINE, metadata_of, origins_of
from hlo_lsp.program.mesh import CollectiveAxes, collective_axes
from hlo_lsp.program.phases import phase_of, split_scopes
from hlo_lsp.program.transfers import is_communication
from hlo_lsp.syntax.module_records import InstructionLine

_NO_SCOPE, _UNKNOWN = "no scope", "unknown"
_NO_COLLECTIVE, _UNKNOWN_AXIS = "no collective", "unknown axis"
_METADATA = "metadata={"


class InstructionKey(Enum):
    """A property that the instructions of a group have in common."""

    LINE = "line"
    SCOPE = "scope"
    OPCODE = "opcode"
    PHASE = "phase"
    AXIS = "axis"
    COMPUTATION = "computation"
    INSTRUCTION = "instruction"

    @property
    def title(self) -> str:
        """The title of a column with the names of groups."""
        return "Python line" if self is InstructionKey.LINE else self.value


@dataclass(frozen=True, slots=True)
class InstructionFacts:
    """The facts of a module text about an instruction.

    Attributes:
        computation: The name of its computation, empty if it is in none.
        source: The Python line, None if no instruction on the way of its data has one.
        op_name: The operation name, empty if it has none.
        scope: The scopes of the operation name, empty if it has none.
        phase: ``forward``, ``backward``, ``rematerialized``, or ``other``.
        communicates: Whether it is a collective, or starts or ends one.
        moves_argument: Whether it only moves the data of an argument of the program.
        stack: The Python stack of ``source``, the innermost line first.
        metadata_from: The name of the instruction whose metadata has the line, or else the
            operation; empty if none has.
        axes: The axes of the mesh that a collective runs over, None for others and if the mesh is
            unknown.
    """

    opcode: str
    computation: str
    source: SourceLine | None
    op_name: str
    scope: str
    phase: str
    communicates: bool
    moves_argument: bool
    stack: tuple[SourceLine, ...]
    metadata_from: str
    axes: CollectiveAxes | None = None


class FusedOwners:
    """The owners of the instructions inside of fusions, each text of metadata read once."""

    def __init__(self, dump: Compile) -> None:
        self._dump = dump
        self._owners: dict[str, tuple[SourceLine | None, str, str]] = {}

    def facts(self, member: InstructionLine, fusion: InstructionFacts) -> InstructionFacts:
        """Return those of the fusion with the owner of an instruction in it, if that is known."""
        at = member.text.find(_METADATA)
        if at < 0:
            return fusion
        text = member.text[at:]
        if text not in self._owners:
            metadata = member.metadata
            source = self._dump.frames.line_of(self._dump.stack_of(metadata))
            op_name = metadata.get("op_name", "")
            self._owners[text] = source, op_name, _scope_of(op_name)
        source, op_name, scope = self._owners[text]
        return replace(
            fusion,
            source=source or fusion.source,
            op_name=op_name or fusion.op_name,
            scope=scope if op_name else fusion.scope,
            phase=phase_of(member.name, op_name) if op_name else fusion.phase,
            moves_argument=fusion.moves_argument and source is None,
        )


def group_of(name: str, facts: InstructionFacts | None, key: InstructionKey) -> str:
    """Return the name of the group of an instruction; ``facts`` is None if no text has it."""
    if key is InstructionKey.INSTRUCTION:
        return name
    if facts is None:
        return _UNKNOWN
    if key is InstructionKey.LINE:
        no_line = COPIES_OF_ARGUMENTS if facts.moves_argument else NO_LINE
        return no_line if facts.source is None else str(facts.source)
    if key is InstructionKey.SCOPE:
        return facts.scope or _NO_SCOPE
    if key is InstructionKey.OPCODE:
        return facts.opcode
    if key is InstructionKey.AXIS:
        without = _UNKNOWN_AXIS if facts.communicates else _NO_COLLECTIVE
        return without if facts.axes is None else facts.axes.label
    return facts.phase if key is InstructionKey.PHASE else facts.computation


def owner_of(dump: Compile, name: str, index: str | None = None) -> InstructionFacts | None:
    """Return what a compile says about an instruction, None if no module text has it.

    ``index`` is the shape index of the part of the result that is asked about.
    """
    indexes = {} if index is None else {name: index}
    return instruction_facts(dump, [name], indexes).get(name)


def owner_of_line(
    dump: Compile, line: LocatedRecord[InstructionLine] | None
) -> InstructionFacts | None:
    """Return what a compile says about a line; None if it has another instruction by its name."""
    if line is None:
        return None
    own = dump.instruction(line.record.name)
    return owner_of(dump, line.record.name) if own and own.record is line.record else None


def instruction_facts(
    dump: Compile, names: Iterable[str], parts: Mapping[str, str] | None = None
) -> dict[str, InstructionFacts]:
    """Return what a compile says about instructions, by name; unknown names are left out.

    An instruction without metadata belongs to the instruction that produced its data, a fusion that
    a library runs to the product of matrices in it.

    Args:
        dump: The compile.
        names: The names of the instructions.
        parts: The shape indexes of the data that is asked about, by name; by default the whole
            result, or what an asynchronous operation produces.
    """
    lines = {name: line for name in names if (line := dump.instruction(name)) is not None}
    metadata = {name: metadata_of(dump, line) for name, line in lines.items()}
    stacks = {name: tuple(dump.stack_of(metadata[name])) for name in lines}
    indexes = {
        name: (parts or {}).get(name) or _data_index(line.record)
        for name, line in lines.items()
        if not stacks[name] or not metadata[name].get("op_name")
    }
    origins = origins_of(dump, indexes.items())
    found = {}
    for name, line in lines.items():
        checkpoint()
        stack, op_name = stacks[name], metadata[name].get("op_name", "")
        metadata_from = name if stack or op_name else ""
        origin = origins.get((name, indexes.get(name)))
        moves_argument = origin is not None and origin.argument is not None
        if origin is not None and not moves_argument:
            if not metadata_from or (origin.stack and not stack):
                metadata_from = origin.metadata_from
            stack = stack or origin.stack
            op_name = op_name or origin.op_name or ""
        source = dump.frames.line_of(stack)
        home = line.file.module.computation_of(line.record)
        found[name] = InstructionFacts(
            line.record.opcode,
            "" if home is None else home.name,
            source,
            op_name,
            _scope_of(op_name),
            phase_of(name, op_name),
            is_communication(line.file.module, line.record),
            moves_argument and source is None,
            stack,
            metadata_from,
            collective_axes(dump, line.file.module, line.record),
        )
    return found


def _scope_of(op_name: str) -> str:
    scopes = split_scopes(op_name) if op_name else ()
    return "/".join(scopes[:-1] or scopes)


def _data_index(instruction: InstructionLine) -> str | None:
    """Return the shape index of the data in a result, None for the whole result."""
    element = started_element(instruction.opcode)
    return None if element is None or not instruction.shape.startswith("(") else f"{{{element}}}"
