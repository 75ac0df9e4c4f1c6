#!/usr/bin/env python3
"""Print the time of requests on large real dumps.

python tools/bench/run.py               the 24-layer train step
python tools/bench/run.py --large       also the 96-layer one, with its values file of 210 MB
python tools/bench/run.py --limits      the figures with a limit, beside those of peers

These are figures, not tests: compare only figures of one run.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
# Not this folder: its `requests` hides a package.
sys.path[:1] = [str(ROOT / "tools"), str(ROOT / "tests")]

from bench.limits import limits  # noqa: E402
from bench.measurements import megabytes, middle, milliseconds, times, train_step, typing_times  # noqa: E402
from bench.wire import Client  # noqa: E402

_REQUESTS_PER_METHOD = 200
_SCREEN_LINES = 100


def main() -> None:
    """Measure, and print one row per file or figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="measure the 96-layer train step too")
    parser.add_argument("--limits", action="store_true", help="measure only figures with a limit")
    parser.add_argument(
        "--mlir", type=Path, help="the 96-layer program as generic MLIR, for a peer"
    )
    options = parser.parse_args()
    console = Console(width=170)
    if options.limits:
        for table in limits(train_step("L96"), train_step("L24"), options.mlir):
            console.print(table)
        return
    table = Table("file", "MB", "open to hover", "key to hover p50", "p95", "hover p95",
                  "definition p95", "references p95", "100 lines colored p95",
                  "memory")  # fmt: skip
    for size in ("L24", "L96") if options.large else ("L24",):
        for path in sorted(train_step(size).glob("*after_optimizations*.txt")):
            console.print(f"measuring {size} {path.name} ...", style="dim")
            table.add_row(*_row(size, path))
    console.print(table)


def _row(size: str, path: Path) -> list[str]:
    client = Client(path)
    lines = client.text.split("\n")
    line, column = middle(lines)
    started = time.perf_counter()
    client.open()
    client.ask("textDocument/hover", line, column)
    opened = time.perf_counter() - started
    client.settle()
    typed = typing_times(client, line, column)

    def ask(method: str, **parameters: Any) -> list[float]:
        return times(_REQUESTS_PER_METHOD, lambda _: client.ask(method, line, column, **parameters))

    measured = [
        ask("textDocument/hover"),
        ask("textDocument/definition"),
        ask("textDocument/references", context={"includeDeclaration": True}),
    ]
    count = len(lines)
    measured.append(
        times(_REQUESTS_PER_METHOD, lambda n: _tokens(client, n * count // _REQUESTS_PER_METHOD))
    )
    memory = client.memory
    client.close()
    name = (
        f"{size} {path.name.partition('after_optimizations')[2].removesuffix('.txt') or 'module'}"
    )
    return [
        name,
        f"{len(client.text) / 1e6:.1f}",
        f"{opened:.2f} s",
        milliseconds(typed, 0.5),
        milliseconds(typed, 0.95),
        *(milliseconds(answers, 0.95) for answers in measured),
        megabytes(memory),
    ]


def _tokens(client: Client, first: int) -> None:
    """Request the tokens of one screen."""
    span = {
        "start": {"line": first, "character": 0},
        "end": {"line": first + _SCREEN_LINES, "character": 0},
    }
    client.request(
        "textDocument/semanticTokens/range", {"textDocument": {"uri": client.uri}, "range": span}
    )


if __name__ == "__main__":
    main()
