"""The origin of a buffer: the instruction or argument that produced its data.

Many buffers hold data that only moved there: ``copy-start``, elements of tuples, parameters of
loops. The search follows such instructions backward. A buffer in which a loop saves the data of all
its iterations belongs to the instruction that produces the data.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.notation import TuplePath, tuple_path
from hlo_lsp.hlo.vocabulary import PRODUCT_OPCODES, ResultKind, opcode_spec
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.argument_names import tupled_argument_names, unoptimized_arguments
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.donation import unescape_argument
from hlo_lsp.program.phases import split_scopes
from hlo_lsp.program.saved_data import ResultElement, line_of, saved_data, state_elements
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

NO_LINE = "no Python line"
COPIES_OF_ARGUMENTS = "copies of arguments"
_MAX_PATH_LENGTH = 400  # instructions; real paths have fewer than 40
_MAX_PATH_DEPTH = 50  # of tuples; real paths have at most 5
_MAX_LABEL_CHARACTERS = 60
_YNNPACK = '"kind":"__ynn_fusion"'  # also in a text without a name
_LIBRARY = "kind=kCustom"  # a fusion that a library runs, such as YNNPACK
_ASYNC_RESULT = (1,)  # The elements after the result of an async-start are its contexts.
_REARRANGING_CALL = re.compile(
    r'custom_call_target="(?:ConcatBitcast|X64(?:Combine|SplitHigh|SplitLow))"'
)
_PARAMETERS = re.compile(
    r"\[\s*\w+=.*", re.DOTALL
)  # of an operation: `transpose[permutation=(1, 0)]`
# XLA gives the conversions that it inserts into the body of a loop the metadata of the call that
# was the body: no operation, and the line of the loop.
_CALL_OF_BODY = re.compile(r"/body/(?:closed_call|eval_jaxpr)$")


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
        saved_by: The line of the loop that saved the data of all its iterations in the buffer; None
            if no loop did, or if its line is unknown.
        via: The names of the instructions that moved the data, the nearest to the buffer first.
        metadata_from: The name of the instruction whose metadata has the stack, or else the
            operation name; empty if none has.
    """

    instruction: LocatedRecord[InstructionLine]
    argument: str | None
    op_name: str | None
    stack: tuple[SourceLine, ...]
    source: SourceLine | None
    saved_by: SourceLine | None
    via: tuple[str, ...]
    metadata_from: str

    @property
    def label(self) -> str:
        """The argument, or the Python line and the operation; empty if they are unknown."""
        if self.argument is None:
            return f"{source_label(self.source, self.op_name)}{self.saving}"
        if self.argument.startswith("parameter "):
            return self.argument
        return f"argument {self.argument}"

    @property
    def saving(self) -> str:
        """The text ``, saved by the scan at :22``; empty if no other line saved the data."""
        return saving_text(self.source, self.saved_by)


def source_label(source: SourceLine | None, op_name: str | None) -> str:
    """Return a Python line and the last part of an operation name: ``train.py:25 dot_general``."""
    operation = _PARAMETERS.sub("", split_scopes(op_name or "")[-1])
    operation = unescape_argument(operation).replace("`", "'")
    line = "" if source is None else source.short
    return f"{line} {operation[:_MAX_LABEL_CHARACTERS]}".strip()


def saving_text(source: SourceLine | None, saved_by: SourceLine | None) -> str:
    """Return which loop saved the data of a line, without the file if it is the same."""
    if source is None or saved_by is None or saved_by == source:
        return ""
    place = saved_by.short if saved_by.file != source.file else f":{saved_by.line}"
    return f", saved by the scan at {place}"


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


def metadata_of(dump: Compile, line: LocatedRecord[InstructionLine]) -> Mapping[str, str]:
    """Return the metadata of an instruction; of a product that a library runs, its own.

    XLA for GPUs and TPUs prints them at the fusion with the product. XLA for CPUs prints those of
    any operation that the library runs with the product, such as a maximum.
    """
    record = line.record
    is_library = dump.backend is Backend.CPU and _LIBRARY in record.text
    if record.opcode == "fusion" and (is_library or _YNNPACK in record.text):
        module = line.file.module
        for computation in module.called_by(record):
            for one in module.computation(computation).members:
                if one.opcode in PRODUCT_OPCODES and one.metadata:
                    return one.metadata
    return record.metadata if "metadata=" in record.text else {}  # parsing takes time


@query  # which edits of memory files leave valid
def _search_in(file: DumpFile, dump: Compile) -> "_Search":
    """Return a search in a module text; what it finds depends on the module texts alone."""
    for one in dump.files:
        one.depend_on_module()
    return _Search(dump, file)


def is_rearrangement(dump: Compile, instruction: InstructionLine) -> bool:
    """Return whether XLA inserted an instruction that only rearranges data.

    XLA inserts such instructions without metadata; those of the program have a source.
    ``ConcatBitcast`` joins the slices of an array that XLA copied to VMEM in parts, and the others
    join and divide numbers of 64 bits, which a TPU keeps as two of 32 bits.
    """
    if instruction.opcode == "custom-call":
        is_known = _REARRANGING_CALL.search(instruction.text) is not None
    else:
        parts = opcode_spec(instruction.opcode).result
        is_known = any(part.kind is ResultKind.REARRANGED for part in parts)
    return is_known and not dump.stack_of(instruction.metadata)


_NameAndStack = tuple[str | None, tuple[SourceLine, ...]]


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
        self._steps: dict[ResultElement, ResultElement | None] = {}
        self._origins: dict[ResultElement, Origin] = {}
        self._searched: set[ComputationLine] = set()  # whose inner fusions are in the steps
        self._names_and_stacks: dict[InstructionLine, _NameAndStack] = {}
        self._saved = saved_data(file, dump)
        self._fillers: dict[ResultElement, ResultElement] | None = None  # found on request

    def origin(self, instruction: InstructionLine, path: TuplePath) -> Origin:
        start = ResultElement(instruction, path)
        if start not in self._origins:
            self._origins[start] = self._origin([*self._steps_back(*start)])
        return self._origins[start]

    def _steps_back(
        self, instruction: InstructionLine, path: TuplePath, *, is_inside: bool = False
    ) -> Iterator[ResultElement]:
        """Yield an element, and those that moved its data, back to its producer.

        With ``is_inside``, a parameter of the computation is its producer.
        """
        step: ResultElement | None = ResultElement(instruction, path)
        seen: set[ResultElement] = set()
        while step is not None and step not in seen and len(seen) < _MAX_PATH_LENGTH:
            yield step
            seen.add(step)
            is_deep = len(step.path) > _MAX_PATH_DEPTH
            is_end = is_deep or (is_inside and step[0].opcode == "parameter")
            step = None if is_end else self._previous(*step)

    def _previous(self, instruction: InstructionLine, path: TuplePath) -> ResultElement | None:
        """Return the instruction that the data of a result came from unchanged, or None."""
        key = ResultElement(instruction, path)
        if key not in self._steps:
            self._steps[key] = None  # where circular calls of a damaged text end
            saved = self._saved.moves.get(key)
            self._steps[key] = saved or self._find_previous(instruction, path)
        return self._steps[key]

    def _find_previous(self, instruction: InstructionLine, path: TuplePath) -> ResultElement | None:
        if instruction.opcode == "parameter":
            return self._before_parameter(instruction, path)
        if instruction.opcode == "custom-call" and is_rearrangement(self._dump, instruction):
            operand = next(iter(self._module.operands(instruction)), None)
            return None if operand is None else ResultElement(operand, path)
        if not path and instruction.opcode == "fusion":
            return self._before_fusion(instruction)
        for source, rest, kind in self._flow.sources(instruction, path):
            if kind is ResultKind.REARRANGED and self._source(instruction) is not None:
                return None
            # An update only continues its start.
            is_update = source.opcode.endswith("-update")
            start = self._flow.async_start(source) if is_update else None
            return ResultElement(start or source, rest)
        if self._module.opcode(instruction) == "async-start" and path > _ASYNC_RESULT:
            return ResultElement(instruction, _ASYNC_RESULT)  # what the operation needs to run
        return None

    def _before_fusion(self, fusion: InstructionLine) -> ResultElement | None:
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
                return None if operand is None else ResultElement(operand, path)
        return None

    def _fused_in(self, head: ComputationLine) -> Iterator[ComputationLine]:
        for fusion in self._fusions_in(head):
            yield from self._module.called_by(fusion)

    def _fusions_in(self, head: ComputationLine) -> Iterator[InstructionLine]:
        """Yield the fusions without a source in a computation."""
        for member in self._module.members(head):
            if member.opcode == "fusion" and self._is_fusion_without_source(member):
                yield member

    def _before_parameter(
        self, parameter: InstructionLine, path: TuplePath
    ) -> ResultElement | None:
        sources = [source for source, _, _ in self._flow.sources(parameter, path)]
        if len(sources) < 2:
            return ResultElement(sources[0], path) if sources else None
        # A loop passes its operand, then the root of its body: what the body does not change comes
        # from outside.
        is_unchanged = self._walk(sources[-1], path) == (parameter, path)
        return ResultElement(sources[0 if is_unchanged else -1], path)

    def _walk(self, instruction: InstructionLine, path: TuplePath) -> ResultElement:
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

    def _filling(self, end: ResultElement, sources: set[SourceLine | None]) -> list[ResultElement]:
        """Return the steps back from what a loop fills a buffer with, to the producer.

        XLA allocates and clears the buffers of the results of loops with instructions without
        metadata, or with those of the loop.

        Args:
            end: The instruction that allocates the buffer.
            sources: The Python lines at which it is allocated.
        """
        if self._fillers is None:
            self._fillers = dict(self._find_fillers())
        filler = self._fillers.get(end)
        steps = [] if filler is None else [*self._steps_back(*filler)]
        loop = self._loop_that_saves(steps)
        is_known = sources and (loop is None or line_of(self._dump, loop) not in sources)
        return [] if is_known else steps

    def _find_fillers(self) -> Iterator[tuple[ResultElement, ResultElement]]:
        """Yield the elements that loops change: what they get, and what their bodies return."""
        for element in state_elements(self._file):
            checkpoint()
            if self._walk(*element.result) != element.parameter:
                for start in self._outside_of_calls(element.start):
                    yield start, element.result

    def _outside_of_calls(self, start: ResultElement) -> list[ResultElement]:
        """Return where an element comes from; XLA for CPUs wraps small loops in calls."""
        found, waiting = [], [start]
        for _ in range(_MAX_PATH_LENGTH):
            if not waiting:
                break
            end = self._walk(*waiting.pop())
            home = self._module.computation_of(end.instruction)
            callers = [] if home is None else self._module.callers(home)
            passed = [operand for _, operand in self._flow.arguments(end.instruction)]
            if passed and all(caller.opcode == "call" for caller in callers):
                waiting += [ResultElement(operand, end.path) for operand in passed]
            else:
                found.append(end)
        return found

    def _loop_that_saves(self, steps: Iterable[ResultElement]) -> InstructionLine | None:
        """Return the loop that saves the data on a way, the nearest to the buffer."""
        loops = (self._saved.loops.get(step.instruction) for step in steps)
        return next((loop for loop in loops if loop is not None), None)

    def _source(self, instruction: InstructionLine) -> SourceLine | None:
        """Return the line of an operation; None for what XLA inserted."""
        name, stack = self._name_and_stack(instruction)
        return None if _is_call_of_body(name) else next(iter(stack), None)

    def _name_and_stack(self, line: InstructionLine) -> _NameAndStack:
        """Return the operation name and the Python stack in the metadata."""
        if line not in self._names_and_stacks:
            metadata = metadata_of(self._dump, LocatedRecord(self._file, line))
            stack = tuple(self._dump.stack_of(metadata))
            self._names_and_stacks[line] = metadata.get("op_name"), stack
        return self._names_and_stacks[line]

    def _origin(self, steps: list[ResultElement]) -> Origin:
        """Return the origin at the end of steps back from a buffer."""
        chain = [step.instruction for step in steps]
        producer, path = steps[-1]
        number = parameter_number(producer)
        home = self._module.computation_of(producer)
        argument = None
        if number is not None and home is not None and home.is_entry:
            op_name, _ = self._name_and_stack(producer)  # kept, as parameters can be long texts
            name = unescape_argument(op_name or "") or tupled_argument_names(self._dump).get(path)
            argument = name or f"parameter {number}"
        lines = self._with_members(chain)
        filling = []
        if argument is None:
            stacks = (self._name_and_stack(line)[1] for line in lines)
            sources = {self._dump.frames.line_of(stack) for stack in stacks if stack}
            filling = self._filling(steps[-1], sources)
            lines = self._with_members([step.instruction for step in filling]) + lines
            if not sources and any(line.opcode in PRODUCT_OPCODES for line in lines):
                lines += self._flow.rearrangements(producer)
        facts = [(*self._name_and_stack(line), line.name) for line in lines]
        facts.sort(key=lambda fact: _is_call_of_body(fact[0]))
        op_name, _, named = next((fact for fact in facts if fact[0] is not None), (None, (), ""))
        _, stack, placed = next((fact for fact in facts if fact[1]), (None, (), named))
        located = LocatedRecord(self._file, producer)
        source = self._dump.frames.line_of(stack)
        loop = self._loop_that_saves([*steps, *filling])
        saved_by = None if loop is None else line_of(self._dump, loop)
        via = tuple(line.name for line in chain[:-1])
        return Origin(located, argument, op_name, stack, source, saved_by, via, placed)


def _is_call_of_body(op_name: str | None) -> bool:
    return op_name is not None and _CALL_OF_BODY.search(op_name) is not None
