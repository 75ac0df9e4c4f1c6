"""Virtual environments with a release of jax and its compilers."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compilers.releases import Interpreter


class InstallError(Exception):
    """A release cannot be installed, with a message for the table."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment.

    Attributes:
        options: Options for ``pip install``, such as ``--pre``.
    """

    folder: Path
    python_version: str
    options: Sequence[str] = ()

    @property
    def python(self) -> Path:
        """Return the Python of the environment."""
        return self.folder / "bin" / "python"

    def install(self, *packages: str) -> None:
        """Install packages.

        Raises:
            InstallError: The package index does not have them.
        """
        command = [str(self.python), "-m", "pip", "install", "-q", "--no-compile"]
        command += [*self.options, *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InstallError(f"{' '.join(packages)} cannot be installed")

    def version_of(self, package: str) -> str:
        """Return the version of an installed package."""
        return self._output(f"import importlib.metadata as m; print(m.version({package!r}))")

    def has_xla_parser(self) -> bool:
        """Return whether the installed jaxlib has XLA's parser of module text."""
        code = "import importlib.util as u; print(bool(u.find_spec('jaxlib._hlo')))"
        return self._output(code) == "True"

    def install_compiler(self, backend: str, libtpu: str | None) -> str:
        """Install the compiler of a backend for the installed jax, and return what it is.

        libtpu and the CUDA plugins are installed by themselves: the extras of jax also ask for
        packages that compiling does not need, or that the package index no longer has.

        Args:
            backend: ``cpu``, ``tpu``, or ``cuda``.
            libtpu: A version, or None for the one that jax requires.
        """
        jaxlib = self.version_of("jaxlib")  # some releases of jax have no jaxlib of their own
        if backend == "tpu":
            self.install(f"libtpu=={libtpu or self._required_libtpu()}")
            return f"libtpu {self.version_of('libtpu')}"
        if backend == "cuda":
            names = ("jax-cuda12-plugin", "jax-cuda12-pjrt")
            self.install("--no-deps", *(f"{name}=={jaxlib}" for name in names))
            return f"jax-cuda12-plugin {jaxlib}"
        return f"jaxlib {jaxlib}"

    def _required_libtpu(self) -> str:
        """Return the libtpu that the installed jax requires, such as ``0.0.17.*``."""
        code = "import importlib.metadata as m; print(*m.requires('jax'), sep='\\n')"
        version = required_libtpu(self._output(code))
        if version is None:
            raise InstallError("requires a nightly libtpu that the package index does not have")
        return version

    def _output(self, code: str) -> str:
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()


def required_libtpu(requirements: str) -> str | None:
    """Return the version of libtpu in the requirements of jax, None for a nightly one."""
    match = re.search(r"^libtpu\s*\(?==([\d.*]+)", requirements, re.MULTILINE)
    return None if match is None else match[1]


def environment_with_jax(
    folder: Path, release: str, interpreters: Sequence[Interpreter], options: Sequence[str]
) -> Environment:
    """Make an environment with a release of jax, for the first Python that it supports.

    Raises:
        InstallError: The release has no packages for any of the Pythons.
    """
    for interpreter in interpreters:
        command = [str(interpreter.path), "-m", "venv", "--clear", str(folder)]
        subprocess.run(command, check=True)
        environment = Environment(folder, interpreter.name, options)
        try:
            # Pallas before 0.6 imports absl.
            environment.install(f"jax=={release}", "jaxlib", "absl-py")
        except InstallError:
            continue
        return environment
    names = ", ".join(one.name for one in interpreters)
    raise InstallError(f"cannot be installed for Python {names}")
