"""Dataflow between computations: parameters, their operands, and elements of tuples.

HLO semantics: a fusion, call or async-start passes operand k to parameter k. A while passes its
operand, and then the root of its body, to the parameter of condition and body. A conditional passes
operand k + 1 to the parameter of branch k. The result of an async-start is ((operands), result,
contexts ...); the async-done returns its second element.
"""

import re
from collections.abc import Iterator

from hlo_lsp.hlo.vocabulary import OperandPassing, ResultKind, opcodes_passing, opcodes_with
from hlo_lsp.model.computation import Callee
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_INDEX = re.compile(r"\s*\d{1,9}\s*")  # of an element of a tuple
_MAX_WALK_STEPS = 400  # Real modules need fewer than ten.
_CALLERS_BY_POSITION = opcodes_passing(OperandPassing.POSITIONS)
_CALLERS_RETURNING_ROOT = opcodes_with(ResultKind.CALLEE)
_BRANCH_ATTRIBUTES = ("branch_computations", "true_computation", "false_computation")
_FORWARDING_OPCODES = opcodes_with(ResultKind.ELEMENT, ResultKind.ARGUMENT)
# The result is the only operand, unchanged.
_IDENTITY_OPCODES = opcodes_with(ResultKind.OPERAND, ResultKind.COPY) | {"copy-done"}


def operands_of_parameter(
    module: ModuleIndex, parameter: InstructionLine
) -> list[tuple[InstructionLine, InstructionLine]]:
    """Return the callers of a parameter's computation, each with the operand that it passes.

    For a loop, the root of the body follows the operand of the loop.
    """
    computation = module.computation_of(parameter)
    number = parameter_number(parameter)
    if computation is None or number is None:
        return []
    found: list[tuple[InstructionLine, InstructionLine]] = []
    for caller in module.callers(computation):
        operands = passed_operands(module, caller)
        for place in _operand_numbers(module, caller, computation, number):
            passer, operand = operands[place] if place < len(operands) else (caller, None)
            if operand is not None:
                found.append((passer, operand))
        if caller.opcode == "while" and number == 0:
            found += [(caller, root) for root in roots_of(module, caller)]
    return found


def parameters_of_operand(
    module: ModuleIndex, caller: InstructionLine, place: int
) -> list[InstructionLine]:
    """Return the parameters that receive operand number ``place`` of a calling instruction.

    An async-update calls the computations of its async-start, with its operands after the first.
    """
    if caller.opcode == "async-update":
        start = async_start_of(module, caller)
        if start is None or place == 0:
            return []
        passers = [passer for passer, _ in passed_operands(module, start)]
        if caller not in passers:
            return []
        caller, place = start, passers.index(caller) + place - 1
    return [
        parameter
        for computation in dict.fromkeys(module.called_by(caller))
        for number, parameter in module.computation(computation).parameters.items()
        if place in _operand_numbers(module, caller, computation, number)
    ]


def roots_of(module: ModuleIndex, caller: InstructionLine) -> list[InstructionLine]:
    """Return the roots of the computations that produce the result of a calling instruction.

    For a loop this is the root of its body, for a reduction the root of its reducer.
    """
    roots = (
        module.computation(callee.computation).root
        for callee in module.callees(caller)
        if callee.computation is not None
        and (callee.attribute == "body" or caller.opcode != "while")
    )
    return [root for root in roots if root is not None]


def element_sources(
    module: ModuleIndex, tuple_instruction: InstructionLine, number: int
) -> list[InstructionLine]:
    """Return the instructions that compute element ``number`` of a tuple.

    The search follows loops, fusions, calls, and branches. It returns several instructions where
    control flow merges.
    """
    found: dict[InstructionLine, None] = {}
    _trace(module, tuple_instruction, (number,), set(), found)
    return list(found)


TuplePath = tuple[int, ...]


def _trace(
    module: ModuleIndex,
    instruction: InstructionLine,
    path: TuplePath,
    seen: set[tuple[InstructionLine, TuplePath]],
    found: dict[InstructionLine, None],
) -> None:
    if (instruction, path) in seen or len(seen) > _MAX_WALK_STEPS:
        return
    seen.add((instruction, path))
    if not path and instruction.opcode not in _FORWARDING_OPCODES:
        found[instruction] = None
        return
    sources = list(direct_sources(module, instruction, path))
    for source, rest in sources:
        _trace(module, source, rest, seen, found)
    if not sources:
        found[instruction] = None


def direct_sources(
    module: ModuleIndex, instruction: InstructionLine, path: TuplePath
) -> Iterator[tuple[InstructionLine, TuplePath]]:
    """Yield the instructions and paths that an element of a result comes from directly."""
    opcode = instruction.opcode
    if opcode == "tuple":
        operands = module.operands(instruction)
        if path[0] < len(operands):
            operand = operands[path[0]]
            if operand is not None:
                yield operand, path[1:]
    elif opcode == "get-tuple-element":
        index = instruction.parsed.attribute("index")
        operand = next(iter(module.operands(instruction)), None)
        if index is not None and operand is not None and _INDEX.fullmatch(index.text):
            yield operand, (int(index.text), *path)
    elif opcode == "parameter":
        yield from ((operand, path) for _, operand in operands_of_parameter(module, instruction))
    elif opcode in _IDENTITY_OPCODES and len(instruction.operands) == 1:
        operand = next(iter(module.operands(instruction)), None)
        if operand is not None and operand.shape.startswith("("):
            yield operand, path
    elif opcode in _CALLERS_RETURNING_ROOT:
        yield from ((root, path) for root in roots_of(module, instruction))
    elif opcode in {"async-start", "async-update", "async-done"}:
        yield from _async_sources(module, instruction, path)


def _async_sources(
    module: ModuleIndex, step: InstructionLine, path: TuplePath
) -> Iterator[tuple[InstructionLine, TuplePath]]:
    """Yield the sources of an element of an instruction in an async chain."""
    start = step if step.opcode == "async-start" else async_start_of(module, step)
    if start is None or not path:
        return
    if step.opcode == "async-done":
        path = (1, *path)
    if path[0] == 1:
        for root in roots_of(module, start):
            yield root, path[1:]
    elif path[0] == 0 and len(path) > 1:
        operands = passed_operands(module, start)
        operand = operands[path[1]][1] if path[1] < len(operands) else None
        if operand is not None:
            yield operand, path[2:]


def _operand_numbers(
    module: ModuleIndex, caller: InstructionLine, computation: ComputationLine, number: int
) -> list[int]:
    """Return the operands of ``caller`` that it passes to parameter ``number`` of a callee."""
    if caller.opcode in _CALLERS_BY_POSITION:
        return [number]
    if caller.opcode == "while":
        return [0] if number == 0 else []
    if caller.opcode == "conditional" and number == 0:
        branches = branches_of(module, caller)
        return [at for at, branch in enumerate(branches, 1) if branch.computation is computation]
    return []


def branches_of(module: ModuleIndex, conditional: InstructionLine) -> list[Callee]:
    """Return the branches of a ``conditional`` in operand order."""
    found = [one for one in module.callees(conditional) if one.attribute in _BRANCH_ATTRIBUTES]
    return sorted(found, key=lambda callee: _BRANCH_ATTRIBUTES.index(callee.attribute))


_ASYNC_SUFFIXES = ("-start", "-update", "-done")


def async_start_of(module: ModuleIndex, step: InstructionLine) -> InstructionLine | None:
    """Return the ``-start`` of an ``-update`` or ``-done``, or None if it is missing."""
    for _ in range(_MAX_WALK_STEPS):
        before = next(iter(module.operands(step)), None)
        if before is None or not step.opcode.endswith(_ASYNC_SUFFIXES[1:]):
            return None
        if before.opcode.endswith("-start"):
            return before
        step = before
    return None


def async_successors(module: ModuleIndex, start: InstructionLine) -> Iterator[InstructionLine]:
    """Yield the ``-update`` and ``-done`` instructions of an async operation in order."""
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MAX_WALK_STEPS:
        step = waiting.pop(0)
        for user in module.users(step):
            before = next(iter(module.operands(user)), None)
            if before is step and user not in seen and user.opcode.endswith(_ASYNC_SUFFIXES[1:]):
                seen.add(user)
                yield user
                if user.opcode.endswith("-update"):
                    waiting.append(user)


def passed_operands(
    module: ModuleIndex, caller: InstructionLine
) -> list[tuple[InstructionLine, InstructionLine | None]]:
    """Return the operands that a calling instruction passes, each with the instruction that has it.

    The operands of an async-start and of its async-updates form one list.
    """
    found = [(caller, operand) for operand in module.operands(caller)]
    if caller.opcode == "async-start":
        for step in async_successors(module, caller):
            if step.opcode == "async-update":
                found += [(step, operand) for operand in module.operands(step)[1:]]
    return found


_KNOWN_TRIP_COUNT = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d{1,19})"')


def trip_count(instruction: InstructionText) -> int | None:
    """Return the number of iterations of a ``while``; None if XLA did not determine it."""
    config = instruction.attribute("backend_config")
    if instruction.opcode.text != "while" or config is None:
        return None
    found = _KNOWN_TRIP_COUNT.search(config.text)
    return None if found is None else int(found[1])
