"""Large dumps, timing of calls, and positions in a dump."""

import time
from collections.abc import Callable
from pathlib import Path

from bench.wire import Client
from dumps import CORPUS, unpacked

_TYPED_CHARACTERS = 400
_PAUSE_SECONDS = 0.01  # About the fastest rate at which an editor sends keys.


def train_step(size: str) -> Path:
    """Return the dump of a train step (`L24`, `L96`), unpacked in the cache of the tests."""
    cache = Path(__file__).resolve().parents[2] / ".pytest_cache" / "d" / "corpus"
    cache.mkdir(parents=True, exist_ok=True)
    return unpacked(CORPUS / f"tpu_v5e_train_{size}.tar.xz", cache)


def times(count: int, work: Callable[[int], None], pause: float = 0.0) -> list[float]:
    """Return the sorted times of the calls in seconds, without the pause at the end of each."""
    found = []
    for number in range(count):
        started = time.perf_counter()
        work(number)
        found.append(time.perf_counter() - started - pause)
    return sorted(found)


def typing_times(client: Client, line: int, column: int) -> list[float]:
    """Return the sorted times from a typed character to the next hover, in seconds."""

    def key(number: int) -> None:
        if number % 2:
            client.replace(line, column, column + 1, "")
        else:
            client.replace(line, column, column, "7")
        client.ask("textDocument/hover", line, column)
        time.sleep(_PAUSE_SECONDS)

    return times(_TYPED_CHARACTERS, key, pause=_PAUSE_SECONDS)


def milliseconds(sorted_times: list[float], share: float) -> str:
    """Return a quantile of sorted times in milliseconds."""
    return (
        f"{1e3 * sorted_times[min(len(sorted_times) - 1, int(len(sorted_times) * share))]:.2f} ms"
    )


def megabytes(count: int) -> str:
    """Return a number of bytes in megabytes."""
    return f"{count / 1e6:.0f} MB"


def middle(lines: list[str]) -> tuple[int, int]:
    """Return the line of a value, live range, or instruction in the middle, and a name column."""
    for number in range(len(lines) // 2, len(lines)):
        text = lines[number]
        for opening, column in ((" value: <", 14), ("<", 8), ("  %", 5), ("    ", 6)):
            if text.startswith(opening) and len(text) > column:
                return number, column
    return len(lines) // 2, 0
