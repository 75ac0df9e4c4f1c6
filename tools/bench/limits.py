"""The figures with a limit, measured on the large train steps, with those of peers beside them."""

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rich.table import Table

from bench.large_profile import large_profile
from bench.measurements import megabytes, middle, milliseconds
from bench.peers import EMPTY_SERVER, mlir_server, xla_seconds
from bench.requests import DOCUMENT_METHODS, POSITION_METHODS, capabilities, replies
from bench.wire import Client, Json

_ROUNDS = 5  # Each round has its own server or process; the median counts.
_TYPED_CHARACTERS = 300
_EDITS = 15
_MAX_EDIT_RATIO = 3  # a character to the next hover, to a hover without an edit
_TIMEOUT_SECONDS = 180.0
_USES = re.compile(r"\buses\b\W+\d+")
_MEMORY_PER_TEXT_BYTE, _MEMORY_BASE_BYTES = 3, 100_000_000
_PROGRAM = (sys.executable, "-m", "hlo_lsp")

Row = tuple[str, str, str]
"""A figure, what was measured, and the limit with the peer's figure."""


def limits(large: Path, small: Path, mlir: Path | None = None) -> Iterator[Table]:
    """Measure two train steps, and yield a table per subject.

    `mlir` is the large program in the generic form of MLIR, for `mlir-lsp-server`.
    """
    module = next(large.glob("*.after_optimizations.txt"))
    assignment = next(large.glob("*-buffer-assignment.txt"))
    values = next(large.glob("*-buffer-assignment-values.txt"))
    small_module = next(small.glob("*.after_optimizations.txt"))
    size = megabytes(module.stat().st_size)
    for subject, rows in (
        # First, because the peak memory of a process counts that of the process that started it.
        ("command line", _command_rows(large)),
        ("profile", _profile_rows(large.parent)),
        ("start", _start_rows(small_module)),
        (f"module of {size}", _open_rows(module, mlir)),
        (f"typing in the module of {size}", _typing_rows(module, small_module)),
        (f"requests in the module of {size}", _request_rows(module)),
        (f"edits of the module of {size}", _edit_rows(module)),
        ("assignment and values", _assignment_rows(assignment, values)),
    ):
        table = Table("figure", "measured", "limit", title=subject, title_justify="left")
        for row in rows:
            table.add_row(*row)
        yield table


def _start_rows(path: Path) -> Iterator[Row]:
    ours: list[float] = []
    empty: list[float] = []
    for _ in range(_ROUNDS):
        for command, found in ((_PROGRAM, ours), (EMPTY_SERVER, empty)):
            client = Client(path, command=command)
            found.append(client.start_seconds)
            client.close()
    yield (
        "process to the reply of initialize",
        _milliseconds(ours),
        f"1.15 x an empty pygls server: {_ratio(ours, empty)}",
    )
    seconds = [_run((*_PROGRAM, "--version"))[0] for _ in range(_ROUNDS)]
    yield "hlo-lsp --version", _milliseconds(seconds), "100 ms"


def _open_rows(module: Path, mlir: Path | None) -> Iterator[Row]:
    """Open the module without other files, and compare with XLA's parser and an MLIR server."""
    hovers: list[float] = []
    complete: list[float] = []
    by_xla: list[float] = []
    by_mlir: list[float] = []
    server = mlir_server() if mlir is not None else None
    text = module.read_text("utf-8")
    memory = 0
    for _ in range(_ROUNDS):
        if (seconds := xla_seconds(text)) is not None:
            by_xla.append(seconds)
        client = Client(module)
        started = time.perf_counter()
        hovers.append(_seconds_to_hover(client, *middle(client.lines)))
        _wait_for_all(client)
        complete.append(time.perf_counter() - started)
        client.settle()
        memory = max(memory, client.memory)
        client.close()
        if server is not None and mlir is not None:
            client = Client(mlir, command=server, language="mlir")
            by_mlir.append(_seconds_to_hover(client, *_mlir_operation(client.lines)))
            client.close()
    yield "open to hover", _seconds(hovers), f"0.5 x XLA's parser: {_ratio(hovers, by_xla)}"
    if by_mlir:
        yield "... mlir-lsp-server", _seconds(by_mlir), ""
    yield (
        "open to all diagnostics (with those of its compile)",
        _seconds(complete),
        f"2.5 x XLA's parser: {_ratio(complete, by_xla)}",
    )
    limit = _MEMORY_PER_TEXT_BYTE * len(text.encode()) + _MEMORY_BASE_BYTES
    yield "peak memory with its compile", megabytes(memory), f"{megabytes(limit)} (3 x text + 100)"


def _typing_rows(module: Path, small: Path) -> Iterator[Row]:
    """Type while the compile is read and checked, and on an idle server."""
    client = Client(module)
    place = middle(client.lines)
    _seconds_to_hover(client, *place)
    busy = list(_typed(client, *place, pause=0.02))
    yield (
        "character to hover, compile read and checked meanwhile",
        _quantiles(busy),
        "p95 10 ms, p99 25 ms",
    )
    yield "longest wait for a hover", f"{1e3 * max(busy):.0f} ms", "25 ms"
    client.settle()
    checked: list[float] = []
    for _ in range(_EDITS):  # a pause after each key, in which checks run
        checked += _typed(client, *place, pause=0.005, count=2)
        checked += _hovers_until(client, *place, time.perf_counter() + 1)
    yield "hover while checks run after a key", _quantiles(checked), "p95 10 ms, p99 25 ms"
    client.settle()
    idle = list(_typed(client, *place, pause=0.01))
    unedited = list(_hovers_until(client, *place, time.perf_counter() + 2))
    client.close()
    other = Client(small)
    place = middle(other.lines)
    other.open()
    other.settle()
    small_idle = list(_typed(other, *place, pause=0.01))
    other.close()
    ratio = _quantile(idle, 0.95) / _quantile(small_idle, 0.95)
    yield (
        "character to hover after all checks",
        _quantiles(idle),
        f"p95 3 ms; 1.5 x that of {megabytes(len(other.text))}: {ratio:.2f}",
    )
    ratio = _quantile(idle, 0.5) / _quantile(unedited, 0.5)
    yield (
        "... a hover at the same place without a character before it",
        _quantiles(unedited),
        f"p50 of a character to hover is {_MAX_EDIT_RATIO} x: {ratio:.1f}",
    )


def _request_rows(module: Path) -> Iterator[Row]:
    """Send each request on a text at random places of the module."""
    client = Client(module, capabilities())
    client.open()
    client.settle()
    times = {
        method: [seconds for seconds, _, _ in replies(client, method)]
        for method in (*POSITION_METHODS, *DOCUMENT_METHODS)
    }
    client.close()
    of_method = {"hover": "p95 3 ms", "definition": "p95 3 ms", "references": "p95 10 ms"}
    for method, found in sorted(times.items(), key=lambda item: _quantile(item[1], 0.95)):
        yield method, _quantiles(found), of_method.get(method, "p95 50 ms")


def _edit_rows(module: Path) -> Iterator[Row]:
    """Type a wrong shape into an instruction, and wait for its diagnostic and for all."""
    client = Client(module)
    client.open()
    client.settle()
    lines = client.lines
    number = next(
        n
        for n in range(len(lines) // 2, len(lines))
        if re.match(r"  %fusion[.\d]* = \w+\[\d", lines[n])
    )
    column = lines[number].index("[") + 1
    first: list[float] = []
    complete: list[float] = []
    work: list[float] = []
    for _ in range(_EDITS):
        used, started = client.seconds_used, time.perf_counter()
        client.replace(number, column, column, "9")
        client.published(partial(_is_at_line, number))
        first.append(time.perf_counter() - started)
        _wait_for_all(client)
        complete.append(time.perf_counter() - started)
        work.append(client.seconds_used - used)
        client.replace(number, column, column + 1, "")
        client.settle()
    client.close()
    yield "wrong digit to its diagnostic (pause included)", _quantiles(first), "p95 60 ms"
    yield "... to all diagnostics of the compile", _quantiles(complete), "500 ms"
    yield "... processor time of the server", _seconds(work), ""


def _assignment_rows(assignment: Path, values: Path) -> Iterator[Row]:
    seconds = []
    for _ in range(_ROUNDS):
        for path in (assignment, values):
            _forget(path)
        client = Client(assignment)
        seconds.append(_seconds_to_hover(client, *middle(client.lines), _USES))
        client.close()
    sizes = megabytes(assignment.stat().st_size), megabytes(values.stat().st_size)
    yield (
        f"assignment of {sizes[0]} beside values of {sizes[1]}: open to hover with uses, cold",
        _seconds(seconds),
        "1.2 s",
    )
    ours: list[float] = []
    empty: list[float] = []
    for _ in range(3):
        for command, found in ((_PROGRAM, ours), (EMPTY_SERVER, empty)):
            client = Client(values, command=command)
            found.append(_seconds_to_hover(client, *middle(client.lines)))
            client.close()
    yield (
        f"values of {sizes[1]} sent by a client: open to hover",
        _seconds(ours),
        f"1.5 x an empty pygls server: {_ratio(ours, empty)}",
    )


def _command_rows(folder: Path) -> Iterator[Row]:
    for command, limit in (("check", "12 s, 1.2 GB"), ("summary", "3 s")):
        runs = [_run((*_PROGRAM, command, str(folder))) for _ in range(3)]
        yield (
            f"hlo-lsp {command} of the folder",
            f"{_seconds([seconds for seconds, _, _ in runs])}, "
            f"{_seconds([used for _, used, _ in runs])} of processor time, "
            f"{megabytes(max(memory for _, _, memory in runs))} in the largest process",
            limit,
        )


def _profile_rows(cache: Path) -> Iterator[Row]:
    path = large_profile(cache)
    runs = [_run((*_PROGRAM, "profile", str(path))) for _ in range(3)]
    path.unlink()
    yield (
        "hlo-lsp profile of 100 MB",
        f"{_seconds([seconds for seconds, _, _ in runs])}, "
        f"{megabytes(max(memory for _, _, memory in runs))}",
        "5 s to read, 500 MB",
    )


def _typed(
    client: Client, line: int, column: int, *, pause: float, count: int = _TYPED_CHARACTERS
) -> Iterator[float]:
    """Yield the times from a typed character to the next hover, in seconds."""
    for number in range(count):
        started = time.perf_counter()
        if number % 2:
            client.replace(line, column, column + 1, "")
        else:
            client.replace(line, column, column, "7")
        client.ask("textDocument/hover", line, column)
        yield time.perf_counter() - started
        time.sleep(pause)


def _hovers_until(client: Client, line: int, column: int, end: float) -> Iterator[float]:
    """Yield the times of hovers until `time.perf_counter()` reaches `end`."""
    while (started := time.perf_counter()) < end:
        client.ask("textDocument/hover", line, column)
        yield time.perf_counter() - started
        time.sleep(0.005)


def _seconds_to_hover(
    client: Client, line: int, column: int, wanted: "re.Pattern[str] | None" = None
) -> float:
    """Return the time from opening the text to the first hover with the wanted text."""
    started = time.perf_counter()
    client.open()
    while time.perf_counter() - started < _TIMEOUT_SECONDS:
        hover = client.ask("textDocument/hover", line, column)
        seconds = time.perf_counter() - started
        if hover is not None and (wanted is None or wanted.search(_text(hover))):
            return seconds
        time.sleep(0.01)
    raise TimeoutError(f"no hover of {client.path.name} contains {wanted}")


def _text(hover: Json) -> str:
    contents = hover["contents"]
    return str(contents["value"] if isinstance(contents, dict) else contents)


def _wait_for_all(client: Client) -> None:
    """Wait for the diagnostics of the last version: incomplete ones have no version."""
    client.published(lambda params: params.get("version") == client.version)


def _is_at_line(line: int, published: Json) -> bool:
    return line in [found["range"]["start"]["line"] for found in published["diagnostics"]]


def _mlir_operation(lines: Sequence[str]) -> tuple[int, int]:
    """Return the position of an operation in the middle of a generic MLIR text."""
    for number in range(len(lines) // 2, len(lines)):
        if found := re.search(r'= "\w', lines[number]):
            return number, found.end()
    raise ValueError("the MLIR text is not in the generic form")


def _run(command: Sequence[str]) -> tuple[float, float, int]:
    """Run a command, and return its seconds, processor seconds, and peak bytes (Linux)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def _forget(path: Path) -> None:
    """Drop a file from the page cache (Linux only)."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _seconds(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} s"


def _milliseconds(times: Sequence[float]) -> str:
    return f"{1e3 * statistics.median(times):.0f} ms"


def _ratio(ours: Sequence[float], peer: Sequence[float]) -> str:
    if not peer:
        return "not installed"
    middle_of_peer = statistics.median(peer)
    return f"{middle_of_peer:.2f} s, ratio {statistics.median(ours) / middle_of_peer:.2f}"


def _quantile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def _quantiles(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return ", ".join(f"p{100 * s:.0f} {milliseconds(ordered, s)}" for s in (0.5, 0.95, 0.99))
