"""``hlo-lsp run``: run a program, dump what it compiles, and show where its memory goes."""

import argparse
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.oom import NoMessageError, report_of_log
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import text_lines
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.modules import CompiledModule, compiled_module, modules_content, sorted_by_name
from hlo_lsp.reports.oom_report import oom_lines
from hlo_lsp.reports.summary import SummaryOptions, summarize_with_cost
from hlo_lsp.reports.summary_text import summary_lines
from hlo_lsp.text.disk import UnreadableError, decode
from hlo_lsp.text.inert import printable

_FLAG = "--xla_dump_to="
_MAX_LOG_BYTES = 50_000_000  # of standard error, from its end
_NOT_FOUND_STATUS, _NOT_EXECUTABLE_STATUS = 127, 126  # as of a shell
_SIGNAL_STATUS = 128


def run(options: argparse.Namespace) -> int:
    """Run the program, print the summary on standard error, and return the program's status."""
    command = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        raise CommandError("no program: write it after --")
    flags = os.environ.get("XLA_FLAGS", "")
    folder = dump_folder(flags, options.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot create {folder}: {error.strerror}") from None
    before = file_stamps(folder)
    try:
        status, log = _run(command, {**os.environ, "XLA_FLAGS": dump_flags(flags, folder)})
    except FileNotFoundError:
        raise CommandError(f"{command[0]}: program not found", _NOT_FOUND_STATUS) from None
    except OSError as error:
        raise CommandError(f"{command[0]}: {error.strerror}", _NOT_EXECUTABLE_STATUS) from None
    written = written_dumps(folder, before)
    print(file=sys.stderr)
    if written:
        print(
            printable(f"hlo-lsp: dumps are in {folder}{_earlier(before, written)}"), file=sys.stderr
        )
    for line in _explanation(folder, written, log if status else b"", options):
        print(printable(line), file=sys.stderr)
    return status


def dump_folder(flags: str, output: str | None) -> Path:
    """Return the folder of dumps: the given one, that of the flags, or ``hlo-dumps``."""
    if output is not None:
        return Path(output)
    named = [word.removeprefix(_FLAG) for word in _words(flags) if word.startswith(_FLAG)]
    return Path(named[-1]) if named and named[-1] != "-" else Path("hlo-dumps")


def dump_flags(flags: str, folder: Path) -> str:
    """Return XLA flags with those that write text dumps into a folder."""
    kept = [word for word in _words(flags) if not word.startswith(_FLAG)]
    wanted = [f"{_FLAG}{folder.absolute()}", "--xla_dump_hlo_as_text"]
    return " ".join([*kept, *(word for word in wanted if word not in kept)])


def _words(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError:  # an open quote; XLA reports it
        return flags.split()


def _run(command: Sequence[str], environment: dict[str, str]) -> tuple[int, bytes]:
    """Run a program, and return its exit status and the end of its standard error."""
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        log = bytearray()
        reader = threading.Thread(target=_copy, args=(process.stderr, log))
        reader.start()
        while True:
            try:
                status = process.wait()
                break
            except KeyboardInterrupt:  # the program got the signal as well
                continue
        reader.join()
    return (_SIGNAL_STATUS - status if status < 0 else status), bytes(log)


def _copy(stream: BinaryIO, log: bytearray) -> None:
    """Copy a stream to standard error as it comes, and keep its end."""
    descriptor = stream.fileno()
    while data := os.read(descriptor, 1 << 16):
        with suppress(OSError, ValueError):
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
        log += data
        if len(log) > 2 * _MAX_LOG_BYTES:
            del log[:-_MAX_LOG_BYTES]


FileStamps = dict[Path, tuple[int, int]]
"""The modification time in nanoseconds and the size in bytes of files."""


def written_dumps(folder: Path, before: FileStamps) -> list[Path]:
    """Return the text files of a folder that were written since its stamps were taken."""
    return sorted(
        path
        for path, stamp in file_stamps(folder).items()
        if before.get(path) != stamp and path.suffix == ".txt"
    )


def file_stamps(folder: Path) -> FileStamps:
    """Return the stamps of the files in a folder."""
    found = {}
    for entry in os.scandir(folder):
        with suppress(OSError):
            status = entry.stat()
            found[Path(entry.path)] = status.st_mtime_ns, status.st_size
    return found


def _earlier(before: FileStamps, written: list[Path]) -> str:
    """Return what became of the text dumps of earlier runs in the folder."""
    earlier = {path for path in before if path.suffix == ".txt"}
    replaced = len(earlier.intersection(written))
    parts = [
        f"{count_noun(count, 'file')} of an earlier run {what}"
        for count, what in ((replaced, "replaced"), (len(earlier) - replaced, "kept"))
        if count
    ]
    return f"; {', '.join(parts)} (use another folder to compare: -o DIR)" if parts else ""


def _explanation(
    folder: Path, written: list[Path], log: bytes, options: argparse.Namespace
) -> Iterator[str]:
    """Yield what the dumps show: the out-of-memory message, or the modules and the largest one."""
    with suppress(NoMessageError, UnreadableError):
        if log:
            found = report_of_log(
                decode(log).splitlines(), None, [folder], with_negligible=options.all
            )
            yield from oom_lines(found.report)
            return
    errors: list[str] = []
    count, selected = options.top, SummaryOptions(with_negligible=options.all)
    modules: list[CompiledModule] = []
    largest: tuple[int, list[str]] = -1, []
    for dump in dumps_at(written, errors, unread=ROLES_WITHOUT_SIZES):
        module = compiled_module(dump)
        if module.allocated_bytes is not None:
            modules.append(module)
        if module.size > largest[0]:
            lines = list(summary_lines(summarize_with_cost(dump, selected), count))
            largest = module.size, lines
    groups = sorted_by_name(modules)
    if not groups:
        yield "hlo-lsp: XLA wrote no dumps. It writes none for programs from a compilation cache"
        return
    if len(modules) > 1:
        yield from text_lines(modules_content(groups[:count], with_small=options.all))
        if len(groups) > count:
            yield f"{len(groups) - count:,} more; list them with: hlo-lsp modules {folder}"
        yield ""
    yield from largest[1]
