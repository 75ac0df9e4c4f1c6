"""The Python interface: read dumps, capture those of a block, and analyze compiled functions.

    import hlo_lsp

    for module in hlo_lsp.load("dumps"):
        print(module.name, module.summary["by_space"])

The package does not import jax.
"""

import html
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.profile import joined_profile, profile_at
from hlo_lsp.cli.program_run import dump_flags, file_stamps, written_dumps
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from hlo_lsp.compiling.pythons import find_python
from hlo_lsp.compiling.recompile import compile_changed
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.diff import compare
from hlo_lsp.reports.diff_text import diff_json, diff_lines
from hlo_lsp.reports.memory_map import memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page
from hlo_lsp.reports.profile_report import profile_json
from hlo_lsp.reports.step_times import timed_memory_map
from hlo_lsp.reports.summary import SummaryOptions, summarize, summarize_with_cost
from hlo_lsp.reports.summary_text import summary_json, summary_lines
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.stats.measured_programs import TimeSources
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import printable
from hlo_lsp.text.remote import local_path

_COUNT = 20  # of owners, buffers, and changes that are listed
_OPTIONS = SummaryOptions(count=_COUNT)


class Module:
    """One compile of a module.

    Facts are dictionaries with the keys of `docs/json_schema.md`, which are a public interface.
    """

    def __init__(self, dump: Compile, folder: "tempfile.TemporaryDirectory[str] | None" = None):
        self._dump = dump
        self._folder = folder  # deleted with the last module that was read from it
        self._summary = summarize(dump, _OPTIONS)

    @property
    def name(self) -> str:
        """The name of the module, such as ``jit_step``."""
        return self._summary.name

    @property
    def path(self) -> Path:
        """A file of the compile."""
        file = self._dump.files[0]
        return file.path or Path(file.label)

    @property
    def summary(self) -> dict[str, Any]:
        """The memory summary, as `hlo-lsp summary --format json` prints it for a module."""
        return summary_json(summarize_with_cost(self._dump, _OPTIONS), _COUNT)

    @property
    def cost(self) -> dict[str, Any] | None:
        """The cost, as `hlo-lsp cost --format json` prints it; None without a module text."""
        table = cost_table(self._dump, chip_of(self._dump))
        return None if table is None else cost_json(table, InstructionKey.LINE, _COUNT)

    def diff(self, other: "Module") -> dict[str, Any]:
        """Return what changes from this compile to another, as `hlo-lsp diff` prints it."""
        return diff_json(compare(self._dump, other._dump), _COUNT)

    def diff_text(self, other: "Module") -> str:
        """Return what changes from this compile to another as text."""
        return "\n".join(map(printable, diff_lines(compare(self._dump, other._dump), _COUNT)))

    def memory_map_html(self) -> str:
        """Return the memory map as a self-contained HTML page."""
        found = timed_memory_map(self._dump, TimeSources(chip_of(self._dump)))
        return memory_map_page(memory_map_document([found]))

    def __str__(self) -> str:
        """Return the summary, as ``hlo-lsp summary`` prints it."""
        options = SummaryOptions()
        summary = summarize_with_cost(self._dump, options)
        return "\n".join(map(printable, summary_lines(summary, options.count)))

    def __repr__(self) -> str:
        return f"<hlo_lsp.Module {self.name} {self.path}>"

    def _repr_html_(self) -> str:
        """Return the summary and the memory map for a notebook."""
        page = html.escape(self.memory_map_html(), quote=True)
        frame = (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="640"></iframe>'
        )
        return f"<pre>{html.escape(str(self))}</pre>{frame if self._summary.spaces else ''}"


class Capture:
    """The folder and, after the block, the modules of :func:`capture`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[Module] = []


def load(path: str | os.PathLike[str]) -> list[Module]:
    """Read the compiles of a dump file, or of everything below a folder; the path can be a URL.

    Raises:
        OSError: The path cannot be read, or contains no dumps.
    """
    return _load([local_path(os.fspath(path))], None)


def load_profile(path: str | os.PathLike[str], *dumps: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the measured time of programs, as `hlo-lsp profile --format json` prints it.

    Args:
        path: A file or a folder that `jax.profiler.trace` wrote; this and ``dumps`` can be URLs.
        dumps: Dumps of the programs; without one, the modules in the profile are used.

    Raises:
        OSError: The path has no profile, or a dump cannot be read.
    """
    errors: list[str] = []
    profile = local_path(os.fspath(path))
    try:
        read = profile_at(profile, errors)
        paths = [local_path(os.fspath(one)) for one in dumps]
        joined = joined_profile(read, profile, paths, errors)
    except UnreadableError as error:
        raise OSError(str(error)) from error
    if errors:
        raise OSError("; ".join(errors))
    return profile_json(joined, InstructionKey.LINE)


@contextmanager
def capture(folder: str | os.PathLike[str] | None = None) -> Iterator[Capture]:
    """Write the dumps of everything that is compiled in a block, and read them at its end.

    XLA reads its flags once, so the block must contain the first compile of the process. Later, use
    :func:`analyze`.

    Args:
        folder: Where the dumps are written; by default a new temporary folder, which is kept unless
            nothing was dumped.

    Raises:
        RuntimeError: Nothing was dumped in the block.
    """
    found = Capture(Path(tempfile.mkdtemp(prefix="hlo-dumps-") if folder is None else folder))
    found.folder.mkdir(parents=True, exist_ok=True)
    stamps = file_stamps(found.folder)
    before = os.environ.get("XLA_FLAGS")
    os.environ["XLA_FLAGS"] = dump_flags(before or "", found.folder)
    try:
        yield found
    finally:
        if before is None:
            del os.environ["XLA_FLAGS"]
        else:
            os.environ["XLA_FLAGS"] = before
    written = written_dumps(found.folder, stamps)
    if not written:
        if folder is None:
            shutil.rmtree(found.folder, ignore_errors=True)
        raise RuntimeError(
            "nothing was dumped: XLA reads its flags before the first compile of a process, and"
            " compiles from a cache write no dumps; use hlo_lsp.analyze(jitted.lower(...))"
        )
    found.modules = _load(written, None)


def analyze(function: Any) -> Module:
    """Compile a lowered function of jax, and read its dumps.

    Args:
        function: The result of ``jax.jit(f).lower(...)``, which is compiled; or a compiled
            function, of which only the module text is known.

    Raises:
        TypeError: The argument is something else.
        OSError: The compiler wrote no dumps.
    """
    folder = tempfile.TemporaryDirectory(prefix="hlo-dumps-")
    if callable(getattr(function, "compile", None)):
        function.compile(
            compiler_options={"xla_dump_to": folder.name, "xla_dump_hlo_as_text": True}
        )
    elif callable(getattr(function, "as_text", None)):
        text = function.as_text()
        Path(folder.name, "module_0000.compiled.after_optimizations.txt").write_text(text, "utf-8")
    else:
        raise TypeError(
            "the argument must be the result of jax.jit(f).lower(...) or of its compile()"
        )
    return max(_load([Path(folder.name)], folder), key=_size)


def compile(  # noqa: A001  # as jax.stages.Lowered.compile
    path: str | os.PathLike[str],
    *,
    chip: str | None = None,
    topology: str | None = None,
    flags: Mapping[str, str] | None = None,
    donate: Sequence[str] | None = None,
    no_donate: bool = False,
    text: str | None = None,
    python: str | None = None,
) -> list[Module]:
    """Compile the program of a dump again, as `hlo-lsp compile` does, and read the new dump.

    Args:
        path: A file of the dump, a lone module text, or a folder with one program.
        chip: Another chip, such as ``v6e``.
        topology: Another slice, such as ``v5e:4x4``.
        flags: Options of XLA or libtpu.
        donate: Names, patterns, or numbers of arguments to donate; empty for all usable ones.
        no_donate: Whether the donations of the program are removed.
        text: An edited module text in place of that of the dump.
        python: The Python with jax, by default the first one that is found.

    Raises:
        OSError: The program cannot be compiled.
    """
    donated = None if donate is None else tuple(donate)
    changes = Changes(chip, topology, dict(flags or {}), donated, no_donate, text)
    folder = tempfile.TemporaryDirectory(prefix="hlo-dumps-")
    try:
        with CompilerProcess(find_python(python)) as compiler:
            program = program_at(local_path(os.fspath(path)))  # while the process loads jax
            compile_changed(compiler, program, changes, Path(folder.name))
    except (CompileFailedError, UnreadableError) as error:
        raise OSError(str(error)) from error
    return _load([Path(folder.name)], folder)


def _size(module: Module) -> int:
    return module._summary.total_bytes or 0


def _load(paths: list[Path], folder: "tempfile.TemporaryDirectory[str] | None") -> list[Module]:
    errors: list[str] = []
    try:
        found = [
            Module(dump, folder) for dump in dumps_at(paths, errors, unread=ROLES_WITHOUT_SIZES)
        ]
    except UnreadableError as error:
        raise OSError(str(error)) from error
    if errors:
        raise OSError("; ".join(errors))
    return found
