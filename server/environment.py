"""A private virtual environment of this checkout, created once and reused while it is current.

`nvim-client/try.py` and `tests/run.py` use it. It needs only the standard library, because it runs
before anything is installed.
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

# Type checkers that target 3.10 would report a test of `sys.version_info` as unreachable.
if sys.hexversion < 0x030A0000:
    sys.exit(f"hlo-lsp requires Python 3.10 or newer; this is {sys.version.split()[0]}.")

ROOT = Path(__file__).resolve().parent.parent
_PIP_WITH_GROUPS = "pip>=25.1"  # the first version with `--group`
_NO_VENV = """\
This Python ({python}) cannot create virtual environments: `ensurepip` is missing.
On Debian and Ubuntu, run `apt install python3-venv`."""
_NO_INSTALL = """\
pip could not install {what}; see its message above.
The first run needs access to a package index; later runs do not."""


class SetupError(Exception):
    """Raised when the environment cannot be created; the message says how to fix it."""


class Environment:
    """A virtual environment with this project installed in editable mode."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / ("Scripts" if os.name == "nt" else "bin")
        self._stamp = folder / "made-for.json"

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.program("python")

    def program(self, name: str) -> Path:
        """Return the path of a program, which may not be installed."""
        return self.programs / (f"{name}.exe" if os.name == "nt" else name)

    def variables(self) -> dict[str, str]:
        """Return the variables of this process as the activated environment has them."""
        path = os.pathsep.join((str(self.programs), os.environ.get("PATH", os.defpath)))
        variables = {**os.environ, "VIRTUAL_ENV": str(self.folder), "PATH": path}
        # Container images set it; each start of the server would compile all modules again.
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        return variables

    def is_current(self, groups: Sequence[str]) -> bool:
        """Check that the environment is current and has at least these dependency groups."""
        try:
            stamp = json.loads(self._stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return False
        present = stamp.pop("groups", [])
        return stamp == _description() and set(groups) <= set(present)

    def create(self, groups: Sequence[str]) -> None:
        """Create the environment with dependency groups of pyproject.toml.

        Raises:
            SetupError: creating or installing failed.
        """
        if importlib.util.find_spec("ensurepip") is None:
            raise SetupError(_NO_VENV.format(python=sys.executable))
        venv = [sys.executable, "-m", "venv", "--clear", str(self.folder)]
        if _run(venv) != 0:
            raise SetupError(f"`{' '.join(venv)}` failed; see its message above.")
        if groups:
            self._install("a newer pip", "--upgrade", _PIP_WITH_GROUPS)
        named = [argument for group in groups for argument in ("--group", group)]
        self._install("hlo-lsp and what it needs", *named, "--editable", ".")
        # Written last, so that an incomplete environment is created again.
        self._stamp.write_text(
            json.dumps({**_description(), "groups": list(groups)}, indent=1), "utf-8"
        )

    def _install(self, what: str, *arguments: str) -> None:
        quietly = ("--quiet", "--no-input", "--disable-pip-version-check")
        if _run([str(self.python), "-m", "pip", "install", *quietly, *arguments]) != 0:
            raise SetupError(_NO_INSTALL.format(what=what))


def provide(folder: Path, groups: Sequence[str] = ()) -> Environment:
    """Return the environment in `folder`; create it if it is missing or not current.

    Args:
        folder: the folder of the environment.
        groups: names of [dependency-groups] in pyproject.toml.

    Raises:
        SetupError: the environment cannot be created.
    """
    environment = Environment(folder)
    if not environment.is_current(groups):
        print(f"Creating {folder} (once, about a minute) ...", flush=True)
        environment.create(groups)
    return environment


def _description() -> dict[str, str]:
    """Return the inputs of an environment; it is created again when one changes."""
    return {
        "checkout": str(ROOT),
        "python": sys.version,
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
    }


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
