#!/usr/bin/env python3
"""Print how the cost of requests and commands grows with a module, or with a folder.

python tools/bench/growth.py [module | folder]

The figures are processor time, which other work on the machine changes little. In the table of a
module, a request whose cost is linear doubles from column to column. In that of a folder, the time
of each file stays the same.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
# Not this folder: its `requests` hides a package.
sys.path[:1] = [str(ROOT / "tools"), str(ROOT / "tests")]

from bench.wire import Client  # noqa: E402
from dumps import CORPUS, unpacked  # noqa: E402

_COMPUTATIONS = (100, 200, 400, 800)
_INSTRUCTIONS = 20  # in each computation
_REPETITIONS = 3
_METHODS = (
    "documentSymbol", "foldingRange", "codeLens", "documentLink", "inlayHint", "formatting",
)  # fmt: skip
_SHAPE = "f32[128,256]{1,0:T(8,128)}"


_FILES = (500, 1_000, 2_500, 5_000, 10_000, 20_000)
_COMPILE = "module_0165"  # the smallest of the corpus: 7 files with 5 KB
_COMMANDS = ("check", "modules", "summary", "cost", "modules --hosts")
_QUESTIONS = ("open and hover", "workspace/diagnostic", "hlo/modules", "workspace/symbol")


def main() -> None:
    """Measure, and print one row per request and one column per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("module", "folder"))
    what = parser.parse_args().what
    if what != "folder":
        _measure_modules()
    if what != "module":
        _measure_folders()


def _measure_modules() -> None:
    texts = [module_text(count) for count in _COMPUTATIONS]
    table = Table("request", *(f"{text.count(chr(10)):,} lines" for text in texts))
    with tempfile.TemporaryDirectory() as folder, Console().status("measuring"):
        columns = [_seconds(Path(folder) / f"{len(text)}.txt", text) for text in texts]
    for method, *seconds in zip(_METHODS, *columns, strict=True):
        table.add_row(method, *(f"{1e3 * each:.0f} ms" for each in seconds))
    Console(width=100).print(table)


def _measure_folders() -> None:
    table = Table("command or request", *(f"{count:,} files" for count in _FILES))
    with tempfile.TemporaryDirectory() as top, Console().status("measuring"):
        source = unpacked(CORPUS / "small.tar.xz", Path(top)) / "tpu_v5e"
        columns = [_folder_seconds(source, Path(top) / str(count), count) for count in _FILES]
    for name in columns[0]:
        cells = (
            f"{column[name]:.2f} s\n{1e3 * column[name] / count:.2f} ms each"
            for column, count in zip(columns, _FILES, strict=True)
        )
        table.add_row(name, *cells)
    Console(width=120).print(table)


def _folder_seconds(source: Path, folder: Path, count: int) -> dict[str, float]:
    """Return the processor time of commands and requests on a folder of this many files."""
    folder.mkdir()
    names = [path.name for path in sorted(source.glob(f"{_COMPILE}.*"))]
    for number in range(count):
        name = names[number % len(names)]
        copied = name.replace(_COMPILE, f"module_{number // len(names):04}")
        shutil.copyfile(source / name, folder / copied)
    found = {}
    for command in _COMMANDS:
        before = os.times()
        arguments = (sys.executable, "-m", "hlo_lsp", *command.split(), str(folder))
        subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = os.times()
        user = after.children_user - before.children_user
        found[command] = user + after.children_system - before.children_system
    client = Client(next(folder.glob("*-buffer-assignment.txt")), folder=folder)
    client.settle()
    for question in _QUESTIONS:
        used = client.seconds_used
        if question == "open and hover":
            client.open()
            client.ask("textDocument/hover", 1, 12)
        elif question == "workspace/symbol":
            client.request(question, {"query": "module_0001"})
            client.settle()  # the files are read in the background
        else:
            client.request(question, {"previousResultIds": []})
        found[question] = client.seconds_used - used
    client.close()
    return found


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
