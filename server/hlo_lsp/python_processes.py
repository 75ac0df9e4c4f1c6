"""Processes of Python that import nothing from the current folder.

``python -c`` puts that folder first on the path, and so do the processes of ``multiprocessing``,
except forks.
"""

import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SERVE = "from hlo_lsp.python_processes import serve; serve()"
_FIRST_WITH_SAFE_PATH = (3, 11)


def python_command(statement: str, *arguments: str) -> list[str]:
    """Return the command of a process that imports from where this one does and runs a statement.

    Args:
        statement: The program, in which ``sys.argv[1:]`` are the arguments.
        *arguments: The arguments.
    """
    paths = [path for path in sys.path if os.path.isabs(path)]
    own = str(Path(__file__).resolve().parents[1])
    paths += [] if own in paths else [own]
    end = len(paths) + 1
    # First, it imports only a built-in module, because the path is not yet safe in Python 3.10.
    program = f"import sys; sys.path[:] = sys.argv[1:{end}]; del sys.argv[1:{end}]; {statement}"
    options = ["-I"] if sys.flags.isolated else ["-P"]
    if sys.version_info < _FIRST_WITH_SAFE_PATH:
        options.remove("-P")
    return [sys.executable, *options, "-c", program, *paths, *arguments]


def python_environment() -> dict[str, str]:
    """Return the environment of such a process: Python imports from ``PYTHONPATH`` at its start."""
    environment = dict(os.environ)
    paths = environment.pop("PYTHONPATH", "").split(os.pathsep)
    if kept := list(filter(os.path.isabs, paths)):
        environment["PYTHONPATH"] = os.pathsep.join(kept)
    return environment


def worker_command() -> list[str]:
    """Return the command of a process that runs what it is sent.

    It reads functions without arguments from its standard input, as bytes of ``pickle``, and writes
    an :func:`outcome` for each one to its standard output, until the input ends.
    """
    return python_command(_SERVE)


def serve() -> None:
    """Run functions from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # The output of a function is not an answer.
    while True:
        try:
            work: Callable[[], object] = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            outcome = pickle.dumps((work(), None))
        except BaseException as error:  # noqa: BLE001  # the process that waits raises it
            outcome = _pickled_error(error)
        try:
            answers.write(outcome)
            answers.flush()
        except OSError:  # the other process has ended
            os._exit(1)


def _pickled_error(error: BaseException) -> bytes:
    try:
        return pickle.dumps((None, error))
    except Exception:  # noqa: BLE001  # an exception can have any attribute
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))


def result_of(outcome: tuple[Any, BaseException | None]) -> Any:
    """Return the result of a function that a process has run, or raise its exception."""
    result, error = outcome
    if error is not None:
        raise error
    return result
