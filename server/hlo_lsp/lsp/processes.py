"""Work in a process of its own, for large files that no later request needs.

Freeing the objects of a module text of 22 MB takes seconds, which no checkpoint divides. The end of
a process frees them immediately.
"""

import asyncio
import pickle
from asyncio.subprocess import PIPE
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.python_processes import python_environment, result_of, worker_command

T = TypeVar("T")


async def run_in_process(work: Callable[[], T]) -> T:
    """Run work in a new process; the work, its result, and its exceptions must be picklable.

    Raises:
        RequestFailedError: The process cannot be started, or was killed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *worker_command(), stdin=PIPE, stdout=PIPE, env=python_environment()
        )
    except OSError as error:
        raise RequestFailedError(f"cannot start a process: {error}") from error
    try:
        answer, _ = await process.communicate(pickle.dumps(work))
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    try:
        outcome = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError) as error:
        raise RequestFailedError(
            "the process ended early; it may have run out of memory"
        ) from error
    found: T = result_of(outcome)
    return found
