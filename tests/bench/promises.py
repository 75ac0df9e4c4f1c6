"""The figures that were promised for the 96-layer train step, each beside its limit."""

import importlib
import os
import re
import statistics
import time
from pathlib import Path
from typing import Any

from figures import megabytes, middle, milliseconds, typing_times
from rich.table import Table
from wire import Client

_ROUNDS = 5  # the median of so many: each in a server of its own
_PATIENCE = 120.0  # seconds
_USES = re.compile(r"\buses\b\W+\d+")
_MEMORY_TIMES, _MEMORY_MORE = 4, 150_000_000  # bytes: a multiple of the open text, and some more


def promises(folder: Path) -> Table:
    """Measure a folder with the dump of the train step; one row a figure."""
    module = next(folder.glob("*.after_optimizations.txt"))
    assignment = next(folder.glob("*-buffer-assignment.txt"))
    values = next(folder.glob("*-buffer-assignment-values.txt"))
    table = Table("figure", "measured", "limit", "memory now", "at most", "limit")
    _module_rows(table, module)
    _assignment_row(table, assignment, values)
    return table


def _module_rows(table: Table, module: Path) -> None:
    size = megabytes(module.stat().st_size)
    by_xla = _xla_seconds(module.read_text("utf-8"))
    opened = []
    for last in range(_ROUNDS - 1, -1, -1):
        client = Client(module)
        line, column = middle(client.text.split("\n"))
        opened.append(_seconds_to_hover(client, line, column))
        if last:
            client.close()
    seconds = statistics.median(opened)
    if by_xla is None:
        limit = "jaxlib 0.10.2 is not installed"
    else:
        limit = f"XLA's parser: {by_xla:.2f} s (ratio {seconds / by_xla:.2f})"
    table.add_row(f"module of {size}: open to hover", f"{seconds:.2f} s", limit, *_memory(client))
    client.settle()
    typed = typing_times(client, line, column)
    table.add_row(
        f"module of {size}: a character to hover",
        f"p50 {milliseconds(typed, 0.5)}, p95 {milliseconds(typed, 0.95)}",
        "p95 5 ms",
        *_memory(client),
    )
    client.close()


def _assignment_row(table: Table, assignment: Path, values: Path) -> None:
    seconds = []
    for last in range(_ROUNDS - 1, -1, -1):
        for path in (assignment, values):
            _forget(path)
        client = Client(assignment)
        line, column = middle(client.text.split("\n"))
        seconds.append(_seconds_to_hover(client, line, column, _USES))
        if last:
            client.close()
    sizes = megabytes(assignment.stat().st_size), megabytes(values.stat().st_size)
    table.add_row(
        f"assignment of {sizes[0]} beside values of {sizes[1]}: open to hover with uses, cold",
        f"{statistics.median(seconds):.2f} s",
        "2 s",
        *_memory(client),
    )
    client.close()


def _seconds_to_hover(
    client: Client, line: int, column: int, wanted: "re.Pattern[str] | None" = None
) -> float:
    """From the first byte of the text to the first hover that says what is wanted."""
    client.settle()  # a server that is just started is no part of it
    started = time.perf_counter()
    client.open()
    while time.perf_counter() - started < _PATIENCE:
        hover = client.ask("textDocument/hover", line, column)
        seconds = time.perf_counter() - started
        if hover is not None and (wanted is None or wanted.search(_text(hover))):
            return seconds
        time.sleep(0.01)
    raise TimeoutError(f"no hover says {wanted}")


def _text(hover: Any) -> str:
    contents = hover["contents"]
    return str(contents["value"] if isinstance(contents, dict) else contents)


def _xla_seconds(text: str) -> float | None:
    """How long XLA's own parser takes, None where it is not there."""
    try:
        hlo = importlib.import_module("jaxlib._hlo")
    except ImportError:
        return None
    found = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        hlo.hlo_module_from_text(text)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def _memory(client: Client) -> tuple[str, str, str]:
    limit = _MEMORY_TIMES * len(client.text.encode()) + _MEMORY_MORE
    return megabytes(client.resident), megabytes(client.memory), megabytes(limit)


def _forget(path: Path) -> None:
    """Let the system drop what it keeps of a file in memory (Linux; elsewhere nothing)."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
