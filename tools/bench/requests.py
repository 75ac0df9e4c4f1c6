#!/usr/bin/env python3
"""Print the time of each kind of request on one large text, once it is indexed.

python tools/bench/requests.py             the 22 MB module of the 96-layer train step
python tools/bench/requests.py DUMP.txt    another file

These are figures, not tests. Requests about a position are sent at many positions all over the
text; requests about the whole text are sent several times, and once more right after an edit.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygls.protocol import default_converter
from pytest_lsp import client_capabilities
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
# Not this folder: its `requests` hides a package.
sys.path[:1] = [str(ROOT / "tools"), str(ROOT / "tests")]

from bench.measurements import train_step  # noqa: E402
from bench.wire import Client  # noqa: E402

_POSITIONS_PER_METHOD = 60
_REPETITIONS = 5
_SCREEN_LINES = 100
_WORD = re.compile(r"%[\w.\-]+|\b[a-z][\w\-]{2,}")
POSITION_METHODS = (
    "hover",
    "definition",
    "declaration",
    "typeDefinition",
    "implementation",
    "references",
    "documentHighlight",
    "completion",
    "signatureHelp",
    "prepareRename",
    "rename",
    "linkedEditingRange",
    "prepareCallHierarchy",
    "selectionRange",
    "semanticTokens/range",
    "inlayHint",
    "codeAction",
    "rangeFormatting",
)  # fmt: skip
DOCUMENT_METHODS = (
    "documentSymbol",
    "foldingRange",
    "codeLens",
    "documentLink",
    "semanticTokens/full",
    "formatting",
    "diagnostic",
)


def main() -> None:
    """Measure, and print one row per kind of request."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dump", nargs="?", type=Path)
    options = parser.parse_args()
    client = Client(options.dump or _large_module(), capabilities())
    client.open()
    client.settle()
    table = Table("request", "p50", "p95", "worst", "at", "after an edit", "largest answer")
    with Console().status("measuring") as status:
        for method in (*POSITION_METHODS, *DOCUMENT_METHODS):
            status.update(method)
            table.add_row(method, *_row(client, method))
    Console(width=150).print(table)


def _large_module() -> Path:
    (path,) = train_step("L96").glob("*after_optimizations.txt")
    return path


def capabilities() -> Any:
    """Return the capabilities of Neovim 0.11, and pull diagnostics as in VS Code."""
    capabilities = default_converter().unstructure(client_capabilities("neovim@0.11.0"))
    capabilities["workspace"]["diagnostics"] = {"refreshSupport": True}
    return capabilities


def replies(client: Client, method: str) -> list[tuple[float, int, tuple[int, int]]]:
    """Send a request at random places, and return the times of the replies in ascending order.

    Each time, in seconds, has the size of the reply in bytes, and the place of the request.
    """
    chance = random.Random(method)
    count = _POSITIONS_PER_METHOD if method in POSITION_METHODS else _REPETITIONS
    places = [random_position(client, chance) for _ in range(count)]
    return sorted(_measure(client, method, *place) for place in places)


def _row(client: Client, method: str) -> Iterator[str]:
    found = replies(client, method)
    for share in (0.5, 0.95, 1.0):
        yield f"{1e3 * found[min(len(found) - 1, int(len(found) * share))][0]:.1f} ms"
    line, column = found[-1][2]
    yield f"{line + 1}:{column + 1}"
    client.replace(line, column, column, "7")
    yield f"{1e3 * _measure(client, method, line, column)[0]:.1f} ms"
    client.replace(line, column, column + 1, "")
    yield f"{max(size for _, size, _ in found):,} B"
    client.settle()


def random_position(client: Client, chance: random.Random) -> tuple[int, int]:
    """Return the line and the column of a random name or word."""
    while True:
        number = chance.randrange(len(client.lines))
        if words := list(_WORD.finditer(client.lines[number])):
            return number, chance.choice(words).start() + 1


def _measure(
    client: Client, method: str, line: int, column: int
) -> tuple[float, int, tuple[int, int]]:
    """Return the seconds until the reply, its size in bytes, and the position."""
    params = request_params(client, method, line, column)
    started = time.perf_counter()
    size = client.answer_size(f"textDocument/{method}", params)
    return time.perf_counter() - started, size, (line, column)


_METHODS_WITH_PARAMS = {
    "references", "rename", "selectionRange", "semanticTokens/range", "inlayHint", "codeAction",
    "rangeFormatting", "formatting",
}  # fmt: skip


def request_params(client: Client, method: str, line: int, column: int) -> dict[str, Any]:
    """Return the parameters of a request about a position, or about the text."""
    found: dict[str, Any] = _params(client, line, column)[
        method if method in _METHODS_WITH_PARAMS else ""
    ]
    return found


def _params(client: Client, line: int, column: int) -> dict[str, Any]:
    document = {"textDocument": {"uri": client.uri}}
    position = {"line": line, "character": column}
    screen = {
        "start": {"line": max(0, line - _SCREEN_LINES // 2), "character": 0},
        "end": {"line": min(len(client.lines) - 1, line + _SCREEN_LINES // 2), "character": 0},
    }
    options = {"options": {"tabSize": 2, "insertSpaces": True}}
    here = {**document, "position": position}
    return {
        "": here,
        "references": {**here, "context": {"includeDeclaration": True}},
        "rename": {**here, "newName": "renamed.1"},
        "selectionRange": {**document, "positions": [position]},
        "semanticTokens/range": {**document, "range": screen},
        "inlayHint": {**document, "range": screen},
        "codeAction": {
            **document,
            "range": {"start": position, "end": position},
            "context": {"diagnostics": []},
        },
        "rangeFormatting": {**document, "range": screen, **options},
        "formatting": {**document, **options},
    }


if __name__ == "__main__":
    main()
