"""The text of buffer assignments (BufferAssignment::ToString in buffer_assignment.cc)."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import index_text
from hlo_lsp.hlo.vocabulary import CONTROL_FLOW_OPCODES
from hlo_lsp.protos.attributes import MAIN_THREAD
from hlo_lsp.protos.dataflow import Place, ValueFlow, place_of
from hlo_lsp.protos.instructions import InstructionPrinter
from hlo_lsp.protos.shapes import TUPLE, ShapeTexts, decoded

_ALLOCATIONS_PER_CHECKPOINT = 64
_UNKNOWN_SHAPE = "opaque[]"


class AssignmentPrinter:
    """Prints a buffer assignment with the names and shapes of its module.

    The page of an allocation is not in the proto. Without the module, values have the ids of their
    instructions as names.
    """

    def __init__(
        self, assignment: Any, module: Any, printer: InstructionPrinter, flow: ValueFlow
    ) -> None:
        self._assignment = assignment
        self._module = module
        self._instructions = printer.instructions
        self._computations = printer.computations
        self._shapes: ShapeTexts = printer.shapes
        self._values = {one.id: one for one in assignment.logical_buffers}
        self._flow = flow

    def lines(self) -> Iterator[str]:
        """Yield the lines, the last one empty."""
        yield "BufferAssignment:"
        parameters, root, output = self._interface()
        for number, one in enumerate(self._assignment.buffer_allocations):
            if number % _ALLOCATIONS_PER_CHECKPOINT == 0:
                checkpoint()
            values = [
                (self._values[each.logical_buffer_id], each)
                for each in sorted(one.assigned, key=lambda each: int(each.logical_buffer_id))
                if each.logical_buffer_id in self._values
            ]
            facts = [f"allocation {one.index}: size {one.size}"]
            if one.color:
                facts.append(f"color {one.color}")
            if one.is_entry_computation_parameter:
                shape = self._subshape(
                    parameters.get(one.parameter_number), one.parameter_shape_index
                )
                text = (
                    "<unknown shape>" if shape is None else self._shapes.text(shape, layout=False)
                )
                facts.append(
                    f"parameter {one.parameter_number}, shape |{text}| at ShapeIndex"
                    f" {index_text(one.parameter_shape_index)}"
                )
            if root is not None and any(
                place_of(value.defined_at) == output for value, _ in values
            ):
                text = self._shapes.text(root.shape, layout=False)
                facts.append(f"output shape is |{text}|")
            facts += (name for name, present in _flags(one) if present)
            yield f"{', '.join(facts)}:"
            for value, assigned in values:
                yield self._value(value, assigned)
        yield ""

    def _interface(self) -> tuple[dict[int, Any], Any, Place | None]:
        """Return the shapes of the parameters, the root, and the definition of its value."""
        entry = self._computations.get(self._module.entry_computation_id)
        if entry is None:
            return {}, None, None
        parameters = {
            int(one.parameter_number): one.shape
            for one in entry.instructions
            if one.opcode == "parameter"
        }
        root = self._instructions.get(entry.root_id)
        return parameters, root, None if root is None else self._flow.definition((int(root.id), ()))

    def _is_phi(self, one: Any) -> bool:
        """Return True if a value of an instruction merges others (HloDataflowAnalysis).

        Loops, branches, and the parameters of computations that they call forward values, and
        define one only where several meet. The analysis is of the main thread.
        """
        if one.opcode != "parameter":
            return one.opcode in CONTROL_FLOW_OPCODES - {"call"}
        computation = self._flow.parent(one.id)
        callers = self._flow.callers.get(computation, ())
        return any(caller.opcode in CONTROL_FLOW_OPCODES for caller in callers) and (
            self._computations[computation].execution_thread in {"", MAIN_THREAD}
        )

    def _value(self, value: Any, assigned: Any) -> str:
        """Return the line of a value; its name is the id of an instruction that is missing."""
        number, index = place_of(value.defined_at)
        one = self._instructions.get(number)
        shape = None if one is None else self._subshape(one.shape, index)
        name = f"id.{number}" if one is None else decoded(one.name)
        if index if one is None else one.shape.element_type == TUPLE:
            name += index_text(index)
        if one is not None and self._is_phi(one):
            name += " (phi)"
        text = _UNKNOWN_SHAPE if shape is None else self._shapes.text(shape)
        return (
            f" value: <{value.id} {name} @{value.color}>"
            f" (size={assigned.size},offset={assigned.offset}): {text}"
        )

    def _subshape(self, shape: Any, index: Any) -> Any:
        for place in index:
            if shape is None or not 0 <= place < len(shape.tuple_shapes):
                return None
            shape = shape.tuple_shapes[place]
        return shape


def _flags(one: Any) -> Iterator[tuple[str, bool]]:
    yield "constant", one.is_constant
    yield "thread-local", one.is_thread_local
    yield "maybe-live-out", one.maybe_live_out
    kept = one.is_entry_computation_parameter or one.maybe_live_out
    yield "preallocated-temp", not (kept or one.is_thread_local or one.is_constant)
