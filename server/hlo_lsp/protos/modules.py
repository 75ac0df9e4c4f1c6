"""The text of modules (HloModule::Print, HloComputation::Print)."""

from collections.abc import Iterator, Sequence
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.notation import index_text
from hlo_lsp.protos.attributes import MAIN_THREAD
from hlo_lsp.protos.instructions import InstructionPrinter, original_array
from hlo_lsp.protos.shapes import (
    annotated,
    decoded,
    escaped,
    frontend_attributes_text,
    quoted_unless_json,
)

_INSTRUCTIONS_PER_CHECKPOINT = 64
_MUST_ALIAS = 2


class ModulePrinter:
    """Prints a module, as XLA prints the module in memory of which the proto is a copy."""

    def __init__(self, module: Any, tab: str = "") -> None:
        self._module = module
        self._tab = tab
        self.printer = InstructionPrinter(module)
        self._shapes = self.printer.shapes

    def lines(self) -> Iterator[str]:
        """Yield the lines of the module, the last one empty."""
        yield from self._header()
        yield from self._stack_frames()
        yield ""
        sequences = self._module.schedule.sequences
        order = {entry.key: entry.value.instruction_ids for entry in sequences}
        for computation in self._ordered_computations():
            yield from self._computation(computation, order.get(computation.id, ()))
            yield ""
        yield ""

    def _header(self) -> Iterator[str]:
        module = self._module
        parts = [f"{self._tab}HloModule {decoded(module.name)}"]
        if module.HasField("schedule"):
            parts.append("is_scheduled=true")
        aliases = ", ".join(
            f"{index_text(one.output_shape_index)}: ({one.parameter_number},"
            f" {index_text(one.parameter_shape_index)},"
            f" {'must' if one.kind == _MUST_ALIAS else 'may'}-alias)"
            for one in module.input_output_alias.entries
        )
        if aliases:
            parts.append(f"input_output_alias={{ {aliases} }}")
        donors = ", ".join(
            f"({one.parameter_number}, {index_text(one.parameter_shape_index)})"
            for one in module.buffer_donor.entries
        )
        if donors:
            parts.append(f"buffer_donor={{ {donors} }}")
        if module.HasField("host_program_shape"):
            program = module.host_program_shape
            parameters = annotated([self._shapes.text(shape) for shape in program.parameters])
            result = self._shapes.text(program.result)
            parts.append(f"entry_computation_layout={{({parameters})->{result}}}")
        if module.frontend_attributes.map:
            parts.append(frontend_attributes_text(module.frontend_attributes))
        if module.backend_config:
            parts.append(f"backend_config={quoted_unless_json(module.backend_config)}")
        text = ", ".join(parts)
        if not module.original_value_recovery_table.entries:
            yield text
            return
        yield f"{text}, origin_recovery_table={{"
        yield from self._recovery_table()
        yield "}"
        yield ""

    def _recovery_table(self) -> Iterator[str]:
        tab = f"{self._tab}  "
        for entry in self._module.original_value_recovery_table.entries:
            old, new = (
                original_array(entry.old_original_array),
                original_array(entry.new_original_array),
            )
            line = f"{tab}{{{old}}} : {{{new}}}"
            if not entry.HasField("recovery_module"):
                yield line
                continue
            yield f"{line},"
            yield f'{tab}"'
            yield from list(ModulePrinter(entry.recovery_module, f"{tab}  ").lines())[:-1]
            yield f'{tab}"'

    def _stack_frames(self) -> Iterator[str]:
        index = self._module.stack_frame_index
        if not index.stack_frames:
            return
        for title, names in (
            ("FileNames", index.file_names),
            ("FunctionNames", index.function_names),
        ):
            yield from ("", title)
            yield from (f'{number} "{escaped(name)}"' for number, name in enumerate(names, 1))
        yield from ("", "FileLocations")
        for number, one in enumerate(index.file_locations, 1):
            yield (
                f"{number} {{file_name_id={one.file_name_id}"
                f" function_name_id={one.function_name_id} line={one.line}"
                f" end_line={one.end_line} column={one.column} end_column={one.end_column}}}"
            )
        yield from ("", "StackFrames")
        for number, one in enumerate(index.stack_frames, 1):
            # XLA prints the parent plus one.
            parent = one.parent_frame_id + 1
            yield f"{number} {{file_location_id={one.file_location_id} parent_frame_id={parent}}}"
        yield ""

    def _ordered_computations(self) -> list[Any]:
        """Return callees before callers, in the order of their calls (MakeComputationPostOrder)."""
        known = self.printer.computations
        called = {
            number: [
                callee
                for one in sorted(known[number].instructions, key=lambda one: int(one.id))
                for callee in one.called_computation_ids
                if callee in known
            ]
            for number in sorted(known)
        }
        callees = {number for numbers in called.values() for number in numbers}
        done: set[int] = set()
        ordered: list[Any] = []
        for root in [*(number for number in called if number not in callees), *called]:
            if root not in done:
                found = [*callees_first(root, called.__getitem__, done.__contains__)]
                done.update(found)
                ordered += map(known.__getitem__, found)
        return ordered

    def _computation(self, computation: Any, order: Sequence[int]) -> Iterator[str]:
        known, shapes = self.printer.instructions, self._shapes
        instructions = list(computation.instructions)
        scheduled = [known[number] for number in order if number in known]
        if len(scheduled) == len(instructions):
            instructions = scheduled
        parameters = sorted(
            (one for one in instructions if one.opcode == "parameter"),
            key=lambda one: int(one.parameter_number),
        )
        types = ", ".join(
            f"{decoded(one.name)}: {shapes.text(one.shape, layout=False)}" for one in parameters
        )
        # The root of a truncated computation is missing.
        root = known.get(computation.root_id, instructions[-1] if instructions else None)
        result = "()" if root is None else shapes.text(root.shape, layout=False)
        entry = "ENTRY " if computation.id == self._module.entry_computation_id else ""
        yield f"{self._tab}{entry}%{decoded(computation.name)} ({types}) -> {result} {{"
        for number, one in enumerate(instructions):
            if number % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            mark = "ROOT " if one.id == computation.root_id else ""
            yield f"{self._tab}  {mark}{self.printer.text(one)}"
        thread = decoded(computation.execution_thread)
        is_main = thread in {"", MAIN_THREAD}
        yield f"{self._tab}}}" + ("" if is_main else f', execution_thread="{thread}"')
