"""The text of instructions (HloInstruction::PrintWithCanonicalNameMap in hlo_instruction.cc)."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.hlo.notation import index_text
from hlo_lsp.hlo.vocabulary import opcode_spec
from hlo_lsp.protos.attributes import comparison_type, own_attributes
from hlo_lsp.protos.literals import literal_text
from hlo_lsp.protos.shapes import (
    ShapeTexts,
    annotated,
    decoded,
    frontend_attributes_text,
    metadata_text,
    quoted_unless_json,
)
from hlo_lsp.protos.shardings import sharding_text

_PRED = 1
# Of an original value. XLA prints a part without an array for each smaller index, so that a large
# index has a long text.
_MAX_ORIGIN_DEPTH = 100  # as of nested messages
_MIN_REFUSED_PARTS = 1000
_MAX_PARTS_PER_ARRAY = 100


class InstructionPrinter:
    """Prints the instructions of a module."""

    def __init__(self, module: Any) -> None:
        self._payloads = module.payloads
        self.shapes = ShapeTexts()
        self.computations = {one.id: one for one in module.computations}
        self.instructions = {
            one.id: one for computation in module.computations for one in computation.instructions
        }
        self._names = {number: decoded(one.name) for number, one in self.instructions.items()}

    def text(self, one: Any) -> str:
        """Return the line of an instruction, without ``ROOT``."""
        opcode = decoded(one.opcode)
        shape = self.shapes.text(one.shape)
        parts = [f"%{decoded(one.name)} = {shape} {opcode}({self._operands(one, opcode)})"]
        parts += self._attributes(one, opcode)
        if one.HasField("original_value"):
            parts.append(f"origin={{{_original_value(one.original_value)}}}")
        metadata = one.metadata
        if (
            metadata.op_type
            or metadata.op_name
            or metadata.source_file
            or metadata.scheduling_name
            or metadata.stack_frame_id
            or metadata.HasField("metadata_payload")
        ):
            parts.append(f"metadata={{{metadata_text(metadata)}}}")
        config = self._backend_config(one)
        if config:
            parts.append(f"backend_config={quoted_unless_json(config)}")
        return ", ".join(parts)

    def _backend_config(self, one: Any) -> bytes:
        if not one.HasField("backend_config_payload"):
            return bytes(one.backend_config)
        payload = one.backend_config_payload
        if not payload.HasField("id"):
            return bytes(payload.value)
        return bytes(self._payloads[payload.id]) if 0 <= payload.id < len(self._payloads) else b""

    def _operands(self, one: Any, opcode: str) -> str:
        if opcode == "parameter":
            return str(one.parameter_number)
        if opcode == "constant":
            return literal_text(one.literal, self.shapes) if one.HasField("literal") else "{...}"
        return annotated([self._name(number) for number in one.operand_ids])

    def _name(self, number: int) -> str:
        """Return the name of an instruction; one that a damaged proto lacks has its id."""
        return f"%{self._names.get(number) or f'missing.{number}'}"

    def _attributes(self, one: Any, opcode: str) -> Iterator[str]:
        yield from own_attributes(one, opcode, self.shapes)
        if opcode == "compare":
            operand = self.instructions.get(one.operand_ids[0]) if one.operand_ids else None
            if operand is not None:
                yield from comparison_type(one, operand)
        if one.called_computation_ids:
            yield from self._called(one, opcode)
        if opcode == "call" and one.is_composite:
            yield "is_composite=true"
        if one.HasField("sharding"):
            yield f"sharding={sharding_text(one.sharding)}"
        if one.frontend_attributes.map:
            yield frontend_attributes_text(one.frontend_attributes)
        if one.control_predecessor_ids:
            names = ", ".join(self._name(number) for number in one.control_predecessor_ids)
            yield f"control-predecessors={{{names}}}"
        if one.statistics_viz.statistics:
            statistics = ",".join(
                f"{decoded(each.stat_name)}={each.stat_val:.6g}"
                for each in one.statistics_viz.statistics
            )
            index = one.statistics_viz.stat_index_to_visualize
            yield f"statistics={{visualizing_index={index},{statistics}}}"
        if one.HasField("result_accuracy"):
            yield from _accuracy(one.result_accuracy)

    def _called(self, one: Any, opcode: str) -> Iterator[str]:
        known = ((number, self.computations.get(number)) for number in one.called_computation_ids)
        names = [
            f"%{f'missing.{number}' if callee is None else decoded(callee.name)}"
            for number, callee in known
        ]
        joined = ", ".join(names)
        attributes = opcode_spec(opcode).calls
        if opcode == "while":  # the body is the first one
            names.reverse()
        if opcode == "conditional":
            operand = self.instructions.get(one.operand_ids[0]) if one.operand_ids else None
            is_binary = operand is not None and operand.shape.element_type == _PRED
            is_binary = is_binary and len(names) == 2
            attributes = attributes[1:] if is_binary else attributes[:1]
        elif opcode == "custom-call":
            attributes = attributes[-1:]
        if attributes in {("branch_computations",), ("called_computations",)}:
            yield f"{attributes[0]}={{{joined}}}"
        elif attributes and attributes != ("calls",) and len(attributes) <= len(names):
            yield from map("{}={}".format, attributes, names)
        elif opcode not in {"async-update", "async-done"}:
            yield f"calls={joined}"


def _accuracy(accuracy: Any) -> Iterator[str]:
    if accuracy.mode:
        yield f"result_accuracy={{mode={'highest' if accuracy.mode == 1 else accuracy.mode}}}"
    elif accuracy.HasField("tolerance"):
        limits = accuracy.tolerance
        yield (
            f"result_accuracy={{tolerance={{atol={limits.atol:.6g},rtol={limits.rtol:.6g},"
            f"ulps={limits.ulps}}}}}"
        )


def _original_value(value: Any) -> str:
    """Return the text of an original value: a tree of arrays by shape index."""
    if value.is_synthetic_call:
        return "[synthetic_call]"
    leaves = {tuple(one.shape_index): one for one in value.elements}
    if any(len(index) > _MAX_ORIGIN_DEPTH for index in leaves):
        return "..."
    children: dict[tuple[int, ...], int] = {}
    for index in leaves:
        for depth, number in enumerate(index):
            children[index[:depth]] = max(children.get(index[:depth], 0), number + 1)
    if sum(children.values()) > _MIN_REFUSED_PARTS + _MAX_PARTS_PER_ARRAY * len(leaves):
        return "..."

    def node(index: tuple[int, ...]) -> str:
        if index in children:
            return f"({', '.join(node((*index, place)) for place in range(children[index]))})"
        leaf = leaves.get(index)
        if leaf is None or not leaf.HasField("original_array"):
            return "{}"
        return f"{{{original_array(leaf.original_array)}}}"

    return node(()) if leaves else "()"


def original_array(array: Any) -> str:
    """Return an instruction name in quotes, and the shape index unless it is empty."""
    place = f" {index_text(array.shape_index)}" if array.shape_index else ""
    return f'"{decoded(array.instruction_name)}"{place}'
