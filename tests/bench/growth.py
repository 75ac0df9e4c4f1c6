#!/usr/bin/env python3
"""Print how the cost of requests about a whole module grows when the module doubles.

python tests/bench/growth.py

The figures are processor time of the server, which other work on the machine changes little.
A request whose cost is linear doubles from column to column.
"""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)  # not this folder: its `requests` hides a package

from bench.wire import Client  # noqa: E402

_COMPUTATIONS = (100, 200, 400, 800)
_INSTRUCTIONS = 20  # in each computation
_REPETITIONS = 3
_METHODS = (
    "documentSymbol", "foldingRange", "codeLens", "documentLink", "inlayHint", "formatting",
)  # fmt: skip
_SHAPE = "f32[128,256]{1,0:T(8,128)}"


def main() -> None:
    """Measure, and print one row per request and one column per size."""
    texts = [module_text(count) for count in _COMPUTATIONS]
    table = Table("request", *(f"{text.count(chr(10)):,} lines" for text in texts))
    with tempfile.TemporaryDirectory() as folder, Console().status("measuring"):
        columns = [_seconds(Path(folder) / f"{len(text)}.txt", text) for text in texts]
    for method, *seconds in zip(_METHODS, *columns, strict=True):
        table.add_row(method, *(f"{1e3 * each:.0f} ms" for each in seconds))
    Console(width=100).print(table)


def module_text(computations: int) -> str:
    """Return a module with this many fused computations, each called once."""
    lines = ["HloModule growth, is_scheduled=true", ""]
    for number in range(computations):
        lines.append(f"%fused.{number} (p.{number}: f32[128,256]) -> f32[128,256] {{")
        lines.append(f"  %p.{number} = {_SHAPE} parameter(0)")
        operand = f"p.{number}"
        for row in range(_INSTRUCTIONS):
            root = "ROOT " if row == _INSTRUCTIONS - 1 else ""
            name = f"negate.{number}.{row}"
            metadata = f'metadata={{op_name="jit(f)/layer_{number}/neg" stack_frame_id=1}}'
            lines.append(f"  {root}%{name} = {_SHAPE} negate(%{operand}), {metadata}")
            operand = name
        lines += ["}", ""]
    lines.append("ENTRY %main (x: f32[128,256]) -> f32[128,256] {")
    lines.append(f"  %x = {_SHAPE} parameter(0)")
    operand = "x"
    for number in range(computations):
        root = "ROOT " if number == computations - 1 else ""
        called = f"kind=kLoop, calls=%fused.{number}"
        lines.append(f"  {root}%fusion.{number} = {_SHAPE} fusion(%{operand}), {called}")
        operand = f"fusion.{number}"
    return "\n".join([*lines, "}", ""])


def _seconds(path: Path, text: str) -> list[float]:
    """Return the processor time of each request, the mean of several, once the text is read."""
    path.write_text(text, "utf-8")
    client = Client(path)
    client.open()
    client.settle()
    document = {"textDocument": {"uri": client.uri}}
    end = {"line": len(client.lines) - 1, "character": 0}
    params = {
        **document,
        "range": {"start": {"line": 0, "character": 0}, "end": end},
        "options": {"tabSize": 2, "insertSpaces": True},
    }
    found = []
    for method in _METHODS:
        before = client.seconds_used
        for _ in range(_REPETITIONS):
            client.answer_size(f"textDocument/{method}", params)
        found.append((client.seconds_used - before) / _REPETITIONS)
    client.close()
    return found


if __name__ == "__main__":
    main()
