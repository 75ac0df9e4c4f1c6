"""A real Neovim without a screen, driven by a few lines of Lua."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from editors.terminal import Terminal, running

CLIENT = Path(__file__).resolve().parents[2] / "nvim-client"
_DRIVER = Path(__file__).with_name("driver.lua")
PROGRAMS = Path(sys.executable).parent  # of the environment: `hlo-lsp`, and `nvim` if installed
_SECONDS = 180


def find_neovim() -> str:
    """The environment's Neovim, else the machine's. A test that finds none has failed."""
    found = shutil.which("nvim", path=os.pathsep.join((str(PROGRAMS), os.environ["PATH"])))
    if found is None:
        pytest.fail("there is no nvim: `pip install --group editors`, or run tests/run.py")
    printed = subprocess.check_output([found, "--version"], stdin=subprocess.DEVNULL, text=True)
    version = re.match(r"NVIM v(\d+)\.(\d+)", printed)
    if version is None or tuple(map(int, version.groups())) < (0, 11):
        pytest.fail(f"{found} is older than 0.11: {printed.splitlines()[0]}")
    return found


class Neovim:
    """Starts a fresh Neovim for each script, with or without the client of this project."""

    def __init__(self, program: str, home: Path) -> None:
        self._program = program
        self._home = home

    def run(self, script: str, *, with_client: bool = True, **variables: object) -> Any:
        """What the Lua `script` returns. It is handed the helpers of driver.lua as `...`.

        Further `variables` are those of the script: strings, numbers, lists, or None.
        """
        lua, result = self._home / "script.lua", self._home / "result.json"
        result.unlink(missing_ok=True)
        given = [f"local {name} = {_lua(value)}" for name, value in variables.items()]
        lua.write_text("\n".join(("local nvim = ...", *given, script)), "utf-8")
        client = ["--cmd", f"set runtimepath^={CLIENT}"] if with_client else []
        ended = subprocess.run(
            [self._program, "--headless", "--clean", "-n", *client, "-S", str(_DRIVER)],
            env={
                **self._environment(),
                "HLO_TEST_SCRIPT": str(lua),
                "HLO_TEST_RESULT": str(result),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if not result.is_file():
            pytest.fail(f"Neovim ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        outcome = json.loads(result.read_text("utf-8"))
        if "failure" in outcome:
            pytest.fail(f"{outcome['failure']}\n{ended.stderr}{self._log()}")
        return outcome.get("value")

    def on_terminal(
        self, path: Path, *, columns: int = 160, rows: int = 40
    ) -> AbstractContextManager[Terminal]:
        """Opens a file as `try.py` does, with a screen."""
        init = str(CLIENT / "try" / "init.lua")
        command = [self._program, "--clean", "-n", "-u", init, path.name]
        return running(command, path.parent, self._environment(), columns=columns, rows=rows)

    def _environment(self) -> dict[str, str]:
        kinds = {
            f"XDG_{kind}_HOME": str(self._home) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("VIM")},
            **kinds,
            "XDG_CONFIG_DIRS": str(self._home),
            "XDG_DATA_DIRS": str(self._home),
            "PATH": os.pathsep.join((str(PROGRAMS), os.environ["PATH"])),
        }

    def _log(self) -> str:
        """What the server wrote on standard error, as Neovim keeps it."""
        log = self._home / "nvim" / "lsp.log"
        return log.read_text("utf-8") if log.is_file() else ""


def _lua(value: object) -> str:
    if value is None:
        return "nil"
    return f"vim.json.decode([==[{json.dumps(value, default=str)}]==])"
