"""Live ranges of values, computed from the schedule of a module (hlo_live_range.cc).

The tree of the bytes at the peak by call stack follows from them (hlo_stack_trace.cc).
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import index_text, spaced
from hlo_lsp.hlo.vocabulary import CONTROL_FLOW_OPCODES, OperandReading, opcode_spec, vocabulary
from hlo_lsp.protos.attributes import MAIN_THREAD
from hlo_lsp.protos.dataflow import Place, ValueFlow, place_of, shape_indices
from hlo_lsp.protos.shapes import ELEMENT_TYPES, decoded, joined

_VARIABLE = re.compile(r"[a-zA-Z_]\w*")
_KEY_OR_ATTRIBUTE = re.compile(r"\['([^']+)'\]|\.(\w+)")
_MAX_TRACES = 10_000  # of one value; more come from a proto that no compiler wrote


@dataclass(slots=True)
class _Node:
    """A node of the tree; its bytes do not include those of its children."""

    own_bytes: int = 0
    total_bytes: int = 0
    children: dict[str, "_Node"] = field(default_factory=dict)

    def add_up(self) -> int:
        """Compute the bytes with those of the children."""
        self.total_bytes = self.own_bytes + sum(one.add_up() for one in self.children.values())
        return self.total_bytes


def stack_trace_lines(
    sized: Sequence[tuple[Place, int]], instructions: dict[int, Any], flow: ValueFlow
) -> Iterator[str]:
    """Yield the lines of the tree, none if a value has too many call stacks.

    ``sized`` are the values at the peak with their bytes, in the order of the list at the peak.
    """
    total = sum(size for _, size in sized)
    tree = _Node()
    for (number, index), size in sized:
        traces = list(islice(_traces(instructions[number], flow, ()), _MAX_TRACES))
        if len(traces) == _MAX_TRACES:
            return
        each, rest = divmod(size, max(len(traces), 1))
        for place, trace in enumerate(traces):
            names = list(trace)
            if index:
                names[-1] += f"{{{joined(index)}}}"
            node = tree
            for name in names:
                node = node.children.setdefault(name, _Node())
            node.own_bytes += each + (place < rest)
    tree.add_up()
    yield f"  Stack trace breakdown for peak usage: {spaced(total)} bytes"
    remaining = total
    for prefix, connector, name, node in _nodes(tree, "  "):
        remaining -= node.own_bytes
        percent = 100 * node.total_bytes / total if total else 0.0
        yield (
            f"{prefix}{connector}{name} ({percent:.1f}%, total: {spaced(node.total_bytes)} bytes,"
            f" current: {spaced(node.own_bytes)} bytes, remaining: {spaced(remaining)} bytes)"
        )


def _traces(one: Any, flow: ValueFlow, inner: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the call stacks of an instruction, the outermost computation first."""
    parent = flow.parent(one.id)
    names = _parts(decoded(one.metadata.op_name) or decoded(one.name))
    path = (flow.computation_name(parent), *names, *inner)
    callers = sorted(flow.callers.get(parent, ()), key=lambda caller: int(caller.id))
    if not callers:
        yield path
    for caller in callers:
        yield from _traces(caller, flow, path)


def _parts(name: str) -> list[str]:
    """Split ``params['layer/fc'].attr`` into its parts; keep any other name whole."""
    start = _VARIABLE.match(name)
    if start is None:
        return [name]
    parts, position, has_keys = [start[0]], start.end(), False
    while found := _KEY_OR_ATTRIBUTE.match(name, position):
        has_keys |= found[1] is not None
        parts += [found[2]] if found[1] is None else found[1].split("/")
        position = found.end()
    return parts if has_keys and position == len(name) else [name]


def _nodes(tree: _Node, prefix: str) -> Iterator[tuple[str, str, str, _Node]]:
    """Yield prefix, connector, name, and node, the largest children first."""
    known = [(name, node) for name, node in tree.children.items() if node.total_bytes]
    known.sort(key=lambda item: (-item[1].total_bytes, item[0]))
    for name, node in known:
        is_last = name == known[-1][0]
        is_top = prefix == "  "
        yield prefix, "  " if is_top else "└── " if is_last else "├── ", name, node
        yield from _nodes(node, prefix + ("    " if is_last else "│   "))


_INSTRUCTIONS_PER_CHECKPOINT = 64
_POINTER_BYTES = 8
_ASYNC_STEPS = frozenset({"async-start", "async-update"})


class LiveRanges:
    """The schedule of a module with the computations that it calls, and ranges of its values."""

    def __init__(
        self, module: Any, assignment: Any, flow: ValueFlow, instructions: dict[int, Any]
    ) -> None:
        self._module = module
        self._flow = flow
        self._instructions = instructions
        self._places = {one.id: place_of(one.defined_at) for one in assignment.logical_buffers}
        self._order = {
            entry.key: list(entry.value.instruction_ids) for entry in module.schedule.sequences
        }
        self._computations = {one.id: one for one in module.computations}
        self.sequence: list[int] = []
        self._steps: dict[int, int] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._async_calls: dict[int, Any] = {}  # the start that a computation runs in
        # Since the release of XLA that stores the order of comparisons, the values of an
        # asynchronous computation start with the call.
        orders = {
            bool(one.comparison_order) for one in instructions.values() if one.opcode == "compare"
        }
        self._starts_with_call = True in orders
        self._flatten(module.entry_computation_id)
        # Else the release does not follow, and the first steps of some values are one of two.
        # Releases without lists of peak buffers are older.
        is_known = bool(orders) or not assignment.peak_buffers
        self.are_certain = is_known or not any(map(self._is_main, self._async_calls))
        self.ranges: dict[Place, list[int]] = {}
        self._define()
        self._extend()
        self._separate(assignment)

    def _is_main(self, number: int) -> bool:
        return self._computations[number].execution_thread in {"", MAIN_THREAD}

    def _flatten(self, entry: int) -> None:
        """Append a computation to the schedule, and before each caller those that it calls."""
        # Without recursion, because calls can be nested deeper than functions of Python.
        running = [self._append(entry, None)]
        while running:
            called = next(running[-1], None)
            if called is None:
                running.pop()
            else:
                running.append(self._append(*called))

    def _append(self, number: int, start: Any) -> Iterator[tuple[int, Any]]:
        """Append a computation; yield those to append first, with the start that they run in."""
        if number in self._spans or number not in self._order:
            return
        self._spans[number] = (len(self.sequence), len(self.sequence))
        if start is not None:
            self._async_calls[number] = start
        begin = len(self.sequence)
        for each in self._order[number]:
            one = self._instructions.get(each)
            if one is None:
                continue
            called = list(one.called_computation_ids)
            if one.opcode in CONTROL_FLOW_OPCODES:
                # The condition of a loop comes after its body.
                for callee in called[::-1] if one.opcode == "while" else called:
                    yield callee, start
            elif one.opcode in _ASYNC_STEPS:
                yield from self._async_call(one)
            self._steps[each] = len(self.sequence)
            self.sequence.append(each)
        self._spans[number] = (begin, len(self.sequence))

    def _async_call(self, one: Any) -> Iterator[tuple[int, Any]]:
        """Yield the computation of an asynchronous call at the first step with all operands."""
        number = one.id if one.opcode == "async-start" else self._flow.async_start(one.id)
        start = None if number is None else self._instructions.get(number)
        if start is None or not start.called_computation_ids or not one.shape.tuple_shapes:
            return
        called = start.called_computation_ids[0]
        computation = self._computations.get(called)
        instructions = () if computation is None else computation.instructions
        count = sum(each.opcode == "parameter" for each in instructions)
        if len(one.shape.tuple_shapes[0].tuple_shapes) == count:
            yield called, start

    def _end(self, number: int) -> int:
        """Return the step at which the result of an instruction may end, uses apart."""
        parent = self._flow.parent(number)
        if number == self._flow.root(parent):
            return self._spans[parent][1]
        return self._steps[number]

    def _define(self) -> None:
        aliased = {
            (one.parameter_number, tuple(one.parameter_shape_index))
            for one in self._module.input_output_alias.entries
        }
        for number in self._checked(self.sequence):
            one = self._instructions[number]
            parent = self._flow.parent(number)
            is_parameter = one.opcode == "parameter"
            start = self._spans[parent][0] if is_parameter else self._steps[number]
            end = self._end(number)
            context = self._async_calls.get(parent)
            if context is not None:
                end = max(end, self._done_step(context, parent))
                if self._starts_with_call and self._is_main(parent):
                    start = self._steps.get(context.id, start)
            is_argument = is_parameter and parent == self._module.entry_computation_id
            for index in shape_indices(one.shape):
                if self._flow.definition((number, index)) != (number, index):
                    continue
                known = self.ranges[number, index] = [start, end]
                if is_argument and (one.parameter_number, index) not in aliased:
                    known[1] = len(self.sequence)

    def _done_step(self, start: Any, parent: int) -> int:
        """Return the step at which an asynchronous call is done."""
        known = (one for one in self._flow.async_successors(start.id) if one in self._steps)
        done = (one for one in known if self._instructions[one].opcode == "async-done")
        return next((self._steps[one] for one in done), self._spans[parent][1])

    def _extend(self) -> None:
        """Extend the ranges to other places and to the last uses of each value."""
        for number in self._checked(self.sequence):
            one = self._instructions[number]
            end = self._end(number)
            for index in shape_indices(one.shape):
                source = self._flow.definition((number, index))
                if source is not None and source != (number, index):
                    self._reach(source, end)
            opcode = one.opcode
            reads = opcode_spec(opcode).reads
            if reads is OperandReading.NOTHING or opcode == "call":
                continue
            step = self._steps[number]
            if opcode == "while" and one.called_computation_ids:
                step = self._body_step(one, step)
            for operand in one.operand_ids:
                given = self._instructions.get(operand)
                if given is None:
                    continue
                whole = reads is OperandReading.TABLE
                for index in ((),) if whole else shape_indices(given.shape):
                    source = self._flow.definition((operand, index))
                    if source is not None:
                        self._reach(source, step)

    def _body_step(self, loop: Any, step: int) -> int:
        """Return the step of the parameter of a loop body, at which the initial value ends."""
        body = self._computations.get(loop.called_computation_ids[0])
        instructions = () if body is None else body.instructions
        steps = (self._steps.get(one.id) for one in instructions if one.opcode == "parameter")
        return next((found for found in steps if found is not None), step)

    def _reach(self, place: Place, step: int) -> None:
        known = self.ranges.get(place)
        if known is not None and known[1] < step:
            known[1] = step

    def _separate(self, assignment: Any) -> None:
        """Let ranges of values in one buffer follow each other (NormalizeAliasedBuffers)."""
        places = self._places
        group_of: dict[Place, set[Place]] = {}
        for alias in assignment.buffer_aliases:
            place = places.get(alias.source_buffer_id)
            if place is not None:
                group_of.setdefault(place, {place}).add(place_of(alias.location))
        numbers = {place: number for number, place in places.items()}
        done: set[Place] = set()
        for group in group_of.values():
            known = [place for place in group if place in self.ranges and place not in done]
            done.update(known)
            known.sort(key=lambda place: (*self.ranges[place], numbers.get(place, 0)))
            for one, other in pairwise(known):
                first, second = self.ranges[one], self.ranges[other]
                second[1] = max(first[1], second[1])
                first[1] = min(first[1], second[0])

    def _checked(self, numbers: list[int]) -> Iterator[int]:
        for count, number in enumerate(numbers):
            if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            yield number


def live_range_lines(
    ranges: LiveRanges, instructions: dict[int, Any], places: Iterable[Place], flow: ValueFlow
) -> Iterator[str]:
    """Yield the lines of a live-range file, the last one empty.

    ``places`` are the definitions of all values in the order of their ids.
    """
    yield f"HloLiveRange (max {len(ranges.sequence)}):"
    yield "  InstructionSequence:"
    for step, number in enumerate(ranges.sequence):
        yield f"    {step}:{decoded(instructions[number].name)}"
    yield "  BufferLiveRange:"
    known = [place for place in places if place in ranges.ranges]
    names = {place: _value_name(instructions, place) for place in known}
    for place in known:
        start, end = ranges.ranges[place]
        yield f"    {names[place]}:{start}-{end}"
    peak = _peak_step(ranges, instructions)
    yield f"  Live ranges at {peak} (peak):"
    live = [one for one in known if ranges.ranges[one][0] <= peak <= ranges.ranges[one][1]]
    sizes = {place: _byte_size(_subshape(instructions, place)) for place in live}
    live.sort(key=lambda place: (-sizes[place], decoded(instructions[place[0]].name), place[1]))
    total = 0
    for place in live:
        total += sizes[place]
        yield f"    {names[place]}: {sizes[place]} bytes (cumulative: {total} bytes)"
    yield from stack_trace_lines([(place, sizes[place]) for place in live], instructions, flow)
    yield ""


def _value_name(instructions: dict[int, Any], place: Place) -> str:
    return f"{decoded(instructions[place[0]].name)}{index_text(place[1])}"


def _peak_step(ranges: LiveRanges, instructions: dict[int, Any]) -> int:
    """Return the step that XLA prints as the peak.

    XLA adds the sizes of the results of whole instructions, also for their elements.
    """
    changes: dict[int, list[int]] = {}
    for (number, _), (start, end) in ranges.ranges.items():
        size = _byte_size(instructions[number].shape)
        changes.setdefault(start, [0, 0])[0] += size
        changes.setdefault(end + 1, [0, 0])[1] += size
    used = most = peak = 0
    for step in sorted(changes):
        used += changes[step][0]
        if used > most:
            most, peak = used, step
        used -= changes[step][1]
    return peak


def _subshape(instructions: dict[int, Any], place: Place) -> Any:
    shape = instructions[place[0]].shape
    for number in place[1]:
        shape = shape.tuple_shapes[number]
    return shape


def _byte_size(shape: Any) -> int:
    """Return the logical size of an array, or of the table of a tuple (ShapeUtil::ByteSizeOf)."""
    name = ELEMENT_TYPES.get(shape.element_type, "")
    if name in {"tuple", "opaque"}:
        return _POINTER_BYTES * (len(shape.tuple_shapes) if name == "tuple" else 1)
    known = vocabulary().element_types.get(name)
    if known is None or not known.bits:
        return 0
    bits = shape.layout.element_size_in_bits or max(known.bits, 8)
    return int(-(-math.prod(shape.dimensions) * bits // 8))
