#!/usr/bin/env python3
"""Take the pictures of the documentation: programs on an emulated terminal, as SVG.

    python tests/editors/pictures.py     # in the environment of tests/run.py

A test fails if a picture differs from the output of the programs. Then run this, and look at them.
"""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1]))

from dumps import CORPUS, CORPUS_PROGRAMS, unpacked  # noqa: E402  # found by the line above
from editors.neovim import CLIENT, Neovim, find_neovim  # noqa: E402
from editors.script import PROGRAMS  # noqa: E402
from editors.svg import picture  # noqa: E402
from editors.terminal import Terminal, running  # noqa: E402

PICTURES = ROOT / "nvim-client" / "doc"
_STEM = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
_VALUE = 243  # padded, in VMEM, live at the peak, and it shares its bytes
_WRONG = "<231 "  # a value above it


def neovim(dumps: Path, scratch: Path) -> str:
    """Return a picture of Neovim with a damaged buffer assignment and the hover of a value."""
    dump = _copied(dumps, scratch / "dump", _STEM)
    path = dump / f"{_STEM}-buffer-assignment.txt"
    text = path.read_text("utf-8")
    path.write_text(re.sub(rf"({_WRONG}.*size=\d+)\d,", r"\g<1>9,", text), "utf-8")
    with (
        _client_with_short_path() as client,
        Neovim(find_neovim(), scratch).on_terminal(
            path, columns=132, rows=34, client=client
        ) as screen,
    ):
        screen.row_of("K hover")  # the server is there
        screen.type(f"/<{_VALUE} \r6kzt6jw:noh\r:\x1b")
        screen.row_of(" steps ")
        screen.row_of("padded from ")
        # A lens that comes later would move the line below the hover.
        screen.wait("lenses", lambda: _is_at_rest(screen))
        screen.type("K")
        screen.row_of("╰")
        screen.wait("a sign", lambda: any(row.startswith("E ") for row in screen.rows))
        screen.wait("rest", lambda: _is_at_rest(screen))
        return picture(screen, 132, "nvim jit_mlp_train-buffer-assignment.txt")


def terminal(dumps: Path, scratch: Path) -> str:
    """Return a picture of `inspect` on a value, and of `check` on a dump with one wrong digit."""
    dump = _copied(dumps, scratch / "dump", "step")  # the real names are so long that they wrap
    name = "step-buffer-assignment.txt"
    typed = f"hlo-lsp inspect {name} --value {_VALUE}"
    script = f"""
        echo '$ {typed}'; {typed}
        sed -i 's/^ value: <{_VALUE} .*size=3/&3/' {name}
        echo; echo '$ hlo-lsp check .'; hlo-lsp check .
        printf '$ '; read -r
    """
    path = os.pathsep.join((str(PROGRAMS), os.environ["PATH"]))
    variables = {**os.environ, "PATH": path}
    with running(["bash", "-c", script], dump, variables, columns=118, rows=40) as screen:
        screen.wait("the end", lambda: any(re.fullmatch(r"\$", row) for row in screen.rows))
        return picture(screen, 118, "hlo-lsp")


ALL: dict[str, Callable[[Path, Path], str]] = {"neovim.svg": neovim, "terminal.svg": terminal}
"""The function that takes each picture, from the unpacked dumps and an empty folder."""


def main() -> None:
    """Take all pictures."""
    for name, take in ALL.items():
        with tempfile.TemporaryDirectory() as scratch:
            dumps = unpacked(CORPUS / "small.tar.xz", Path(scratch))
            work = Path(scratch) / "work"
            work.mkdir()
            (PICTURES / name).write_text(take(dumps, work), "utf-8")


@contextmanager
def _client_with_short_path() -> Iterator[Path]:
    """Yield a copy of the client whose path has the same length on all machines.

    Neovim wraps a row of a hover by the length of its Markdown, with the hidden target of a link.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        programs = Path(folder, "tools", "corpus")
        programs.mkdir(parents=True)
        shutil.copy(CORPUS_PROGRAMS / "programs.py", programs)
        yield Path(shutil.copytree(CLIENT, Path(folder, CLIENT.name)))


def _is_at_rest(screen: Terminal) -> bool:
    before = (screen.rows, [screen.cells(row) for row in range(len(screen.rows))])
    time.sleep(1)
    screen.settle()
    return before == (screen.rows, [screen.cells(row) for row in range(len(screen.rows))])


def _copied(dumps: Path, folder: Path, stem: str) -> Path:
    folder.mkdir()
    for file in (dumps / "tpu_v5e").glob(f"{_STEM}*"):
        shutil.copy(file, folder / file.name.replace(_STEM, stem))
    return folder


if __name__ == "__main__":
    main()
