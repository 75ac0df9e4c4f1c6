"""Origins and Python lines as text: where the data of a buffer came from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hlo_lsp.display.cards import Fact
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import FrameChoice, SourceLine
from hlo_lsp.program.argument_names import unoptimized_arguments
from hlo_lsp.program.data_origin import Origin, metadata_of, origin_of
from hlo_lsp.program.stages import instructions_by_operation
from hlo_lsp.syntax.instruction_text import InstructionText

_MAX_UNPREPARED_RECORDS = 500  # the facts of so many take at most 10 ms
_MAX_LISTED_MOVES = 4
_MAX_NAME_CHARACTERS = 60


def prepare_hovers(dump: Compile) -> None:
    """Compute the facts of a compile that many hovers need, so that the first is fast, too."""
    for file in dump.files:
        if len(file.module.instructions):
            file.module.index()
    memory_space_occupancies(dump)
    for other in dump.others:
        instructions_by_operation(other)
    unoptimized_arguments(dump)


def needs_preparation(dump: Compile) -> bool:
    """Return whether ``prepare_hovers`` takes longer than a hover may."""
    return any(
        max(len(file.module.instructions), len(file.memory.assigned)) > _MAX_UNPREPARED_RECORDS
        for file in (*dump.files, *dump.others)
    )


@query  # so that the headline and the facts of a hover share one search
def value_origin(dump: Compile, name: str, index: str | None) -> Origin | None:
    """Return the origin of a value."""
    return origin_of(dump, name, index)


def origin_label(origin: Origin, name: str) -> str:
    """Return ``train.py:25 dot_general``, or the argument, for the value of an instruction.

    The label of data that another instruction without metadata produced is that instruction.
    """
    if origin.argument is not None:
        return describe_argument(origin.argument)
    producer = origin.instruction.record
    return origin.label or ("" if producer.name == name else f"`{producer.name}` {producer.opcode}")


def describe_argument(argument: str) -> str:
    """Return ``argument `p['w']` `` or ``parameter 3``."""
    if argument.startswith("parameter "):
        return argument
    name = argument.replace("`", "'")
    return f"argument `{name[:_MAX_NAME_CHARACTERS]}`"


def origin_and_source_facts(
    dump: Compile, name: str, index: str | None, text: InstructionText | None
) -> list[Fact]:
    """Return the origin of a value, and the operation and Python stack of its instruction."""
    origin = value_origin(dump, name, index)
    line = dump.instruction(name)
    metadata: Mapping[str, str] = {}
    if text is not None:
        metadata = (line and metadata_of(dump, line)) or text.metadata
    own = _metadata_facts(dump, metadata)
    if origin is None:
        return own
    if origin.argument is None and not origin.via:
        return own or [
            *_operation_facts(origin.op_name),
            *_owner_facts(dump.frames, origin.stack),
        ]
    is_repeated = any(fact.source == origin.source for fact in own if fact.source is not None)
    return [_origin_fact(origin, name, with_source=not is_repeated), *own]


def _origin_fact(origin: Origin, name: str, *, with_source: bool) -> Fact:
    """Return the instruction or argument that a value came from, with the path."""
    producer = origin.instruction.record
    parts = [] if origin.argument is None else [describe_argument(origin.argument)]
    if producer.name != name:
        parts.append(f"`{producer.name}` {producer.opcode}")
    moves = [f"`{move}`" for move in origin.via if move != name]
    if moves:
        parts.append(f"via {join_limited(moves, _MAX_LISTED_MOVES)}")
    text = ", ".join(parts)
    if origin.source is None or not with_source:
        return Fact("origin", text)
    callers = origin.stack[origin.stack.index(origin.source) + 1 :]
    line = f"{describe_source_line([origin.source])}{origin.saving}"
    return Fact("origin", f"{text}; {line}" if text else line, origin.source, callers)


def source_facts(dump: Compile, text: InstructionText) -> list[Fact]:
    """Return the operation name and the Python stack of an instruction."""
    return _metadata_facts(dump, text.metadata)


def _metadata_facts(dump: Compile, metadata: Mapping[str, str]) -> list[Fact]:
    facts = _operation_facts(metadata.get("op_name"))
    return [*facts, *_owner_facts(dump.frames, dump.stack_of(metadata))]


def _owner_facts(frames: FrameChoice, stack: Sequence[SourceLine]) -> list[Fact]:
    """Return the fact about the line of a stack that owns an instruction."""
    source = frames.line_of(stack)
    if source is None or source == stack[0]:
        return stack_facts(stack)
    (fact,) = stack_facts(stack[stack.index(source) :])
    return [replace(fact, text=f"{fact.text}; the innermost frame is {stack[0]}")]


def _operation_facts(op_name: str | None) -> list[Fact]:
    name = (op_name or "").replace("`", "'")
    return [Fact("op_name", f"`{name}`")] if name else []


def stack_facts(stack: Sequence[SourceLine]) -> list[Fact]:
    """Return the fact about a Python stack, which starts at the innermost line."""
    if not stack:
        return []
    return [Fact("source", describe_source_line(stack), stack[0], tuple(stack[1:]))]


def describe_source_line(stack: Sequence[SourceLine]) -> str:
    """Return the innermost Python line and its function as text."""
    function = stack[0].function
    return f"{stack[0]}{f' in `{function}`' if function else ''}"
