"""Proofs of advice: what the compiler says of a program with the change that is advised."""

from collections.abc import Callable, Container
from dataclasses import replace
from pathlib import Path

from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from hlo_lsp.compiling.recompile import compile_again
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.exposure import allowing_options
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.cost.utilization import network_transfers
from hlo_lsp.memory.advice import Advice
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.savings import Proof
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.file_dumps import dumps_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.program.transfers import synchronous_collectives
from hlo_lsp.text.amounts import format_time


def prove(
    compiler: CompilerProcess, dump: Compile, chip: Chip | None, advice: Advice, space: int
) -> Proof | None:
    """Compile the program of a dump with the change of an advice on a memory space.

    Args:
        compiler: The process that compiles.
        dump: The compile.
        chip: The chip to compile for if the dump names none.
        advice: The advice.
        space: The number of the memory space.

    Returns:
        The peaks, or None for advice that cannot be tried on a text: only donations can, because no
        rewrite is known to be safe for other advice.
    """
    if not advice.donated:
        return None
    changes = Changes(donated=advice.donated)
    return _proof(compiler, dump, chip, changes, lambda one: (_peak(one, space), ""))


def prove_options(
    compiler: CompilerProcess,
    dump: Compile,
    chip: Chip | None,
    option: str,
    kinds: Container[str],
) -> Proof:
    """Compile the program of a dump with options that allow asynchronous collectives.

    The proof has the numbers of synchronous collectives of the ``kinds`` that have the cause in the
    options, and a note with the times that no work covers. Other arguments are those of ``prove``.
    """
    changes = Changes(options=allowing_options(option))
    return _proof(
        compiler,
        dump,
        chip,
        changes,
        lambda one: (_synchronous(one, kinds), _uncovered_time(one, chip)),
    )


def _proof(
    compiler: CompilerProcess,
    dump: Compile,
    chip: Chip | None,
    changes: Changes,
    measure: Callable[[Compile], tuple[int | None, str]],
) -> Proof:
    """Return an amount of the program without and with changes, with the notes on it."""
    path = dump.files[0].path
    try:
        if path is None:
            raise CompileFailedError("the dump is not a file")
        program = program_at(path)
        if chip is not None and not program.names_chip:
            changes = replace(changes, chip=chip.name)
        found = compile_again(compiler, program, changes)
        sides = [_dump_at(one, dump.module_name) for one in (found.before, found.after)]
    except CompileFailedError as error:
        return Proof(problem=str(error))
    (before, note), (after, new_note) = map(measure, sides)
    if before is None or after is None:
        return Proof(problem="the new dump does not have the peak")
    options = ", ".join(f"{name}={value}" for name, value in changes.options.items())
    times = f"with {options}, collectives take {note} -> {new_note} longer than the work meanwhile"
    return Proof(before, after, notes=(*([times] if note else []), *found.notes))


def _dump_at(path: Path | None, name: str) -> Compile:
    """Return the compile of a module in a file or a folder that the compiler wrote."""
    for files in () if path is None else compiles_below(path):
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES)
        for dump in dumps_of(workspace, files.path, [], is_named=True):
            if dump.module_name == name and module_at_buffer_assignment(dump) is not None:
                return dump
    raise CompileFailedError("the new dump has no compiled module")


def _peak(dump: Compile, space: int) -> int | None:
    """Return the peak of a memory space, None if it is unknown."""
    found = memory_space_occupancies(dump)
    return next((one.peak_bytes for one in found if one.space == space), None)


def _synchronous(dump: Compile, kinds: Container[str]) -> int:
    file = dump.module_file
    found = [] if file is None else synchronous_collectives(file.module)
    return sum(kind in kinds for _, kind, _ in found)


def _uncovered_time(dump: Compile, chip: Chip | None) -> str:
    """Return by how much collectives take longer than the work meanwhile, if it is known."""
    program = program_cost(dump, chip)
    found = None if program is None else network_transfers(program)
    return "" if found is None else format_time(sum(one.uncovered_ps for one in found))
