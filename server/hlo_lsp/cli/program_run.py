"""A program that writes dumps, and the files that it has written."""

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from hlo_lsp.cli.errors import CommandError

_FLAG = "--xla_dump_to="
_MAX_LOG_BYTES = 50_000_000  # of standard error, from its end
_NOT_FOUND_STATUS, _NOT_EXECUTABLE_STATUS = 127, 126  # as of a shell
_SIGNAL_STATUS = 128
INTERRUPTED_STATUS = 130


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


def run_program(
    command: Sequence[str], environment: Mapping[str, str], stdout: TextIO | None = None
) -> tuple[int, bytes]:
    """Run a program, and return its exit status and the end of its standard error.

    Args:
        command: The program and its arguments.
        environment: The variables.
        stdout: The file for its standard output, by default that of this process.

    Raises:
        CommandError: The program cannot be run.
    """
    try:
        return _run(command, environment, None if stdout is None else stdout.fileno())
    except FileNotFoundError:
        raise CommandError(f"{command[0]}: program not found", _NOT_FOUND_STATUS) from None
    except OSError as error:
        raise CommandError(f"{command[0]}: {error.strerror}", _NOT_EXECUTABLE_STATUS) from None


def _run(
    command: Sequence[str], environment: Mapping[str, str], stdout: int | None
) -> tuple[int, bytes]:
    with subprocess.Popen(
        command, env=environment, stdout=stdout, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        log = bytearray()
        reader = threading.Thread(target=_copy, args=(process.stderr, log))
        reader.start()
        is_interrupted = False
        while True:
            try:
                status = process.wait()
                break
            except KeyboardInterrupt:  # the program got the signal as well
                is_interrupted = True
        reader.join()
    if is_interrupted:
        return INTERRUPTED_STATUS, bytes(log)
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
