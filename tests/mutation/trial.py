"""Tests run against mutants in forks of a process that has collected the tests, and run them once.

A mutant is on no disk, so several can be tried at once. Where only the inside of functions is
another, their code is exchanged in place; else, and to be sure of each survivor, the module is
loaded from memory before anything is imported that needs it.
"""

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import _lru_cache_wrapper
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from time import perf_counter
from types import FunctionType, ModuleType

import pytest
from hypothesis import Phase, settings

_MOST_SECONDS = 60  # of CPU time: an endless loop is a mutant that was noticed


def prepare() -> None:
    """Imports what no mutant changes, and makes hypothesis look at the same examples each time."""
    import hlo_lsp.text.checkpoint  # noqa: F401

    settings.register_profile(
        "mutation",
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),  # the smallest example of a failure helps nobody
    )
    settings.load_profile("mutation")
    sys.dont_write_bytecode = True


def forked(work: Callable[[], int], seconds: int = _MOST_SECONDS) -> int:
    """The id of a process that does some work in silence, and ends with what it returns."""
    child = os.fork()
    if child:
        return child
    status = 3
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        status = work()
    finally:
        os._exit(int(status))


def from_the_start(name: str, path: Path, source: str, tests: Sequence[str], cache: Path) -> int:
    """What pytest returns with this text of a module that nobody has imported yet."""
    sys.meta_path.insert(0, _Mutated(name, path, source))
    return _pytest(tests, cache)


class Warm:
    """Tests that have been collected and run once; ``each`` is called then, and may fork."""

    def __init__(self, each: "Callable[[Warm], None]") -> None:
        self.each = each
        self.session: pytest.Session
        self.took: dict[str, float] = {}

    def run(self, tests: Sequence[str], cache: Path) -> int:
        """What pytest returns without any mutant."""
        return _pytest(tests, cache, self)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> "Iterator[None]":
        started = perf_counter()
        result = yield
        self.took[item.nodeid] = perf_counter() - started
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> "Iterator[None]":
        result = yield
        if not session.testsfailed:
            gc.collect()
            gc.freeze()  # else the collector of each fork would copy all pages
            self.session = session
            session.items.sort(key=lambda item: self.took[item.nodeid])
            self.each(self)
        return result

    def again(self, name: str, path: Path, source: str) -> int:
        """Whether a test fails with the functions of this text."""
        module = sys.modules[name]
        other = ModuleType(name)
        other.__file__ = str(path)
        exec(compile(source, str(path), "exec"), other.__dict__)
        right = dict(_functions(module, name))
        for where, function in _functions(other, name):
            right[where].__code__ = function.__code__
        for found in gc.get_objects():
            if isinstance(found, _lru_cache_wrapper) and found.__module__.startswith(
                ("hlo_lsp.analysis", "hlo_lsp.checks")
            ):
                found.cache_clear()
        for number, item in enumerate(self.session.items):
            behind = self.session.items[number + 1 : number + 2]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=behind[0] if behind else None)
            if self.session.testsfailed:
                return 1
        return 0


def _functions(holder: object, module: str, prefix: str = "") -> Iterator[tuple[str, FunctionType]]:
    """Functions and methods that are written in a module, by their names."""
    for name, one in vars(holder).items():
        inner = one.fget if isinstance(one, property) else getattr(one, "__wrapped__", one)
        if isinstance(inner, FunctionType) and inner.__module__ == module:
            yield f"{prefix}{name}", inner
        elif isinstance(one, type) and one.__module__ == module:
            yield from _functions(one, module, f"{prefix}{name}.")


def _pytest(tests: Sequence[str], cache: Path, *plugins: object) -> int:
    with tempfile.TemporaryDirectory() as folder:
        options = ("-x", "-q", "-m", "not corpus", f"--basetemp={folder}/t")
        return int(
            pytest.main([*options, f"--override-ini=cache_dir={cache}", *tests], list(plugins))
        )


class _Mutated(MetaPathFinder, SourceLoader):  # type: ignore[misc]  # typeshed's signatures differ
    """Finds one module, with another text."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        return spec_from_file_location(fullname, self.path, loader=self)

    def get_filename(self, _: str) -> str:
        return str(self.path)

    def get_data(self, _: "bytes | str") -> bytes:
        return self.source.encode()
