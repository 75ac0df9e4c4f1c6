"""The releases that the package index has, and the Pythons that they run on."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from compilers.records import version_numbers

_FIRST_RELEASE = (0, 4, 30)
_NEWEST_MINOR = 20  # of Python 3, in the search
_FIRST_PYTHONS = (  # of releases of jax, newest first
    ((0, 11), (3, 12)),
    ((0, 7), (3, 11)),
    ((0, 4), (3, 10)),
)


@dataclass(frozen=True)
class Interpreter:
    """A Python of this machine."""

    path: Path
    version: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return the version as text, such as ``3.13``."""
        return ".".join(map(str, self.version))


def listed_versions(listing: str) -> list[str]:
    """Return the versions in the output of ``pip index versions``, newest first.

    Raises:
        ValueError: The output has no list of versions.
    """
    match = re.search(r"^Available versions: (.*)$", listing, re.MULTILINE)
    if match is None:
        raise ValueError(f"cannot read the releases from: {listing}")
    return match[1].split(", ")


def is_watched(release: str) -> bool:
    """Return whether a release of jax is not older than the first one in the tables."""
    return version_numbers(release) >= _FIRST_RELEASE


def released_versions(package: str, options: Sequence[str] = ()) -> list[str]:
    """Return the releases of a package, newest first, also those that need another Python.

    Args:
        package: The name of a package, such as ``jax``.
        options: Further options of pip, such as ``--pre``.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    command += ["--ignore-requires-python", *options]
    return listed_versions(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


def first_python(release: str) -> tuple[int, ...]:
    """Return the oldest Python that a release of jax supports."""
    numbers = version_numbers(release)
    return next((python for first, python in _FIRST_PYTHONS if numbers >= first), (3, 10))


def suitable_pythons(
    release: str, interpreters: Sequence[Interpreter], wanted: str | None = None
) -> list[Interpreter]:
    """Return the Pythons to try for a release, oldest first: early releases lack newer ones.

    Args:
        release: A version of jax.
        interpreters: All Pythons of this machine.
        wanted: The only version to use, such as ``3.13``.
    """
    if wanted is not None:
        return [one for one in interpreters if one.name == wanted]
    oldest = first_python(release)
    return sorted(
        (one for one in interpreters if one.version >= oldest), key=lambda one: one.version
    )


@lru_cache
def installed_pythons() -> Sequence[Interpreter]:
    """Return the first Python of each version on the path, among those of pyenv, and this one."""
    found: dict[tuple[int, ...], Interpreter] = {}
    for path in (Path(sys.executable), *_named_pythons()):
        version = _version_of(path)
        if version is not None and version not in found:
            found[version] = Interpreter(path, version)
    return list(found.values())


def _named_pythons() -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(10, _NEWEST_MINOR):
        on_path = shutil.which(f"python3.{minor}")
        if on_path is not None:
            yield Path(on_path)
        yield from sorted(pyenv.glob(f"3.{minor}.*/bin/python"))


def _version_of(path: Path) -> tuple[int, ...] | None:
    """Return the version of an interpreter, None if it does not start (as a shim of pyenv)."""
    code = "import sys, venv; print(*sys.version_info[:2])"
    try:
        started = subprocess.run(
            [path, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return version_numbers(started.stdout) if started.returncode == 0 else None
