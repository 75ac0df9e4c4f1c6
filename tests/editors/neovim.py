"""Neovim, headless or on a terminal, driven by Lua scripts."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from editors.absent import absent
from editors.script import PATH, PROGRAMS, SECONDS, value_in, value_of
from editors.terminal import Terminal, running

CLIENT = Path(__file__).resolve().parents[2] / "nvim-client"
DRIVER = Path(__file__).with_name("driver.lua")


def find_neovim() -> str:
    """Return a Neovim of the environment or the machine that supports the whole client."""
    new = [program for program, version in _neovims() if version >= (0, 11)]
    return new[0] if new else absent("Neovim 0.11 or newer", "pip install --group editors")


def find_old_neovim() -> str:
    """Return a Neovim without `vim.lsp.enable`; that of Debian 12 is the oldest."""
    old = [program for program, version in _neovims() if (0, 7) <= version < (0, 11)]
    return old[0] if old else absent("Neovim from 0.7 to 0.10", "apt-get install neovim")


def _neovims() -> Iterator[tuple[str, tuple[int, ...]]]:
    for folder in (str(PROGRAMS), *os.environ["PATH"].split(os.pathsep), "/usr/bin"):
        found = shutil.which("nvim", path=folder)
        if found is not None:
            printed = subprocess.check_output(
                [found, "--version"], stdin=subprocess.DEVNULL, text=True
            )
            version = re.match(r"NVIM v(\d+)\.(\d+)", printed)
            if version is not None:
                yield found, tuple(map(int, version.groups()))


class Neovim:
    """A Neovim with or without the client of this project.

    It is restarted for each script, unless it is shared: then all scripts run in one process, whose
    buffers, windows, and lists are closed after each one.
    """

    def __init__(self, program: str, home: Path, *, is_shared: bool = False) -> None:
        self._program = program
        self.home = home
        self._is_shared = is_shared
        self._process: subprocess.Popen[str] | None = None

    def run(self, script: str, *, with_client: bool = True, **variables: object) -> Any:
        """Return the value of a Lua script, which gets the helpers of driver.lua as `...`.

        `variables` are variables of the script: strings, numbers, lists, or None.
        """
        lua = self.home / "script.lua"
        given = [f"local {name} = {_lua(value)}" for name, value in variables.items()]
        lua.write_text("\n".join(("local nvim = ...", *given, script)), "utf-8")
        if self._is_shared:
            return self._run_in_process(lua)
        client = ["--cmd", f"set runtimepath^={CLIENT}"] if with_client else []
        command = [self._program, "--headless", "--clean", "-n", *client, "-S", str(DRIVER)]
        return value_of(lua, command, self._environment(), self._log)

    def end(self) -> None:
        """End the shared process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _run_in_process(self, lua: Path) -> Any:
        result = lua.with_name("result.json")
        result.unlink(missing_ok=True)
        if self._process is None:
            client = ("--cmd", f"set runtimepath^={CLIENT}")
            self._process = subprocess.Popen(
                [self._program, "--headless", "--clean", "-n", *client, "-S", str(DRIVER)],
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        print(lua, file=self._process.stdin, flush=True)
        end = time.monotonic() + SECONDS
        try:
            while not result.is_file():
                assert self._process.poll() is None, "Neovim ended"
                assert time.monotonic() < end, "Neovim did not finish the script"
                time.sleep(0.01)
            return value_in(result, self._log)
        except BaseException:
            self.end()
            raise

    def on_terminal(
        self, path: Path, *, columns: int = 160, rows: int = 40, client: Path = CLIENT
    ) -> AbstractContextManager[Terminal]:
        """Open a file on a terminal as `try.py` does."""
        init = str(client / "try" / "init.lua")
        command = [self._program, "--clean", "-n", "-u", init, path.name]
        return running(command, path.parent, self._environment(), columns=columns, rows=rows)

    def _environment(self) -> dict[str, str]:
        kinds = {
            f"XDG_{kind}_HOME": str(self.home) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("VIM")},
            **kinds,
            "XDG_CONFIG_DIRS": str(self.home),
            "XDG_DATA_DIRS": str(self.home),
            "PATH": PATH,
        }

    def _log(self) -> str:
        """Return the standard error of the server from Neovim's log."""
        log = self.home / "nvim" / "lsp.log"
        return log.read_text("utf-8") if log.is_file() else ""


def _lua(value: object) -> str:
    if value is None:
        return "nil"
    return f"vim.json.decode([==[{json.dumps(value, default=str)}]==])"
