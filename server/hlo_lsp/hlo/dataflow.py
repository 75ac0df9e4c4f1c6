"""Dataflow between the instructions of a module, by the facts in ``opcodes.toml``.

The rules are those of ``HloDataflowAnalysis`` (hlo_dataflow_analysis.cc). A walk takes one step at
a time, from a part of a result to where it comes from, or to where it goes.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from hlo_lsp.hlo.notation import TuplePath
from hlo_lsp.hlo.vocabulary import OperandPassing, ResultKind, ResultPart, opcode_spec

_MAX_ASYNC_STEPS = 400  # Real chains have fewer than ten.
_ASYNC_ENDINGS = ("-update", "-done")
_SAME_BUFFER = frozenset({ResultKind.OPERAND, ResultKind.TUPLE})
_OTHER_COMPUTATIONS = frozenset({ResultKind.ROOT, ResultKind.ARGUMENT})

Instruction = TypeVar("Instruction")
Computation = TypeVar("Computation")


class Dataflow(Protocol[Instruction, Computation]):
    """The steps of dataflow in a module; a subclass reads the module in one of its forms.

    An operand is None if it is undefined or missing. Callees come with the attributes that name
    them, branches in the order of their operands. A parameter has a computation and a number.
    """

    def _opcode(self, instruction: Instruction) -> str: ...
    def _operand_count(self, instruction: Instruction) -> int: ...
    def _operand(self, instruction: Instruction, number: int) -> Instruction | None: ...
    def _first_operand_users(self, instruction: Instruction) -> Iterable[Instruction]: ...
    def _selected_element(self, instruction: Instruction) -> int | None: ...
    def _parameter_place(self, parameter: Instruction) -> tuple[Computation, int] | None: ...
    def _callees(self, caller: Instruction) -> Sequence[tuple[str, Computation | None]]: ...
    def _callers(self, computation: Computation) -> Iterable[Instruction]: ...
    def _root(self, computation: Computation) -> Instruction | None: ...

    def sources(
        self, instruction: Instruction, path: TuplePath
    ) -> Iterator[tuple[Instruction, TuplePath, ResultKind]]:
        """Yield where an element of a result comes from; several where control flow merges."""
        for part in opcode_spec(self._opcode(instruction)).result:
            if path[: len(part.at)] != part.at:
                continue
            rest = path[len(part.at) :]
            if part.kind is ResultKind.ROOT:
                yield from ((root, rest, part.kind) for root in self.roots(instruction))
            elif part.kind is ResultKind.ARGUMENT:
                passed = self.arguments(instruction)
                yield from ((operand, rest, part.kind) for _, operand in passed)
            elif (place := self._place_in_operand(instruction, part, rest)) is not None:
                found = self._passed_operand(instruction, place[0])
                if found is not None:
                    yield found[1], place[1], _kind_at(part.kind, rest)

    def _place_in_operand(
        self, instruction: Instruction, part: ResultPart, path: TuplePath
    ) -> tuple[int, TuplePath] | None:
        """Return the operand that an element of a part comes from, and the element of it."""
        if part.kind is ResultKind.ELEMENT:
            element = self._selected_element(instruction)
            return None if element is None else (part.operand, (element, *path))
        if self._has_operand_elements(instruction, part):
            return (part.operand + path[0], path[1:]) if path else None
        return part.operand, (*part.element, *path)

    def destinations(
        self, user: Instruction, number: int, path: TuplePath
    ) -> Iterator[tuple[TuplePath, ResultKind]]:
        """Yield where the result of an instruction has an element of its operand ``number``.

        The operands that an asynchronous operation only holds until its end are not among them.
        """
        for part in opcode_spec(self._opcode(user)).result:
            rest: TuplePath | None = None
            is_held = bool(part.at) and not part.element and part.kind in _SAME_BUFFER
            if is_held or part.kind in _OTHER_COMPUTATIONS:
                continue
            if part.kind is ResultKind.ELEMENT:
                rest = path[1:] if path[:1] == (self._selected_element(user),) else None
            elif self._has_operand_elements(user, part):
                rest = (number - part.operand, *path)
            elif number == part.operand and path[: len(part.element)] == part.element:
                rest = path[len(part.element) :]
            if rest is not None:
                yield (*part.at, *rest), _kind_at(part.kind, rest)

    def _has_operand_elements(self, instruction: Instruction, part: ResultPart) -> bool:
        """Return whether the elements of a part are operands, and not those of one operand."""
        is_several = part.is_repeated and self._operand_count(instruction) > 1
        return part.kind is ResultKind.TUPLE or is_several

    def roots(self, caller: Instruction) -> list[Instruction]:
        """Return the roots of the computations that produce the result of a caller.

        For a loop this is the root of its body, for a reduction the root of its reducer.
        """
        parts = opcode_spec(self._opcode(caller)).result
        of = next((part.attribute for part in parts if part.kind is ResultKind.ROOT), "")
        roots = (
            self._root(computation)
            for attribute, computation in self._callees(caller)
            if computation is not None and of in {"", attribute}
        )
        return [root for root in roots if root is not None]

    def arguments(self, parameter: Instruction) -> Iterator[tuple[Instruction, Instruction]]:
        """Yield the instructions that pass operands to a parameter, each with the operand.

        For a loop, the root of the body follows the operand of the loop.
        """
        place = self._parameter_place(parameter)
        if place is None:
            return
        for caller in self._callers(place[0]):
            for number in self.operand_numbers(caller, *place):
                found = self._passed_operand(caller, number)
                if found is not None:
                    yield found
            passes = opcode_spec(self._opcode(caller)).passes
            if passes is OperandPassing.LOOP and place[1] == 0:
                yield from ((caller, root) for root in self.roots(caller))

    def operand_numbers(
        self, caller: Instruction, computation: Computation, parameter: int
    ) -> list[int]:
        """Return the operands of a caller that it passes to a parameter of a computation."""
        passes = opcode_spec(self._opcode(caller)).passes
        if passes is OperandPassing.POSITIONS:
            return [parameter]
        if passes is OperandPassing.NONE or parameter > 0:
            return []
        if passes is OperandPassing.LOOP:
            return [0]
        callees = enumerate(self._callees(caller), 1)
        return [number for number, (_, callee) in callees if callee == computation]

    def passed_operands(self, caller: Instruction) -> list[tuple[Instruction, int]]:
        """Return the operands that a caller passes, as their instruction and their number there.

        The operands of an async-start and of its async-updates form one list.
        """
        found = [(caller, number) for number in range(self._operand_count(caller))]
        if self._opcode(caller) == "async-start":
            for step in self.async_successors(caller):
                if self._opcode(step) == "async-update":
                    found += [(step, number) for number in range(1, self._operand_count(step))]
        return found

    def _passed_operand(
        self, caller: Instruction, number: int
    ) -> tuple[Instruction, Instruction] | None:
        """Return the instruction that passes an operand for a caller, and the operand."""
        operand = self._operand(caller, number)
        if operand is None and self._opcode(caller) == "async-start":
            passed = self.passed_operands(caller)
            if number < len(passed):
                caller, number = passed[number]
                operand = self._operand(caller, number)
        return None if operand is None else (caller, operand)

    def async_start(self, step: Instruction) -> Instruction | None:
        """Return the ``-start`` of an ``-update`` or ``-done``, or None if it is missing."""
        for _ in range(_MAX_ASYNC_STEPS):
            before = self._operand(step, 0)
            if before is None or not self._opcode(step).endswith(_ASYNC_ENDINGS):
                return None
            if self._opcode(before).endswith("-start"):
                return before
            step = before
        return None

    def async_successors(self, start: Instruction) -> Iterator[Instruction]:
        """Yield the ``-update`` and ``-done`` instructions of an async operation in order."""
        waiting, seen = [start], {start}
        while waiting and len(seen) < _MAX_ASYNC_STEPS:
            for user in self._first_operand_users(waiting.pop(0)):
                if user not in seen and self._opcode(user).endswith(_ASYNC_ENDINGS):
                    seen.add(user)
                    yield user
                    if self._opcode(user).endswith("-update"):
                        waiting.append(user)


def _kind_at(kind: ResultKind, path: TuplePath) -> ResultKind:
    """Return how an element of a part comes from elsewhere: a copy is of the whole alone."""
    return ResultKind.OPERAND if path and kind is ResultKind.COPY else kind


# The result of other `-start` instructions is (operands, result, contexts ...).
_STARTS_WITHOUT_OPERANDS = frozenset({"copy-start", "all-reduce-start"})


def started_element(opcode: str) -> int | None:
    """Return the element of the tuple of a ``-start`` that has the data; None for others."""
    if not opcode.endswith("-start"):
        return None
    return 0 if opcode in _STARTS_WITHOUT_OPERANDS else 1


T = TypeVar("T", bound=Hashable)


def callees_first(
    root: T, callees: Callable[[T], Iterable[T]], is_known: Callable[[T], bool]
) -> Iterator[T]:
    """Yield what a root calls, directly or not, and then the root, each after its callees.

    The calls of a text may nest deeper than the stack of Python, so nothing recurses. A call of an
    open caller, as in damaged texts, is ignored. What ``is_known`` is left out with
    all that only it calls.
    """
    seen = {root}
    stack = [(root, iter(callees(root)))]
    while stack:
        caller, rest = stack[-1]
        callee = next((one for one in rest if one not in seen and not is_known(one)), None)
        if callee is None:
            stack.pop()
            yield caller
        else:
            seen.add(callee)
            stack.append((callee, iter(callees(callee))))
