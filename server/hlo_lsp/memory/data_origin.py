"""The origin of a buffer: the instruction or argument that produced its data.

Many buffers hold data that only moved there: ``copy-start``, elements of tuples, parameters of
loops. The search follows such instructions backward.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.call_order import callees_first
from hlo_lsp.hlo.notation import TuplePath, tuple_path
from hlo_lsp.hlo.vocabulary import ResultKind, opcode_spec
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.argument_names import tupled_argument_names, unoptimized_arguments
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.donation import unescape_argument
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_PATH_LENGTH = 400  # instructions; real paths have fewer than 40
_MAX_LABEL_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Origin:
    """The instruction that produced the data of a buffer, or the argument that it came from.

    Attributes:
        argument: The argument of the program, such as ``p['w']`` or ``parameter 3``; None for the
            result of an instruction.
        op_name: The operation name, None if no instruction on the path has one.
        stack: The Python stack, the innermost line first. If no instruction on the path has one, it
            is that of the instruction that a loop fills the buffer with, else empty.
        source: The line of the stack that owns memory, by the frames of the compile.
        via: The names of the instructions that moved the data, the nearest to the buffer first.
    """

    instruction: LocatedRecord[InstructionLine]
    argument: str | None
    op_name: str | None
    stack: tuple[SourceLine, ...]
    source: SourceLine | None
    via: tuple[str, ...]

    @property
    def label(self) -> str:
        """The argument, or the Python line and the operation; empty if they are unknown."""
        if self.argument is None:
            return source_label(self.source, self.op_name)
        if self.argument.startswith("parameter "):
            return self.argument
        return f"argument {self.argument}"


def source_label(source: SourceLine | None, op_name: str | None) -> str:
    """Return a Python line and the last part of an operation name: ``train.py:25 dot_general``."""
    operation = (op_name or "").partition("[")[0].rpartition("/")[2].replace("`", "'")
    line = "" if source is None else source.short
    return f"{line} {operation[:_MAX_LABEL_CHARACTERS]}".strip()


def origin_of(dump: Compile, name: str, index: str | None) -> Origin | None:
    """Return the origin of the value at an index of an instruction's result.

    Returns None without a module text that contains the instruction.
    """
    return origins_of(dump, [(name, index)]).get((name, index))


def origins_of(
    dump: Compile, values: Iterable[tuple[str, str | None]]
) -> dict[tuple[str, str | None], Origin]:
    """Return the origins of values by name and index.

    This is faster than :func:`origin_of` for each, because many paths share instructions.
    """
    found: dict[tuple[str, str | None], Origin] = {}
    for name, index in values:
        checkpoint()
        line = dump.instruction(name)
        if line is not None:
            search = _search_in(line.file, dump)
            found[name, index] = search.origin(line.record, tuple_path(index))
    return found


@query  # which edits of memory files leave valid
def _search_in(file: DumpFile, dump: Compile) -> "_Search":
    """Return a search in a module text; what it finds depends on the module texts alone."""
    for one in dump.files:
        one.depend_on_module()
    return _Search(dump, file)


def is_rearrangement(dump: Compile, instruction: InstructionLine) -> bool:
    """Return whether XLA inserted an instruction that only rearranges data.

    XLA inserts such instructions without metadata; those of the program have a source.
    ``ConcatBitcast`` joins the slices of an array that XLA copied to VMEM in parts.
    """
    if instruction.opcode == "custom-call":
        return 'custom_call_target="ConcatBitcast"' in instruction.text
    parts = opcode_spec(instruction.opcode).result
    is_known = any(part.kind is ResultKind.REARRANGED for part in parts)
    return is_known and not dump.stack_of(instruction.metadata)


_Step = tuple[InstructionLine, TuplePath]
_NameAndStack = tuple[str | None, tuple[SourceLine, ...]]


@query  # because a hover has a search of its own
def _loops(file: DumpFile) -> list[InstructionLine]:
    return [each for each in file.module.instructions.records() if each.opcode == "while"]


class _Search:
    """A search that keeps what it found, because the paths of many values share instructions."""

    def __init__(self, dump: Compile, file: DumpFile) -> None:
        self._dump = dump
        self._file = file
        self._module = file.module
        self._flow = ModuleFlow(file.module)
        # Read for the cache of queries. The names are not needed for most values, and the module
        # has to be searched for them after each edit.
        unoptimized_arguments(dump)
        self._steps: dict[_Step, _Step | None] = {}
        self._origins: dict[_Step, Origin] = {}
        self._searched: set[ComputationLine] = set()  # whose inner fusions are in the steps
        self._names_and_stacks: dict[InstructionLine, _NameAndStack] = {}
        self._writers: dict[_Step, InstructionLine] | None = None  # found on request

    def origin(self, instruction: InstructionLine, path: TuplePath) -> Origin:
        start = instruction, path
        if start not in self._origins:
            steps = list(self._steps_back(*start))
            self._origins[start] = self._origin([line for line, _ in steps], steps[-1][1])
        return self._origins[start]

    def _steps_back(
        self, instruction: InstructionLine, path: TuplePath, *, is_inside: bool = False
    ) -> Iterator[_Step]:
        """Yield an element, and those that moved its data, back to its producer.

        With ``is_inside``, a parameter of the computation is its producer.
        """
        step: _Step | None = instruction, path
        seen: set[_Step] = set()
        while step is not None and step not in seen and len(seen) < _MAX_PATH_LENGTH:
            yield step
            seen.add(step)
            is_end = is_inside and step[0].opcode == "parameter"
            step = None if is_end else self._previous(*step)

    def _previous(self, instruction: InstructionLine, path: TuplePath) -> _Step | None:
        """Return the instruction that the data of a result came from unchanged, or None."""
        key = instruction, path
        if key not in self._steps:
            self._steps[key] = self._find_previous(instruction, path)
        return self._steps[key]

    def _find_previous(self, instruction: InstructionLine, path: TuplePath) -> _Step | None:
        if instruction.opcode == "parameter":
            return self._before_parameter(instruction, path)
        if instruction.opcode == "custom-call" and is_rearrangement(self._dump, instruction):
            operand = next(iter(self._module.operands(instruction)), None)
            return None if operand is None else (operand, path)
        if not path and instruction.opcode == "fusion":
            return self._before_fusion(instruction)
        for source, rest, kind in self._flow.sources(instruction, path):
            if kind is ResultKind.REARRANGED and self._source(instruction) is not None:
                return None
            # An update only continues its start.
            is_update = source.opcode.endswith("-update")
            return (self._flow.async_start(source) if is_update else None) or source, rest
        return None

    def _before_fusion(self, fusion: InstructionLine) -> _Step | None:
        """Return the operand that a fusion without a source only moves or rearranges."""
        operands = self._module.operands(fusion)
        for head in self._module.called_by(fusion):
            order = [*callees_first(head, self._fused_in, self._searched.__contains__)]
            self._searched.update(order)
            for one in order:
                for inner in self._fusions_in(one):
                    self._previous(inner, ())  # so that the search below is not recursive
        for root in self._flow.roots(fusion) if self._is_fusion_without_source(fusion) else ():
            producer, path = self._walk(root, ())
            number = parameter_number(producer)
            if number is not None and number < len(operands):
                operand = operands[number]
                return None if operand is None else (operand, path)
        return None

    def _fused_in(self, head: ComputationLine) -> Iterator[ComputationLine]:
        for fusion in self._fusions_in(head):
            yield from self._module.called_by(fusion)

    def _fusions_in(self, head: ComputationLine) -> Iterator[InstructionLine]:
        """Yield the fusions without a source in a computation."""
        for member in self._module.members(head):
            if member.opcode == "fusion" and self._is_fusion_without_source(member):
                yield member

    def _before_parameter(self, parameter: InstructionLine, path: TuplePath) -> _Step | None:
        sources = [source for source, _, _ in self._flow.sources(parameter, path)]
        if len(sources) < 2:
            return (sources[0], path) if sources else None
        # A loop passes its operand, then the root of its body: what the body does not change comes
        # from outside.
        is_unchanged = self._walk(sources[-1], path) == (parameter, path)
        return sources[0 if is_unchanged else -1], path

    def _walk(self, instruction: InstructionLine, path: TuplePath) -> _Step:
        """Follow moves inside of a computation."""
        *_, producer = self._steps_back(instruction, path, is_inside=True)
        return producer

    def _called_members(self, producer: InstructionLine) -> list[InstructionLine]:
        """Return the instructions of a fusion without a source, the root first.

        XLA does not give metadata to every fusion that it forms.
        """
        if not self._is_fusion_without_source(producer):
            return []
        computations = self._module.called_by(producer)
        return [line for one in computations for line in reversed(self._module.members(one))]

    def _with_members(self, chain: list[InstructionLine]) -> list[InstructionLine]:
        """Return the instructions of a chain, the producer first, and those that they call."""
        return [one for line in reversed(chain) for one in (line, *self._called_members(line))]

    def _is_fusion_without_source(self, instruction: InstructionLine) -> bool:
        return instruction.opcode == "fusion" and self._source(instruction) is None

    def _writer(self, producer: InstructionLine, path: TuplePath) -> list[InstructionLine]:
        """Return the instruction that a loop writes a buffer with, and its called instructions.

        XLA allocates and clears the buffers of the results of loops with instructions without
        metadata.
        """
        if self._writers is None:
            found: dict[_Step, InstructionLine] = {}
            for loop in _loops(self._file):
                found |= self._written_by(loop)
            self._writers = found
        writer = self._writers.get((producer, path))
        if writer is None:
            return []
        operands = self._module.operands(writer)
        update = operands[1] if len(operands) > 1 else None
        if writer.opcode != "dynamic-update-slice" or self._source(writer) or update is None:
            return [writer, *self._called_members(writer)]
        # XLA gives no metadata to the update of a host buffer that it offloads data to.
        return [writer, *self._with_members([line for line, _ in self._steps_back(update, ())])]

    def _written_by(self, loop: InstructionLine) -> dict[_Step, InstructionLine]:
        """Return what a loop writes, by the data that it gets for it."""
        found: dict[_Step, InstructionLine] = {}
        operand = next(iter(self._module.operands(loop)), None)
        for root in self._flow.roots(loop):
            for number, _ in enumerate(root.operands):
                checkpoint()
                writer, _ = self._walk(root, (number,))
                if writer.opcode != "parameter" and operand is not None:
                    found[self._walk(operand, (number,))] = writer
        return found

    def _source(self, instruction: InstructionLine) -> SourceLine | None:
        return next(iter(self._name_and_stack(instruction)[1]), None)

    def _name_and_stack(self, line: InstructionLine) -> _NameAndStack:
        """Return the operation name and the Python stack in the metadata."""
        if line not in self._names_and_stacks:
            metadata = line.metadata if "metadata=" in line.text else {}
            stack = tuple(self._dump.stack_of(metadata))
            self._names_and_stacks[line] = metadata.get("op_name"), stack
        return self._names_and_stacks[line]

    def _origin(self, chain: list[InstructionLine], path: TuplePath) -> Origin:
        """Return the origin at the end of a chain, which is at a path of its result."""
        producer = chain[-1]
        number = parameter_number(producer)
        home = self._module.computation_of(producer)
        argument = None
        if number is not None and home is not None and home.is_entry:
            op_name, _ = self._name_and_stack(producer)  # kept, as parameters can be long texts
            name = unescape_argument(op_name or "") or tupled_argument_names(self._dump).get(path)
            argument = name or f"parameter {number}"
        lines = self._with_members(chain)
        if argument is None and not any(map(self._source, lines)):
            lines += self._writer(producer, path)
        facts = [self._name_and_stack(line) for line in lines]
        op_name = next((name for name, _ in facts if name is not None), None)
        stack = next((stack for _, stack in facts if stack), ())
        located = LocatedRecord(self._file, producer)
        source = self._dump.frames.line_of(stack)
        via = tuple(line.name for line in chain[:-1])
        return Origin(located, argument, op_name, stack, source, via)
