"""The data that loops save: what ``lax.scan`` collects of all iterations in one buffer.

The body of such a loop gets the buffer as an element of its state, and returns it with one slice
updated by a ``dynamic-update-slice``. JAX gives the update the Python line of the loop.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import TuplePath
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_WALK_STEPS = 400  # Real bodies need fewer than forty.
# JAX traces this function once for all loops, so its Python line can be that of another loop.
_UPDATE_FUNCTION = re.compile(r"/body/jit\(_?dynamic_update_index_in_dim\)/")


class ResultElement(NamedTuple):
    """An element of the result of an instruction."""

    instruction: InstructionLine
    path: TuplePath


@dataclass(frozen=True, slots=True)
class StateElement:
    """An element of the state of a loop.

    Attributes:
        start: What the loop gets.
        parameter: What the body gets.
        result: What the body returns.
    """

    loop: InstructionLine
    start: ResultElement
    parameter: ResultElement
    result: ResultElement


@dataclass(frozen=True, slots=True)
class SavedData:
    """The data that the loops of a module save.

    Attributes:
        moves: For each update of a buffer, the data that it writes; for each fusion with such a
            result, the root of its computation.
        loops: The loops that the updates belong to.
    """

    moves: Mapping[ResultElement, ResultElement]
    loops: Mapping[InstructionLine, InstructionLine]


@query  # because a hover has a search of its own
def state_elements(file: DumpFile) -> list[StateElement]:
    """Return the elements of the states of all loops of a module text."""
    module, flow = file.module, ModuleFlow(file.module)
    loops = module.loops.in_order()
    return [element for loop in loops for element in _elements_of(module, flow, loop)]


def _elements_of(
    module: ModuleIndex, flow: ModuleFlow, loop: InstructionLine
) -> Iterator[StateElement]:
    operand = flow.operand(loop, 0)
    for root in flow.roots(loop):
        body = module.computation_of(root)
        parameter = None if body is None else module.computation(body).parameters.get(0)
        if operand is None or parameter is None:
            continue
        for number, _ in enumerate(root.operands):
            path = (number,)
            places = (ResultElement(each, path) for each in (operand, parameter, root))
            yield StateElement(loop, *places)


@query  # because a hover has a search of its own
def saved_data(file: DumpFile, dump: Compile) -> SavedData:
    """Return the data that the loops of a module text save."""
    flow = ModuleFlow(file.module)
    moves: dict[ResultElement, ResultElement] = {}
    loops: dict[InstructionLine, InstructionLine] = {}
    for element in state_elements(file):
        checkpoint()
        for place, data in _moves(dump, flow, element):
            moves.setdefault(place, data)
            if place.instruction.opcode == "dynamic-update-slice":
                loops.setdefault(place.instruction, element.loop)
    return SavedData(moves, loops)


def _moves(
    dump: Compile, flow: ModuleFlow, element: StateElement
) -> list[tuple[ResultElement, ResultElement]]:
    """Return the moves between the buffer that a body returns and the one that it gets.

    The walk follows the buffer, which an update only changes in part.
    """
    found: list[tuple[ResultElement, ResultElement]] = []
    fusions: list[tuple[ResultElement, ResultElement]] = []
    place = element.result
    for _ in range(_MAX_WALK_STEPS):
        if place == element.parameter:
            return found
        instruction, path = place
        if instruction.opcode == "dynamic-update-slice" and not path:
            buffer, data = flow.operand(instruction, 0), flow.operand(instruction, 1)
            if buffer is None:
                break
            if data is not None and _is_made_by_loop(dump, instruction, element.loop):
                found += [*fusions, (place, ResultElement(data, ()))]
            place, fusions = ResultElement(buffer, ()), []
            continue
        source = next(iter(flow.sources(instruction, path)), None)
        if source is None:
            break
        before = ResultElement(*source[:2])
        if instruction.opcode == "fusion" and not path:
            fusions = [(place, before)]
        place = before
    return []


def _is_made_by_loop(dump: Compile, update: InstructionLine, loop: InstructionLine) -> bool:
    """Return whether an update is part of the loop, and not of the function that it runs."""
    source = line_of(dump, update)
    name = update.metadata.get("op_name", "")
    is_of_loop = source is None or source == line_of(dump, loop)
    return is_of_loop or _UPDATE_FUNCTION.search(name) is not None


def line_of(dump: Compile, instruction: InstructionLine) -> SourceLine | None:
    """Return the Python line of an instruction that owns memory, None if it has none."""
    return dump.frames.line_of(dump.stack_of(instruction.metadata))
