"""Proofs of advice: what the compiler says of a program with the change that is advised."""

from pathlib import Path

from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from hlo_lsp.compiling.recompile import compile_again
from hlo_lsp.memory.advice import Advice, Proof
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.file_dumps import dumps_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace

_NOT_OF_TEXT = "a dump is not enough to try it"


def prove(compiler: CompilerProcess, dump: Compile, advice: Advice, space: int) -> Proof:
    """Compile the program of a dump with the change of an advice on a memory space.

    Only donations can be tried: no rewrite of the text is known to be safe for other advice.
    """
    path = dump.files[0].path
    if not advice.donated or path is None:
        return Proof(problem=_NOT_OF_TEXT)
    try:
        found = compile_again(compiler, program_at(path), Changes(donated=advice.donated))
    except CompileFailedError as error:
        return Proof(problem=str(error))
    peaks = [_peak(one, space) for one in (found.before, found.after) if one is not None]
    if len(peaks) < 2 or None in peaks:
        return Proof(problem="the new dump does not have the peak")
    return Proof(peaks[0], peaks[1], notes=found.notes)


def new_dumps(path: Path) -> list[Compile]:
    """Return the compiles of a file or a folder that the compiler wrote."""
    return [
        dump
        for files in compiles_below(path)
        for dump in dumps_of(DumpWorkspace(ROLES_WITHOUT_SIZES), files.path, [], is_named=True)
    ]


def _peak(path: Path, space: int) -> int | None:
    """Return the largest peak of a memory space, None if it is unknown."""
    found = (one for dump in new_dumps(path) for one in memory_space_occupancies(dump))
    return max((one.peak_bytes for one in found if one.space == space), default=None)
