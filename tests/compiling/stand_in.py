"""A compiler that needs no jax: a program that answers requests as ``jax_compiler.py`` does."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.compiling.compiler_process import CompilerProcess
from reports.example import ASSIGNMENT, MODULE, STEM

RESULT = {
    "versions": {"jax": "0.12.0", "libtpu": "0.0.50"},
    "device": "TPU v5 lite",
    "is_original": True,
    "changed_options": {},
    "unknown_options": [],
    "memory": {"temp_size_in_bytes": 3072},
    "seconds": {"load jax": 0.5, "compile": 1.25},
}
UNOPTIMIZED = """\
HloModule jit_f, entry_computation_layout={(f32[256]{0:T(256)}, f32[256]{0})->f32[256]{0}}

ENTRY main {
  x = f32[256]{0} parameter(0), metadata={op_name="p['w']"}
  y = f32[256]{0} parameter(1), metadata={op_name="x"}
  ROOT r = f32[256]{0} add(x, y)
}
"""
TARGET = """\
tpu_topology_args {
  version: TPU_VERSION_VIPERFISH
  variant: "lite"
  platform_type: TPU_PLATFORM_TYPE_HARDWARE
  chips_per_host_bounds {
    x: 2
    y: 2
    z: 1
  }
  host_bounds {
    x: 1
    y: 2
    z: 1
  }
  wrap {
  }
}
"""


def write_dump(folder: Path, module: str = MODULE, **companions: str) -> Path:
    """Write the dump of the example for a TPU with its text before optimizations."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = STEM.removesuffix(".after_optimizations")
    texts = {
        "after_optimizations.txt": module,
        "after_optimizations-buffer-assignment.txt": ASSIGNMENT,
        "before_optimizations.txt": UNOPTIMIZED,
        "target_arguments.txt": TARGET,
        "tpu_comp_env.txt": "xla_tpu_limit: 5\nxla_tpu_name: AUTO\n",
    }
    texts |= {f"{name}.txt": text for name, text in companions.items()}
    for suffix, text in texts.items():
        (folder / f"{stem}.{suffix}").write_text(text, "utf-8")
    return folder


def python_with_jax(folder: Path) -> dict[str, str]:
    """Return environment variables with which each Python has a package ``jax``."""
    for name in ("jax", "jaxlib"):
        (folder / "packages" / name).mkdir(parents=True, exist_ok=True)
        (folder / "packages" / name / "__init__.py").touch()
    return {"PYTHONPATH": str(folder / "packages")}


def compile_with(monkeypatch: pytest.MonkeyPatch, folder: Path, stand_in: "StandIn") -> str:
    """Let a stand-in be the compiler, and return a Python that seems to have jax."""
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    for name, value in python_with_jax(folder).items():
        monkeypatch.setenv(name, value)
    return sys.executable


def stand_in_python(folder: Path, *dumps: Path) -> Path:
    """Return a program in place of a Python with jax, which runs a stand-in of the compiler."""
    script = StandIn(folder, dumps=dumps).script
    program = folder / "python-with-jax"
    command = f'exec "{sys.executable}" "{script}"'
    program.write_text(f'#!/bin/sh\n[ "$1" = -c ] || {command}\n', "utf-8")  # -c looks for jax
    program.chmod(0o755)
    return program


class StandIn:
    """A program that keeps its requests, and gives the same answers to each.

    It copies ``dumps[n]``, or the last one, into the folder of the request of number ``n``.
    """

    def __init__(
        self, folder: Path, *answers: dict[str, Any], dumps: tuple[Path, ...] = (), then: str = ""
    ) -> None:
        self.script = folder / "stand_in_script.py"
        self._log = folder / "requests"
        found = answers or ({"stage": "parse"}, {"stage": "compile"}, RESULT)
        lines = [
            "import json, os, shutil, sys, time",
            f"dumps = {[str(one) for one in dumps]!r}",
            "for number, line in enumerate(sys.stdin):",
            "    request = json.loads(line)",
            "    request['XLA_FLAGS'] = os.environ.get('XLA_FLAGS')",
            "    request['process'] = os.getpid()",
            f"    print(json.dumps(request), file=open({str(self._log)!r}, 'a'))",
            "    if dumps:",
            "        source = dumps[min(number, len(dumps) - 1)]",
            "        shutil.copytree(source, request['folder'], dirs_exist_ok=True)",
            f"    {then or 'pass'}",
            f"    for one in {found!r}:",
            "        print(json.dumps(one), flush=True)",
        ]
        self.script.write_text("\n".join(lines), "utf-8")

    def python(self) -> Path:
        """Write a shell script for a Python with jax that runs this program."""
        path = self.script.with_name("python")
        run = f'exec "{sys.executable}" "{self.script}"'
        path.write_text(f'#!/bin/sh\n[ "$1" = -c ] || {run}\n', "utf-8")
        path.chmod(0o755)
        return path

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests."""
        lines = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines]


def copy_of(folder: Path, target: Path, old: str, new: str) -> Path:
    """Copy a dump with another text in its module and buffer assignment."""
    shutil.copytree(folder, target)
    for path in target.glob("*after_optimizations*.txt"):
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    return target
