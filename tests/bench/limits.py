"""The figures with a limit, measured on the large train steps."""

import importlib
import os
import re
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from bench.measurements import megabytes, middle, milliseconds, typing_times
from bench.wire import Client, Json

_ROUNDS = 5  # Each round has its own server; the median counts.
_EDITS = 15
_TIMEOUT_SECONDS = 120.0
_USES = re.compile(r"\buses\b\W+\d+")
_MEMORY_PER_TEXT_BYTE, _MEMORY_BASE_BYTES = 4, 150_000_000


def promises(folder: Path, smaller: Path) -> Table:
    """Measure the train steps of 96 and 24 layers, and return one row per figure."""
    module = next(folder.glob("*.after_optimizations.txt"))
    assignment = next(folder.glob("*-buffer-assignment.txt"))
    values = next(folder.glob("*-buffer-assignment-values.txt"))
    table = Table("figure", "measured", "limit", "memory now", "at most", "limit")
    _module_rows(table, module)
    _assignment_row(table, assignment, values)
    _diagnostics_rows(table, next(smaller.glob("*-buffer-assignment.txt")))
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


def _diagnostics_rows(table: Table, assignment: Path) -> None:
    """Type wrong numbers into a value in the middle, and measure the time to the diagnostics."""
    client = Client(assignment)
    size = megabytes(assignment.stat().st_size)
    client.open()
    client.settle()
    number, text = next(
        (number, text)
        for number, text in enumerate(client.text.split("\n"))
        if text.startswith(" value: <") and number > client.text.count("\n") // 2
    )
    for what, code, column in (
        ("size", "size-mismatch", text.index("(size=") + len("(size=")),
        ("id", "value-set-mismatch", text.index("<") + 1),
    ):
        first_shown, complete, hovered = [], [], []
        for _ in range(_EDITS):
            started = time.perf_counter()
            client.replace(number, column, column, "9")
            published = client.published(partial(_has_code, code))
            first_shown.append(time.perf_counter() - started)
            if published.get("version") != client.version:
                client.published(lambda params: params.get("version") == client.version)
            complete.append(time.perf_counter() - started)
            client.replace(number, column, column + 1, "")
            until = time.perf_counter() + complete[-1]
            while time.perf_counter() < until:
                begun = time.perf_counter()
                client.ask("textDocument/hover", number, 0)
                hovered.append(time.perf_counter() - begun)
                time.sleep(0.005)
            client.settle()
        table.add_row(
            f"assignment of {size}: a wrong {what} to its diagnostic (pause included)",
            f"p50 {milliseconds(sorted(first_shown), 0.5)}, "
            f"p95 {milliseconds(sorted(first_shown), 0.95)}; "
            f"complete {milliseconds(sorted(complete), 0.5)}; hover meanwhile p95 "
            f"{milliseconds(sorted(hovered), 0.95)}",
            "150 ms; hover 5 ms",
            *_memory(client),
        )
    client.close()


def _has_code(code: str, published: Json) -> bool:
    return code in [found["code"] for found in published["diagnostics"]]


def _seconds_to_hover(
    client: Client, line: int, column: int, wanted: "re.Pattern[str] | None" = None
) -> float:
    """Return the time from opening the text to the first hover with the wanted text."""
    client.settle()  # a server that is just started is no part of it
    started = time.perf_counter()
    client.open()
    while time.perf_counter() - started < _TIMEOUT_SECONDS:
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
    """Return the time of XLA's own parser, or None without jaxlib."""
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
    limit = _MEMORY_PER_TEXT_BYTE * len(client.text.encode()) + _MEMORY_BASE_BYTES
    return megabytes(client.resident), megabytes(client.memory), megabytes(limit)


def _forget(path: Path) -> None:
    """Drop a file from the page cache (Linux only)."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
