"""Compile a program again, as it was and with changes."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hlo_lsp.compiling.compiler_process import CompileResult, CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError, similar
from hlo_lsp.compiling.program import Changes, DumpedProgram
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.text.disk import read_document

Json = dict[str, Any]
_CUDA = "cuda"
_CONVERTED = "its conversion can change the order of operations, which decides ties"
_COMPUTATION = re.compile(r"^(?:%|ENTRY )", re.MULTILINE)
_METADATA = re.compile(r", metadata=\{[^}\n]*\}")
_UNKNOWN_OPTION = re.compile(r"No such compile option: '(\w+)'")


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A program that was compiled again.

    Attributes:
        before: The dump to compare with: a file of that of the program, or the folder of one of
            the program without the changes by the same compiler; None for a lone text.
        after: The folder of the new dump.
        result: What the compiler says.
        target: What the program was compiled for.
        notes: The compiler, and what is not the same as in the compile of the dump, for the user.
    """

    before: Path | None
    after: Path
    result: CompileResult
    target: str
    notes: tuple[str, ...]

    @property
    def as_json(self) -> Json:
        """The compiler and its numbers as JSON; see docs/json_schema.md."""
        return {
            "versions": dict(self.result.versions),
            "device": self.result.device,
            "target": self.target,
            "memory_analysis": dict(self.result.memory),
            "seconds": dict(self.result.seconds),
            "notes": list(self.notes),
        }


def compile_again(
    compiler: CompilerProcess, program: DumpedProgram, changes: Changes, folder: Path | None = None
) -> Recompiled:
    """Compile a program with changes, and as it was if its dump can be of another compiler.

    Args:
        compiler: The process that compiles. Its end deletes the dumps.
        program: The program.
        changes: The changes.
        folder: A folder that keeps the new dump.

    Raises:
        CompileFailedError: The compiler refuses it; see ``CompilerProcess.compile``.
    """
    program, result = compile_changed(compiler, program, changes, folder)
    before, notes = program.dump, list(_notes(program, changes, result))
    unedited = program.without_edits(changes)
    is_comparable = _is_reproduced(program, result) and result.is_original
    if changes != unedited and not (before and is_comparable):
        before, note = _without_changes(compiler, program, changes, result)
        notes.append(note)
    elif before and not result.is_original:
        notes.append(f"compiled from the text, because {_why_text(program)}: {_CONVERTED}")
    target = _target(program, program.request(changes), result)
    return Recompiled(
        before,
        result.folder,
        result,
        target,
        (_headline(compiler, result, target), *notes, *program.notes(changes.text)),
    )


def _without_changes(
    compiler: CompilerProcess, program: DumpedProgram, changes: Changes, result: CompileResult
) -> tuple[Path | None, str]:
    """Compile a program without the changes, and return the new dump, and why it is needed.

    Raises:
        CompileFailedError: The compiler refuses it, and the changes do not repair a text.
    """
    why = _CONVERTED if _is_reproduced(program, result) else "the dump can be of another compiler"
    why = why if program.dump else "the dump has only its text"
    original = program.request(program.without_edits(changes))
    if not result.is_original:
        original["mlir"] = None
    try:
        folder = _compile(compiler, program, original, "unchanged-").folder
    except CompileFailedError as error:
        # An edited text can repair one on disk, and a GPU needs another package than a TPU.
        is_other = program.request(changes)["platform"] != original["platform"]
        if program.dump is None or not (changes.text is not None or is_other):
            raise CompileFailedError(f"without the changes: {error}") from error
        why = f"without the changes, there is no new compile: {error}"
        return program.dump, f"before: the dump, because {why}"
    return folder, f"before: the program without the changes, compiled as well, because {why}"


def _why_text(program: DumpedProgram) -> str:
    """Return why the text of a program was compiled, not what JAX passed to the compiler."""
    if program.original is not None:
        return "this jax cannot read module.mlir"
    if program.is_newest:
        return f"{program.path.name} is newer than the rest of the dump"
    return "the dump has no module.mlir"


def _headline(compiler: CompilerProcess, result: CompileResult, target: str) -> str:
    versions = (f"{name} {number}" for name, number in result.versions.items())
    times = (f"{name} {seconds:.1f} s" for name, seconds in result.seconds.items())
    return (
        f"compiled with {', '.join(versions)} ({compiler.python}) for {target}: {', '.join(times)}"
    )


def compile_changed(
    compiler: CompilerProcess, program: DumpedProgram, changes: Changes, folder: Path | None = None
) -> tuple[DumpedProgram, CompileResult]:
    """Compile a program with changes, and return it without ``module.mlir`` if that is another one.

    Such is that of an edited text in a copy of a folder, which can lose the times of files.
    """
    request = program.request(changes, folder)
    result = _compile(compiler, program, request)
    is_original = request["mlir"] and result.is_original and _is_reproduced(program, result)
    if not is_original or _has_text(result.folder, program):
        return program, result
    _empty(result.folder)
    edited = replace(program, original=None, is_newest=True)
    return edited, _compile(compiler, edited, edited.request(changes, folder))


def _is_reproduced(program: DumpedProgram, result: CompileResult) -> bool:
    """Return whether the dump is of the same compiler."""
    return program.names_compiler and result.changed_options is not None


def _has_text(folder: Path, program: DumpedProgram) -> bool:
    """Return whether a dump has the text of a program, apart from metadata; a proto has none."""
    if program.path.suffix != ".txt":
        return True
    wanted = _computations(program.text)
    paths = folder.glob("*.before_optimizations.txt")
    return any(_computations("\n".join(read_document(path).lines)) == wanted for path in paths)


def _computations(text: str) -> str:
    first = _COMPUTATION.search(text)
    return _METADATA.sub("", text[first.start() :]) if first else ""


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _compile(
    compiler: CompilerProcess, program: DumpedProgram, request: Json, name: str = ""
) -> CompileResult:
    try:
        return compiler.compile(request, name)
    except CompileFailedError as error:
        if error.name and error.line is None:
            error.line = _line_of(error.name, request["text"])
            if error.line is None:
                error.line = _line_without_metadata(compiler, request)
        if error.line is not None and request["text"] == program.text:
            error.line += program.first_line
            if program.dump is not None and not program.is_newest:
                error.args = (f"{error}; the text can be of a newer jax than this one",)
        unknown = _UNKNOWN_OPTION.search(str(error))
        if unknown is None:
            raise
        hint = similar(unknown[1], program.known_options)
        raise CompileFailedError(f"no option {unknown[1]}{hint}") from error


def _line_of(name: str, text: str) -> int | None:
    """Return the only line of the instruction or the operation that an error names."""
    mark = re.compile(rf'(?:^|[\s%]){re.escape(name)} = |op_name="{re.escape(name)}"')
    found = [number for number, line in enumerate(text.split("\n")) if mark.search(line)]
    return found[0] if len(found) == 1 else None


def _line_without_metadata(compiler: CompilerProcess, request: Json) -> int | None:
    """Return the line of an error whose operation has several instructions.

    The error of a text without metadata names the instruction.
    """
    bare = _METADATA.sub("", request["text"])
    if bare != request["text"]:
        try:
            compiler.compile({**request, "text": bare})
        except CompileFailedError as error:
            return _line_of(error.name, bare)
    return None


def _notes(program: DumpedProgram, changes: Changes, result: CompileResult) -> Iterator[str]:
    changed = result.changed_options
    if program.request(changes)["platform"] == _CUDA:
        yield "no kernel is measured, as the compile uses no GPU: XLA can choose others than on one"
    is_original = changes.text is None and program.original is not None and result.is_original
    if (
        is_original
        and not _is_reproduced(program, result)
        and not _has_text(result.folder, program)
    ):
        yield (
            f"module.mlir was compiled, and its text is not that of {program.path.name}: this"
            " release can print another one, or the text was edited"
        )
    if changed is None:
        yield (
            f"the dump is of another libtpu (cl/{program.settings.rest['change']}), so the options"
            " that it changed are unknown and not carried over"
        )
    elif changed:
        yield f"{count_noun(len(changed), 'option')} as in the dump: {', '.join(changed)}"
    if unknown := result.unknown_options:
        names = ", ".join(unknown)
        yield f"this compiler lacks {count_noun(len(unknown), 'option')} of the dump: {names}"


def _target(program: DumpedProgram, request: Json, result: CompileResult) -> str:
    settings, is_gpu = program.settings, request["platform"] == _CUDA
    found = result.device if is_gpu else request["topology"] or "the CPU"
    if settings.devices == 1:
        return str(found)
    partitioner = "Shardy" if settings.is_shardy else "GSPMD"
    return f"{found}, {count_noun(settings.devices, 'device')}, {partitioner}"
