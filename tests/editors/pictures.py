#!/usr/bin/env python3
"""Takes the pictures of the README: real programs on a real (emulated) terminal, as SVG.

    python tests/editors/pictures.py     # in the environment of tests/run.py

Run it again whenever what they show changes.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1]))

from dumps import CORPUS, unpacked  # noqa: E402  # found by the line above

PICTURES = ROOT / "nvim-client" / "doc"
COMPILE = "tpu_v5e/module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
VALUE = 243  # padded, in VMEM, live at the peak, and it shares its bytes
# rich's own frame would load a font from the network: a picture must stand alone.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal of a size, in which a program runs and is typed to."""

    columns: int
    rows: int

    def show(self, command: Sequence[str], keys: Sequence[tuple[float, str]], folder: Path) -> Text:
        """Run a program, type keys after pauses (seconds), and return what is on the screen."""
        screen = pyte.Screen(self.columns, self.rows)
        stream = pyte.ByteStream(screen)
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8")
            os.environ.update(COLUMNS=str(self.columns), LINES=str(self.rows))
            os.execvp(command[0], list(command))
        _resize(terminal, self.rows, self.columns)
        for pause, text in [*keys, (2.0, "")]:
            _follow(stream, terminal, pause)
            if text:
                os.write(terminal, text.encode())
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
        return _text(screen)


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as scratch:
        dump = _dump(Path(scratch))
        assignment = dump / (COMPILE.split("/")[1] + "-buffer-assignment.txt")
        programs = Path(sys.executable).parent
        os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = f"{scratch}/{kind.lower()}"
        nvim = shutil.which("nvim") or str(programs / "nvim")
        init = ROOT / "nvim-client" / "try" / "init.lua"
        keys = [(4.0, f"/<{VALUE} \r"), (0.5, "6kztjjjjjj"), (2.0, "w"), (0.5, "K")]
        command = [nvim, "--clean", "-u", str(init), assignment.name]
        editor = Terminal(132, 34).show(command, keys, dump)
        _save(editor, 132, PICTURES / "neovim.svg", "nvim jit_mlp_train-buffer-assignment.txt")
        _save(_session(dump), 118, PICTURES / "terminal.svg", "hlo-lsp")


def _session(dump: Path) -> Text:
    """What `inspect` says of a value, and `check` of a dump with one wrong digit."""
    name = "step-buffer-assignment.txt"  # the real ones are so long that they wrap
    for file in dump.glob("*after_optimizations*"):
        file.rename(dump / file.name.replace(Path(COMPILE).name, "step"))
    typed = f"hlo-lsp inspect {name} --value {VALUE}"
    script = f"""
        echo '$ {typed}'; {typed}
        sed -i 's/^ value: <{VALUE} .*size=3/&3/' {name}
        echo; echo '$ hlo-lsp check .'; hlo-lsp check .; sleep 9
    """
    return Terminal(118, 40).show(["bash", "-c", script], [(3.0, "")], dump)


def _dump(scratch: Path) -> Path:
    folder = unpacked(CORPUS / "small.tar.xz", scratch)
    target = scratch / "dump"
    target.mkdir()
    for file in folder.glob(f"{COMPILE}*"):
        shutil.copy(file, target)
    return target


def _follow(stream: pyte.ByteStream, terminal: int, seconds: float) -> None:
    """Draw what the program prints until it has been given its time."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                stream.feed(os.read(terminal, 65536))
            except OSError:
                return


def _resize(terminal: int, rows: int, columns: int) -> None:
    size = ["stty", "rows", str(rows), "cols", str(columns)]
    subprocess.run(size, stdin=terminal, check=True)


def _text(screen: pyte.Screen) -> Text:
    """The screen with its colours."""
    text = Text(no_wrap=True)
    rows = [row for row in range(screen.lines) if screen.display[row].strip()]
    for row in range(max(rows, default=0) + 1):
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            style = Style(
                color=_color(cell.fg), bgcolor=_color(cell.bg), bold=cell.bold,
                italic=cell.italics, underline=cell.underscore, reverse=cell.reverse,
            )  # fmt: skip
            text.append(cell.data, style)
        text.append("\n")
    return text


def _color(name: str) -> str | None:
    if name == "default":
        return None
    if len(name) == 6 and all(digit in "0123456789abcdef" for digit in name):
        return f"#{name}"
    return name.replace("bright", "bright_").replace("brown", "yellow")


def _save(text: Text, columns: int, path: Path, title: str) -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(width=columns, record=True, file=nowhere, force_terminal=True)
        console.print(text)
        path.write_text(console.export_svg(title=title, code_format=FRAME), "utf-8")


if __name__ == "__main__":
    main()
