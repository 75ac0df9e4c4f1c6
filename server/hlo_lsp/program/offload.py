"""Values that a program asks to keep in host memory, and the transfers that move them there.

JAX annotates such a value with a custom call before optimization (``annotate_device_placement``).
Names do not survive optimization, so a request is paired with a transfer of as many bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import total_array_bytes
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module
from hlo_lsp.program.transfers import Transfer, host_transfers
from hlo_lsp.program.trip_counts import Executions
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_short_bytes

_ANNOTATION = 'custom_call_target="annotate_device_placement"'
_PLACEMENT = re.compile(r'\b_xla_buffer_placement="(\w+)"')


@dataclass(frozen=True, slots=True)
class OffloadRequest:
    """A value that the program asks to keep in host memory.

    Attributes:
        instruction: The annotation in the text before optimization.
        bytes: Logical bytes of the value.
        executions: How often the program computes the value; in a loop, once for each iteration.
        transfer: The transfer to host memory, None if there is none.
        reason: Why there is none, as far as the dump shows it; empty with a transfer.
    """

    instruction: InstructionLine
    bytes: int
    executions: int
    source: SourceLine | None
    transfer: Transfer | None
    reason: str = ""

    @property
    def bytes_per_run(self) -> int:
        """Logical bytes of the values of all executions."""
        return self.bytes * self.executions


def offload_requests(dump: Compile) -> tuple[OffloadRequest, ...]:
    """Return the requests of a program, the largest value first; none without both module texts."""
    original, compiled = unoptimized_module(dump), module_at_buffer_assignment(dump)
    if original is None or compiled is None:
        return ()
    requested = sorted(_annotations(original.module), key=_bytes, reverse=True)
    if not requested:
        return ()
    partitions = compiled.module.partition_count
    transfers = [one for one in host_transfers(compiled.module) if one.to_host]
    free = list(transfers)
    executions = Executions(original.module)
    found = []
    for instruction in requested:
        transfer = next((one for one in free if _fits(instruction, one, partitions)), None)
        reason = ""
        if transfer is None:
            same = sum(_fits(instruction, one, partitions) for one in transfers)
            reason = _reason(dump.backend, original.module, instruction, same)
        else:
            free.remove(transfer)
        source = _source(dump, original, instruction)
        count = executions.of(instruction).count
        size = _bytes(instruction)
        found.append(OffloadRequest(instruction, size, count, source, transfer, reason))
    return tuple(found)


def _annotations(module: ModuleIndex) -> Iterator[InstructionLine]:
    """Yield the annotations of values for host memory, each value once."""
    seen: set[InstructionLine | None] = set()
    for instruction in module.instructions.records():
        checkpoint()
        if _is_annotation(instruction) and _is_host(_placement(instruction)):
            operand = next(iter(module.operands(instruction)), None)
            # A result of the program has an annotation, too.
            while operand is not None and _is_annotation(operand):
                operand = next(iter(module.operands(operand)), None)
            if operand is None or operand not in seen:
                seen.add(operand)
                yield instruction


def _is_annotation(instruction: InstructionLine) -> bool:
    return instruction.opcode == "custom-call" and _ANNOTATION in instruction.text


def _placement(instruction: InstructionLine) -> str:
    match = _PLACEMENT.search(instruction.text)
    return "" if match is None else match[1]


def _is_host(placement: str) -> bool:
    return placement.endswith("host")  # pinned_host and unpinned_host


def _bytes(instruction: InstructionLine) -> int:
    return total_array_bytes(try_shape(instruction.shape))


def _fits(instruction: InstructionLine, transfer: Transfer, partitions: int) -> bool:
    """Return whether a transfer moves as many bytes, or those of one partition."""
    size = _bytes(instruction)
    moved = transfer.bytes
    return moved > 0 and size % moved == 0 and size // moved <= partitions


def _reason(backend: Backend, module: ModuleIndex, instruction: InstructionLine, same: int) -> str:
    users = module.users(instruction)
    if backend is Backend.CPU:
        return "the memory of a CPU is host memory"
    if not users and not module.is_root(instruction):
        return "nothing uses the value in host memory"
    if users and all(_is_annotation(one) and not _is_host(_placement(one)) for one in users):
        return "it is moved back without another use"
    size = format_short_bytes(_bytes(instruction))
    if same:
        return f"only {count_noun(same, 'instruction')} of the module moves {size} to host memory"
    return f"no instruction of the compiled module moves {size} to host memory"


def _source(dump: Compile, file: DumpFile, instruction: InstructionLine) -> SourceLine | None:
    """Return the Python line of an annotation or, without one, that of the value."""
    for line in (instruction, *file.module.inputs(instruction)):
        found = dump.frames.line_of(file.module.tables.stack_of(line.metadata))
        if found is not None:
            return found
    return None
