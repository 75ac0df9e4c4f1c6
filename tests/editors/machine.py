"""Debian packages that the editor tests need, installed if permitted.

Only Python's standard library: this runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

# To compile the native modules of code-server, which npm brings as sources.
BUILDING = ("g++", "make", "pkg-config", "libkrb5-dev")
# The browser with a font, and the oldest Neovim and the Emacs that are tested.
EDITORS = (
    *("chromium", "fonts-dejavu-core"),
    *("neovim", "emacs-nox", "elpa-eglot", "elpa-markdown-mode", "elpa-lsp-mode"),
)
_INSTALL = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends")
_NO_APT = "the editor tests need these packages, as Debian calls them: {packages}"
_NO_RIGHT = "the editor tests need packages of this machine: sudo apt-get install {packages}"
_FAILED = "apt-get could not install {packages}:\n{output}"


@dataclass(frozen=True)
class Lack:
    """Missing packages, and advice to the user."""

    packages: tuple[str, ...]
    advice: str


def install(packages: Sequence[str]) -> Lack | None:
    """Install missing packages, and return those that could not be installed."""
    if shutil.which("apt-get") is None:
        missing = tuple(name for name in packages if _program(name) is None)
        return Lack(missing, _NO_APT.format(packages=" ".join(missing))) if missing else None
    missing = tuple(name for name in packages if not _is_installed(name))
    if not missing:
        return None
    listed = " ".join(missing)
    right = _right()
    if right is None:
        return Lack(missing, _NO_RIGHT.format(packages=listed))
    print(f"apt-get installs {listed}", flush=True)
    # A fresh machine or container has no lists of packages, or old ones that lead nowhere.
    _run((*right, "apt-get", "update", "--quiet"))
    output = _run((*right, *_INSTALL, *missing))
    missing = tuple(name for name in missing if not _is_installed(name))
    return (
        Lack(missing, _FAILED.format(packages=" ".join(missing), output=output))
        if missing
        else None
    )


def _right() -> tuple[str, ...] | None:
    """Return the prefix of a command that installs packages, or None if not permitted."""
    if not hasattr(os, "geteuid"):
        return None
    if os.geteuid() == 0:
        return ()
    sudo = ("sudo", "-n")
    may = shutil.which("sudo") is not None and _status((*sudo, "true")) == 0
    return sudo if may else None


def _is_installed(package: str) -> bool:
    query = ("dpkg-query", "--show", "--showformat=${db:Status-Status}", package)
    return _output(query).stdout == "installed"


def _program(package: str) -> str | None:
    """Return the path of the program of a package, on a machine without a package manager."""
    names = {"neovim": "nvim", "emacs-nox": "emacs", "libkrb5-dev": "krb5-config"}
    if package.startswith(("elpa-", "fonts-")):
        return sys.executable  # unknown here; its tests will fail
    return shutil.which(names.get(package, package))


def _status(command: Sequence[str]) -> int:
    return _output(command).returncode


def _run(command: Sequence[str]) -> str:
    """Run a command without questions, and return the end of its output."""
    ended = _output(command)
    return "".join((ended.stdout + ended.stderr).splitlines(keepends=True)[-20:])


def _output(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
