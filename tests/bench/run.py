#!/usr/bin/env python3
"""Prints how long the server takes on large real dumps. Figures, not tests: compare within a run.

python tests/bench/run.py            the 24-layer train step
python tests/bench/run.py --large    the 96-layer one too, with its values file of 210 MB
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from wire import Client  # noqa: E402

from dumps import CORPUS, unpacked  # noqa: E402  # found by the line above

_KEYS = 400
_QUESTIONS = 200
_PAUSE = 0.01  # seconds between two keys: about the fastest that an editor sends


def main() -> None:
    """Measure and print one row a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="the 96-layer train step too")
    options = parser.parse_args()
    cache = HERE.parents[1] / ".pytest_cache" / "d" / "corpus"
    cache.mkdir(parents=True, exist_ok=True)
    table = Table("file", "MB", "open to hover", "key to hover p50", "p95", "hover p95",
                  "definition p95", "references p95", "memory")  # fmt: skip
    console = Console(width=150)
    for size in ("L24", "L96") if options.large else ("L24",):
        folder = unpacked(CORPUS / f"tpu_v5e_train_{size}.tar.xz", cache)
        for path in sorted(folder.glob("*after_optimizations*.txt")):
            console.print(f"measuring {size} {path.name} ...", style="dim")
            table.add_row(*_row(size, path))
    console.print(table)


def _row(size: str, path: Path) -> list[str]:
    client = Client(path)
    lines = client.text.split("\n")
    line, column = _middle(lines)
    started = time.perf_counter()
    client.open()
    client.ask("textDocument/hover", line, column)
    opened = time.perf_counter() - started
    time.sleep(2)  # what an editor asks for at the start is done by then

    def key(number: int) -> None:
        if number % 2:
            client.replace(line, column, column + 1, "")
        else:
            client.replace(line, column, column, "7")
        client.ask("textDocument/hover", line, column)
        time.sleep(_PAUSE)

    typed = _times(_KEYS, key, pause=_PAUSE)
    context = {"context": {"includeDeclaration": True}}
    asked = [
        _times(
            _QUESTIONS, lambda _, method=method, more=more: client.ask(method, line, column, **more)
        )
        for method, more in (
            ("textDocument/hover", {}),
            ("textDocument/definition", {}),
            ("textDocument/references", context),
        )
    ]
    memory = client.memory
    client.close()
    name = (
        f"{size} {path.name.partition('after_optimizations')[2].removesuffix('.txt') or 'module'}"
    )
    return [
        name,
        f"{len(client.text) / 1e6:.1f}",
        f"{opened:.2f} s",
        _milliseconds(typed, 0.5),
        _milliseconds(typed, 0.95),
        *(_milliseconds(times, 0.95) for times in asked),
        f"{memory / 1e6:.0f} MB",
    ]


def _middle(lines: list[str]) -> tuple[int, int]:
    """A value, live range or instruction in the middle of a file, and a column of its name."""
    for number in range(len(lines) // 2, len(lines)):
        text = lines[number]
        for opening, column in ((" value: <", 14), ("<", 8), ("  %", 5), ("    ", 6)):
            if text.startswith(opening) and len(text) > column:
                return number, column
    return len(lines) // 2, 0


def _times(count: int, work: Callable[[int], None], pause: float = 0.0) -> list[float]:
    """Seconds of each call, without the pause that it ends with; sorted."""
    times = []
    for number in range(count):
        started = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - started - pause)
    return sorted(times)


def _milliseconds(times: list[float], share: float) -> str:
    return f"{1e3 * times[min(len(times) - 1, int(len(times) * share))]:.2f} ms"


if __name__ == "__main__":
    main()
