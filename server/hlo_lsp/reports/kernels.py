"""A table of the instructions that run, for profilers that know only the names of kernels."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import instruction_facts
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.program.transfers import PLUMBING_OPCODES
from hlo_lsp.text.inert import csv_text

_COLUMNS = ("module", "instruction", "kernel", "op_name", "source", "phase")
_NOT_IN_KERNEL_NAMES = re.compile(r"[^A-Za-z0-9_]")


def kernel_table(dumps: Iterable[Compile]) -> str:
    """Return the instructions of compiles that run code as CSV, with a header."""
    return csv_text(chain([_COLUMNS], (row for dump in dumps for row in _rows(dump))))


def _rows(dump: Compile) -> Iterator[tuple[str, ...]]:
    file = dump.module_file
    module = dump.module_name
    if file is None:
        return
    # A profile does not have the names that this package gives to instructions without one.
    running = [
        instruction
        for instruction in scheduled_instructions(file.module) or ()
        if not file.module.is_omitted(instruction) and instruction.opcode not in PLUMBING_OPCODES
    ]
    owners = instruction_facts(dump, (instruction.name for instruction in running))
    for instruction in running:
        checkpoint()
        owner = owners.get(instruction.name)
        if owner is not None:
            source = "" if owner.source is None else str(owner.source)
            kernel = _kernel_name(instruction.name, instruction.opcode, dump.backend)
            yield module, instruction.name, kernel, owner.op_name, source, owner.phase


def _kernel_name(name: str, opcode: str, backend: Backend) -> str:
    """Return the name of the kernel of an instruction, empty if libraries choose it.

    On GPUs, the emitters of fusions replace characters that function names cannot have.
    """
    if backend is not Backend.GPU:
        return name
    return _NOT_IN_KERNEL_NAMES.sub("_", name) if opcode == "fusion" else ""
