"""The requests ``hlo/compile`` and ``hlo/compileChoices``: compile a text again, with changes."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from hlo_lsp.compiling.compiler_process import CompileResult, CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, DumpedProgram, is_program_text, program_at
from hlo_lsp.compiling.pythons import find_python
from hlo_lsp.compiling.recompile import compile_again
from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.comparison import dumps_at_places
from hlo_lsp.lsp.compile_results import FailedCompile, FinishedCompile, text_id
from hlo_lsp.lsp.custom_requests import (
    COMPILE_CHOICES_METHOD,
    COMPILE_METHOD,
    CompileChanges,
    CompileParams,
    FileParams,
)
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import Progress, RequestFailedError
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.reports.program_table import program_row, row_change
from hlo_lsp.text.inert import printable_json
from hlo_lsp.text.remote import shown

_POLL_SECONDS = 0.1
_COMPILED = "compiled"
_COPY = "text.hlo"  # of a lone text


class Compiler(Service):
    """Compiles texts, one at a time for each document.

    Args:
        session: The session.
        show: Called when the result of a document has changed.
    """

    def __init__(self, session: Session, show: Callable[[str], None]) -> None:
        self._session = session
        self._results = session.compile_results
        self._show = show
        self._running: dict[str, asyncio.Future[FinishedCompile]] = {}
        self._known: dict[str, dict[bytes, CompileResult]] = {}

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {COMPILE_METHOD: self._answer, COMPILE_CHOICES_METHOD: self._answer_choices}

    async def _answer(self, params: CompileParams) -> Json | None:
        """Return what to compare after a compile; None if the user or a later compile ended it.

        Raises:
            RequestFailedError: The text cannot be compiled.
        """
        uri = params.uri
        file = self._session.workspace.opened(uri)
        title = _name_of(uri) if file is None else file.title
        self._results.failed(uri, None)
        await self._session.wait_for_settings()
        if uri in self._running:
            self._running[uri].cancel()
        with self._session.listener.progress(f"Compiling {title}", is_indefinite=True) as progress:
            progress.is_cancellable = True
            work = asyncio.ensure_future(self._compile(params, file, progress))
            self._running[uri] = work
            try:
                found = await _unless_cancelled(work, progress)
            except CompileFailedError as error:
                raise RequestFailedError(self._place(file, error) + str(error)) from None
            finally:
                if self._running[uri] is work:
                    del self._running[uri]
                self._show(uri)
        return None if found is None else found.as_json

    def _place(self, file: DumpFile | None, error: CompileFailedError) -> str:
        """Keep an error of an open program, and return its place, empty without a line."""
        if error.line is None:
            return ""
        if file is None or not is_program_text(file.path):
            return f"line {error.line + 1} of the text before optimizations: "
        self._results.failed(file.uri, FailedCompile.of(file, error))
        return f"{file.title}:{error.line + 1}: "

    async def _compile(
        self, params: CompileParams, file: DumpFile | None, progress: Progress
    ) -> FinishedCompile:
        lines = None if file is None else tuple(file.lines)  # also while it is edited
        text = None if lines is None else "\n".join(lines)
        with self._results.new_folder() as folder, _named(folder / _COPY, params.uri):
            path, edited = _program_path(params.uri, text, folder)
            after = folder / _COMPILED
            after.mkdir()
            python = await asyncio.to_thread(find_python, self._session.settings.python)
            # The program before an edit is compiled only once.
            known = self._known.setdefault(python, {})
            report = _in_loop(progress.report)
            with CompilerProcess(python, report, folder=folder, results=known) as compiler:
                program = await run_in_process(partial(program_at, path))  # while it loads jax
                changes = _changes(params.changes or CompileChanges(), program, edited)
                found = await asyncio.to_thread(compile_again, compiler, program, changes, after)
            last = self._results.last(params.uri)
            before = found.before or (None if last is None else last.found.after)
            frames = self._session.workspace.frames
            outcome = await run_in_process(partial(_outcome, before, after, frames))
            compiled = text_id(program.text.split("\n") if lines is None else lines)
            result = FinishedCompile(params.uri, compiled, before, found, *outcome)
            self._results.finished(result)
        return result

    async def _answer_choices(self, params: FileParams) -> Json:
        """Return what can be changed in the program of a file.

        Raises:
            RequestFailedError: The file has no program that can be compiled.
        """
        if path_of(params.uri) is None and self._session.workspace.opened(params.uri) is None:
            return {"options": [], "arguments": []}
        try:
            program = await self._program(params.uri)
        except CompileFailedError as error:
            raise RequestFailedError(str(error)) from None
        options = [{"name": name, "value": value} for name, value in program.known_options.items()]
        arguments = [
            {"number": number, "name": name, "isUsable": number in program.usable}
            for number, name in program.arguments.items()
        ]
        return {"options": printable_json(options), "arguments": printable_json(arguments)}

    async def _program(self, uri: str) -> DumpedProgram:
        """Return the program of a file or of an open text."""
        file = self._session.workspace.opened(uri)
        text = None if file is None else "\n".join(file.lines)
        folder = tempfile.TemporaryDirectory(prefix="hlo-compile-")
        with folder as name, _named(Path(name, _COPY), uri):
            path, _ = _program_path(uri, text, Path(name))
            return await run_in_process(partial(program_at, path))


def _in_loop(report: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that reports from the thread that waits for the compiler."""
    loop = asyncio.get_running_loop()

    def report_in_loop(stage: str) -> None:
        loop.call_soon_threadsafe(report, stage)

    return report_in_loop


async def _unless_cancelled(
    work: "asyncio.Future[FinishedCompile]", progress: Progress
) -> FinishedCompile | None:
    """Return the result of a compile, None if it was cancelled apart from this task."""
    try:
        while not work.done():
            await asyncio.wait([work], timeout=_POLL_SECONDS)
            if progress.is_cancelled:
                work.cancel()
    finally:
        work.cancel()
    return None if work.cancelled() else work.result()


def _program_path(uri: str, text: str | None, folder: Path) -> tuple[Path, str | None]:
    """Return a file of the program, and the text in the editor if that takes its place.

    A text that is not in a dump is written to the folder, because it can be unsaved.

    Raises:
        RequestFailedError: The file is neither on disk nor open.
    """
    path = path_of(uri)
    is_lone = path is None or suffix_of(path.name).role is FileRole.OTHER
    if path is not None and (text is None or not is_lone):
        return path, text if is_program_text(path) else None
    if text is None:
        raise RequestFailedError(f"{uri}: not on disk and not open in the editor")
    copy = folder / _COPY
    copy.write_text(text, "utf-8", "replace")
    return copy, None


@contextmanager
def _named(copy: Path, uri: str) -> Iterator[None]:
    """Name the document in errors about its copy."""
    try:
        yield
    except CompileFailedError as error:
        error.args = (str(error).replace(shown(copy), _name_of(uri)),)
        raise


def _name_of(uri: str) -> str:
    return PurePosixPath(unquote(urlsplit(uri).path)).name


def _changes(wanted: CompileChanges, program: DumpedProgram, edited: str | None) -> Changes:
    return Changes(
        wanted.chip,
        wanted.topology,
        wanted.flags or {},
        None if wanted.donate is None else tuple(wanted.donate),
        wanted.noDonate,
        None if edited is None or edited == program.text else edited,
    )


def _outcome(before: Path | None, after: Path, frames: FrameChoice) -> tuple[str, str, str]:
    """Return how a program changed, its name, and the URI of its new module text."""
    sides = [path for path in (before, after) if path is not None]
    dumps = dumps_at_places([(path, None) for path in sides], frames)
    main = max(dumps[-1], key=largest_peak_bytes)
    return (
        row_change([program_row("", each) for each in dumps]),
        main.module_name,
        main.files[0].uri,
    )
