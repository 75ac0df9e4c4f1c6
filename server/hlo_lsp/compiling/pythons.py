"""The Python whose jax compiles.

The user chooses it: by an option, by the environment, or by the path of commands. Files beside a
dump and the current folder have no influence, so relative entries of the path are left out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.python_processes import python_environment

_FIND_JAX = (
    "import sys, importlib.util as u; sys.exit(not (u.find_spec('jax') and u.find_spec('jaxlib')))"
)
_PROBE_SECONDS = 30


def find_python(chosen: str | None) -> str:
    """Return the chosen Python, else the first one with jax.

    These are the Python of ``VIRTUAL_ENV``, ``python3`` and ``python`` on the path, and that of
    this process.

    Raises:
        CompileFailedError: The chosen one cannot be run, or none has jax.
    """
    if chosen is not None:
        found = shutil.which(chosen, path=_absolute_path())
        if found is None:
            raise CompileFailedError(f"{chosen}: no such Python")
        if not _has_jax(found):
            raise CompileFailedError(without_package(found, "jax", "jax libtpu"))
        return os.path.abspath(found)
    for python in dict.fromkeys(_candidates()):
        if _has_jax(python):
            return python
    raise CompileFailedError(
        f"no Python with jax; install it with `{sys.executable} -m pip install jax libtpu`, or name"
        " a Python that has it: --python, or the setting hlo.compile.python"
    )


def without_package(python: str, package: str, wanted: str) -> str:
    """Return the message about a Python without a package, with the command that installs it."""
    return f"{python} has no {package}; install it with `{python} -m pip install {wanted}`"


def _candidates() -> Iterator[str]:
    folder = os.environ.get("VIRTUAL_ENV", "")
    if os.path.isabs(folder):
        name = "Scripts/python.exe" if os.name == "nt" else "bin/python"
        yield str(Path(folder, name))
    for name in ("python3", "python"):
        found = shutil.which(name, path=_absolute_path())
        if found is not None and os.path.isabs(found):  # Windows also looks in the current folder
            yield found
    if sys.executable:
        yield sys.executable


def _absolute_path() -> str:
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, entries))


def _has_jax(python: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="hlo-compile-") as folder:
        try:
            found = subprocess.run(
                [python, "-c", _FIND_JAX],
                cwd=folder,  # `-c` imports from it
                env=python_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return found.returncode == 0
