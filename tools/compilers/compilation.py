"""Compile the programs of the corpus for a backend, into a dump folder."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compilers.environments import Environment

_HERE = Path(__file__).resolve().parent
_PROGRAMS = _HERE.parent / "corpus"
_PROCESS_SECONDS = 900
_MAX_RESTARTS = 6
_LOG_LINE = re.compile(
    r"== (?P<begun>\w+)$|!! FAIL (?P<failed>\w+) (?P<reason>.*)|## memory (?P<memory>\{.*\})$"
)
# Generated code: by far the largest part of a dump, and nothing that hlo-lsp reads.
_GENERATED_CODE = {".ll", ".o", ".ptx", ".cubin"}
_KEPT_OF_EACH = 2
# Twenty small programs with all kinds of control flow, aliasing, and memory, and a training step.
WATCHED = frozenset(
    {
        *("mlp", "whileloop", "scan", "scangrad", "cond", "nested", "dtypes", "int4out", "donate"),
        *("rng", "gatherscatter", "constants", "passthru", "fori_nested", "calls", "collectives"),
        *("pjitgrad", "offremat", "callback", "pallas", "transformer"),
    }
)


@dataclass(frozen=True)
class Backend:
    """A compiler to run: the prefix of its dump folders, its programs and their arguments."""

    title: str
    folder_prefix: str
    programs: str
    topology: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


BACKENDS: Mapping[str, Backend] = {
    "cpu": Backend("CPU", "cpu", "programs.py"),
    "tpu": Backend(
        "TPU v5e",
        "tpu_v5e",
        "programs.py",
        "v5e:2x2",
        # Without it one process at a time can load libtpu, even to compile for an absent device.
        {"ALLOW_MULTIPLE_LIBTPU_LOAD": "1"},
    ),
    "cuda": Backend(
        "CUDA (H100)",
        "gpu_h100",
        "programs_gpu.py",
        f"{_HERE / 'h100.txtpb'}:1x1x4",
        {
            "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
            # Autotuning needs a device, and early releases demand its results for some fusions.
            "EXTRA_XLA_FLAGS": "--xla_gpu_autotune_level=0",
        },
    ),
}


@dataclass
class CompilerLog:
    """What the output of the programs tells.

    Attributes:
        programs: An error message (or nothing) for each program.
        memory: The numbers of ``memory_analysis()`` by buffer assignment file.
    """

    programs: dict[str, str] = field(default_factory=dict)
    memory: dict[str, dict[str, int]] = field(default_factory=dict)

    def read(self, text: str, subfolder: str = "") -> list[str]:
        """Add the output of one process, and return the programs that it began."""
        begun = []
        for line in text.splitlines():
            match = _LOG_LINE.match(line)
            if match is None:
                continue
            if match["begun"]:
                begun.append(match["begun"])
                self.programs[match["begun"]] = ""
            elif match["failed"]:
                self.programs[match["failed"]] = match["reason"]
            else:
                found = json.loads(match["memory"])
                self.memory[subfolder + found["file"]] = found["numbers"]
        return begun


def folder_name(backend: str, version: str, libtpu: str | None) -> str:
    """Return the name of the dump folder of a release and backend."""
    name = f"{BACKENDS[backend].folder_prefix}_jax_{version}"
    return f"{name}_libtpu_{libtpu}" if backend == "tpu" and libtpu else name


def program_names(backend: str, wanted: str | None) -> list[str]:
    """Return the names of the programs to compile, in the order of their file.

    Args:
        backend: A key of ``BACKENDS``.
        wanted: Names with commas, ``all``, or None for the programs of the watch.
    """
    text = (_PROGRAMS / BACKENDS[backend].programs).read_text("utf-8")
    names: list[str] = re.findall(r"^@prog\ndef (\w+)", text, re.MULTILINE)
    if wanted == "all":
        return names
    chosen = WATCHED if wanted is None else frozenset(wanted.split(","))
    return [name for name in names if name in chosen]


def compile_programs(
    environment: Environment, backend: str, programs: Sequence[str], folder: Path
) -> CompilerLog:
    """Compile programs into a folder.

    A program that ends its process costs only itself: another process continues with the next
    program. Its modules are numbered from 0 again, so it dumps into a subfolder.
    """
    chosen = BACKENDS[backend]
    # The same path as that of the environment: both become `/home/user` in the corpus.
    script = environment.folder.parent / "models" / chosen.programs
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_PROGRAMS / chosen.programs, script)
    variables = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(_HERE / "startup"),
        **chosen.environment,
    }
    log = CompilerLog()
    for attempt in range(_MAX_RESTARTS):
        remaining = [name for name in programs if name not in log.programs]
        if not remaining:
            break
        subfolder = f"restart_{attempt}/" if attempt else ""
        dump = folder / subfolder
        dump.mkdir(parents=True)
        command = [str(environment.python), str(script), str(dump), backend, chosen.topology]
        text, ending = _run_compiler([*command, ",".join(remaining)], variables)
        begun = log.read(text, subfolder)
        if ending == "":
            break
        if not begun:
            log.programs |= dict.fromkeys(remaining, _last_line(text))
        else:
            log.programs[begun[-1]] = ending
    _drop_generated_code(folder)
    return log


def _run_compiler(command: Sequence[str], variables: Mapping[str, str]) -> tuple[str, str]:
    """Return the output of a process, and why it ended early."""
    try:
        done = subprocess.run(
            command,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PROCESS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace"), "timeout"
    ending = f"process ended with status {done.returncode}" if done.returncode else ""
    return done.stdout.decode("utf-8", "replace"), ending


def _last_line(log: str) -> str:
    return next((line for line in reversed(log.splitlines()) if line.strip()), "no output")


def _drop_generated_code(folder: Path) -> None:
    """Keep a few files with generated code, as in a real dump folder."""
    for suffix in sorted(_GENERATED_CODE):
        for path in sorted(folder.rglob(f"*{suffix}"))[_KEPT_OF_EACH:]:
            path.unlink()
