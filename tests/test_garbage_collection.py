"""Tests for garbage collection in the server."""

import gc
import platform
import subprocess
import sys
import weakref
from collections.abc import Iterator
from functools import lru_cache

import pytest

from hlo_lsp.garbage_collection import (
    collect_all,
    collection_paused,
    limit_collections,
    release_memory,
)

_SCRIPT = """
from hlo_lsp.garbage_collection import release_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1])

texts = [bytearray(2_000) for _ in range(20_000)]
kept = texts[::100]
del texts
before = resident()
release_memory()
print(before - resident())
"""

_THREADS = """
import threading
from hlo_lsp.garbage_collection import share_free_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1])

def allocate():
    texts = [bytearray(2_000) for _ in range(20_000)]
    kept.extend(texts[::100])

share_free_memory()
kept = []
thread = threading.Thread(target=allocate)
thread.start()
thread.join()
before = resident()
allocate()
print(resident() - before)
"""


class _Node:
    """An object that can refer to itself."""

    def __init__(self) -> None:
        self.other = self


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    """Collect as the server does, and restore the state after the test."""
    before = gc.get_threshold()
    limit_collections()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
    gc.enable()


def test_few_new_objects_stay_collectable() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with collection_paused():
        _ = [_Node() for _ in range(1_000)]
    assert gc.get_freeze_count() <= frozen


def test_many_new_objects_are_frozen() -> None:
    gc.freeze()
    with collection_paused():
        kept = [[] for _ in range(100_000)]  # type: list[list[int]]
    assert not any(each is kept for each in gc.get_objects())


def test_frozen_cycles_are_freed_when_all_are_collected() -> None:
    node = _Node()
    gone = weakref.ref(node)
    gc.freeze()
    del node
    gc.collect()
    assert gone() is not None
    collect_all()
    assert gone() is None


def test_results_of_cached_functions_are_freed() -> None:
    _own(1)
    _foreign(1)
    collect_all()
    assert _own.cache_info().currsize == 0
    assert _foreign.cache_info().currsize == 1  # of another package


@lru_cache(maxsize=4)
def _own(number: int) -> int:
    return number


@lru_cache(maxsize=4)
def _foreign(number: int) -> int:
    return number


_own.__module__ = "hlo_lsp.model.shape"


def test_nothing_is_collected_while_paused() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_free_memory_between_objects_is_released() -> None:
    printed = subprocess.check_output([sys.executable, "-c", _SCRIPT], stdin=subprocess.DEVNULL)
    assert int(printed) > 5_000  # of 10 000 pages


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_threads_share_free_memory() -> None:
    printed = subprocess.check_output([sys.executable, "-c", _THREADS], stdin=subprocess.DEVNULL)
    assert int(printed) < 2_000  # of 10 000 pages


def test_release_works_everywhere() -> None:
    release_memory()
    release_memory()
