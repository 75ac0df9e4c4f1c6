"""Garbage collection without long pauses, and the return of free memory to the system.

A dump is loaded into a million objects that stay alive. A full collection visits all of them, which
takes 150 ms, and no request is answered meanwhile. So objects that remain after a file was read or
checked are frozen: collections no longer visit them. Their memory is freed as usual, unless they
refer to each other in a cycle. Cycles among them are freed when a document is closed.

A command answers no requests, so it only collects less often.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

# Collections visit at most 2,000 and 20,000 new objects, which takes 1 and 10 ms.
_THRESHOLDS = (2_000, 10, 2_000)
_MANY_OBJECTS = 20_000
_M_ARENA_MAX = -8  # malloc.h of glibc
_CachedFunction = type(lru_cache(len))
_PACKAGE = "hlo_lsp."


def share_free_memory() -> None:
    """Let all threads use the same free memory.

    glibc keeps it for each thread, but only one thread works at a time. The peak with a compile of
    L96 is 306 MB instead of 390 MB. Call this before other threads start.
    """
    set_option = _c_function("mallopt")
    if set_option is not None:
        set_option(_M_ARENA_MAX, 1)


def reduce_gc_frequency() -> None:
    """Run the garbage collector less often, for a process that ends after its work.

    At the default rate, searching the objects of a dump for cycles takes up to three quarters of
    the time of a command.
    """
    gc.set_threshold(1_000_000, 10, 5)


def limit_collections() -> None:
    """Make each automatic collection short."""
    gc.set_threshold(*_THRESHOLDS)


class _State:
    pauses = 0  # of collections


@contextmanager
def collection_paused() -> Iterator[None]:
    """Disable automatic collections during analysis, which creates hardly any cycles.

    Otherwise they would visit each new object twice, which takes 9 % of the time of a check. At
    the end, the objects that remain are exempted from collections if they are many.
    """
    _State.pauses += 1
    gc.disable()
    try:
        yield
    finally:
        _State.pauses -= 1
        youngest, younger, older = gc.get_count()
        if youngest + _THRESHOLDS[0] * (younger + _THRESHOLDS[1] * older) > _MANY_OBJECTS:
            gc.freeze()
        if not _State.pauses:
            gc.enable()


def collect_all() -> None:
    """Free all cycles, those of frozen objects included, and the results of cached functions.

    The results are small, but spread over the memory that was in use, which could not be returned
    to the system otherwise: 168 MB remain after the module of L96 is closed, instead of 190 MB.
    Functions of other packages keep their results.
    """
    gc.unfreeze()
    for found in gc.get_objects():
        if not isinstance(found, _CachedFunction) or not found.__module__.startswith(_PACKAGE):
            continue
        if found.cache_info().maxsize is not None:
            found.cache_clear()
    gc.collect()
    gc.freeze()
    release_memory()


def release_memory() -> None:
    """Return free memory to the system: glibc keeps 10 to 20 MB after a check of a large compile.

    This takes up to 2 ms, and does nothing with other C libraries.
    """
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _c_function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library, or None if it has none."""
    import ctypes  # noqa: PLC0415 - takes 2 ms, and commands do not need it

    try:
        found: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # Windows cannot open the main program as a library
        return None
    return found
