"""A private virtual environment of this checkout: made once, kept while it still fits.

The two commands of the README (`nvim-client/try.py` and `tests/run.py`) stand on it. It needs
nothing but Python's standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Not `sys.version_info`: type checkers and linters, told of 3.10, would call this line dead.
if sys.hexversion < 0x030A0000:
    sys.exit(f"hlo-lsp needs Python 3.10 or newer; this one is {sys.version.split()[0]}.")

ROOT = Path(__file__).resolve().parent.parent
_PIP_WITH_GROUPS = "pip>=25.1"  # the first that knows `--group`
_NO_VENV = """\
This Python ({python}) cannot make virtual environments: its `ensurepip` is missing.
On Debian and Ubuntu `apt install python3-venv` brings it."""
_NO_INSTALL = """\
pip could not install {what}; its own message stands above.
The first run needs a package index within reach, later ones do not."""


class SetupError(Exception):
    """The environment could not be made; the text tells the user what to do."""


class Environment:
    """A virtual environment with this project in it, editable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / ("Scripts" if os.name == "nt" else "bin")
        self._stamp = folder / "made-for.json"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.program("python")

    def program(self, name: str) -> Path:
        """Where a program of that name is, whether or not it is installed."""
        return self.programs / (f"{name}.exe" if os.name == "nt" else name)

    def variables(self) -> dict[str, str]:
        """This process's variables, changed as activating the environment would change them."""
        path = os.pathsep.join((str(self.programs), os.environ.get("PATH", os.defpath)))
        return {**os.environ, "VIRTUAL_ENV": str(self.folder), "PATH": path}

    def fits(self, groups: Sequence[str]) -> bool:
        """Whether it was made for this checkout as it stands, with at least these groups."""
        try:
            made = json.loads(self._stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return False
        present = made.pop("groups", [])
        return made == _description() and set(groups) <= set(present)

    def make(self, groups: Sequence[str]) -> None:
        """Makes it anew, with the dependency groups of pyproject.toml; raises SetupError."""
        if importlib.util.find_spec("ensurepip") is None:
            raise SetupError(_NO_VENV.format(python=sys.executable))
        venv = [sys.executable, "-m", "venv", "--clear", str(self.folder)]
        if _run(venv) != 0:
            raise SetupError(f"`{' '.join(venv)}` failed; its own message stands above.")
        if groups:
            self._install("a newer pip", "--upgrade", _PIP_WITH_GROUPS)
        named = [argument for group in groups for argument in ("--group", group)]
        self._install("hlo-lsp and what it needs", *named, "--editable", ".")
        # Last of all: an environment whose making was cut short must not look finished.
        self._stamp.write_text(
            json.dumps({**_description(), "groups": list(groups)}, indent=1), "utf-8"
        )

    def _install(self, what: str, *arguments: str) -> None:
        quietly = ("--quiet", "--no-input", "--disable-pip-version-check")
        if _run([str(self.python), "-m", "pip", "install", *quietly, *arguments]) != 0:
            raise SetupError(_NO_INSTALL.format(what=what))


def provide(folder: Path, groups: Sequence[str] = ()) -> Environment:
    """The environment in `folder`, made first when it is missing or made for something else.

    `groups` are names of pyproject.toml's [dependency-groups]. Raises SetupError.
    """
    environment = Environment(folder)
    if not environment.fits(groups):
        print(f"Making {folder} (once, about a minute) ...", flush=True)
        environment.make(groups)
    return environment


def _description() -> dict[str, str]:
    """What every environment depends on; when any of it changes, it is made anew."""
    return {
        "checkout": str(ROOT),
        "python": sys.version,
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
    }


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
