"""Work in a process of its own, for large files that no later request needs.

Freeing the objects of a module text of 22 MB takes seconds, which no checkpoint divides. The end of
a process frees them immediately.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from hlo_lsp.lsp.progress import RequestFailedError

T = TypeVar("T")


async def run_in_process(work: Callable[[], T]) -> T:
    """Run work in a new process; the work, its result, and its exceptions must be picklable.

    Raises:
        RequestFailedError: The process cannot be started, or was killed.
    """
    try:
        # Not a fork, because a fork would have the threads and the messages of the server.
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    except (OSError, ImportError) as error:  # no semaphores
        raise RequestFailedError(f"cannot start a process: {error}") from error
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, work)
    except BrokenProcessPool as error:
        raise RequestFailedError(
            "the process ended early; it may have run out of memory"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
