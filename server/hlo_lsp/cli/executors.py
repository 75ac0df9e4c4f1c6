"""The executors of ``--executor``: a dask cluster, or one that a factory returns."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from hlo_lsp import __version__
from hlo_lsp.cli.errors import CommandError, describe_error
from hlo_lsp.cli.workers import WorkerPool, Workers, worker_version
from hlo_lsp.text.remote import urls_of

_DASK_PREFIX = "dask="
_CONNECT_SECONDS = 10


def worker_pool(options: argparse.Namespace) -> WorkerPool:
    """Return the workers for the options of a command."""
    if options.executor is None:
        if options.import_from is not None:
            raise CommandError("--import-from: only with --executor")
        return WorkerPool(options.jobs)
    if options.import_from is not None:
        sys.path.append(os.path.abspath(options.import_from))
    urls = urls_of(map(Path, options.paths))
    return WorkerPool(open_workers=partial(open_workers, options.executor), urls=urls)


@contextmanager
def open_workers(name: str) -> Iterator[Workers]:
    """Open the executor of a name, and check that its workers can run this version.

    Args:
        name: ``dask=ADDRESS`` or ``MODULE:FACTORY``.

    Raises:
        CommandError: There is no such executor, or its workers cannot run this version.
    """
    with _opened(name) as workers:
        install = f"install hlo-lsp {__version__} on them"
        try:
            found = workers.executor.submit(worker_version).result()
        except Exception as error:
            problem = f"the workers cannot run hlo-lsp: {describe_error(error)}"
            raise CommandError(f"--executor {name}: {problem}; {install}") from error
        if found != __version__:
            problem = f"the workers have hlo-lsp {found}"
            raise CommandError(f"--executor {name}: {problem}; {install}")
        yield workers


def _opened(name: str) -> AbstractContextManager[Workers]:
    if name.startswith(_DASK_PREFIX):
        return _dask(name, name.removeprefix(_DASK_PREFIX))
    module_name, _, factory_name = name.partition(":")
    if not module_name or not factory_name:
        raise CommandError(f"--executor {name}: write dask=ADDRESS or MODULE:FACTORY")
    return _of_factory(name, module_name, factory_name)


@contextmanager
def _dask(name: str, address: str) -> Iterator[Workers]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise CommandError(
            f"--executor {name}: dask is not installed ({error});"
            " install it with `pip install 'hlo-lsp[dask]'`"
        ) from error
    if not logging.getLogger().isEnabledFor(logging.INFO):
        # The messages of this command say what went wrong.
        for logger in ("distributed", "distributed.client", "distributed.core"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        # The client would wait for the scheduler of a malformed address when it is closed.
        distributed.comm.get_address_host_port(address)
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"no dask scheduler at {address!r} ({describe_error(error)})"
        raise CommandError(f"--executor {name}: {problem}") from error
    with client:
        if not client.nthreads():
            problem = f"the scheduler at {address} has no workers yet; waiting for the first"
            print(f"hlo-lsp: {problem}", file=sys.stderr)
        # dask would return the failure of the first run of a job that runs again, if it were pure.
        yield Workers(client.get_executor(pure=False), lambda: client.status != "closed")


@contextmanager
def _of_factory(name: str, module_name: str, factory_name: str) -> Iterator[Workers]:
    factory = _factory(name, module_name, factory_name)
    try:
        executor = factory()
    except Exception as error:
        problem = f"{factory_name}() failed ({describe_error(error)})"
        raise CommandError(f"--executor {name}: {problem}") from error
    if not isinstance(executor, Executor):
        kind = type(executor).__name__
        problem = f"{factory_name}() returned {kind}, not a concurrent.futures.Executor"
        raise CommandError(f"--executor {name}: {problem}")
    yield Workers(executor)


def _factory(name: str, module_name: str, factory_name: str) -> Callable[[], object]:
    try:
        found: object = import_module(module_name)
    except Exception as error:
        problem = f"cannot import {module_name} ({describe_error(error)})"
        if isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]:
            problem += "; if it is a file, name its folder with --import-from"
        raise CommandError(f"--executor {name}: {problem}") from error
    for part in factory_name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        problem = f"{module_name} has no function {factory_name}"
        raise CommandError(f"--executor {name}: {problem}")
    return found
