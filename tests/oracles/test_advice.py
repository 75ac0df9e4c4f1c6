"""Tests for the savings of the advice in summaries, with programs before and after the change.

The test needs a Python with jax and libtpu, by default this one, otherwise that of the environment
variable ``HLO_LSP_JAX_PYTHON``. It does not need a TPU. With ``-s``, it prints the savings.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from dumps import CORPUS_PROGRAMS
from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.memory.advice import AdviceKind
from hlo_lsp.reports.summary import SummaryOptions, summarize

_PYTHON = os.environ.get("HLO_LSP_JAX_PYTHON", sys.executable)
_PROGRAM = CORPUS_PROGRAMS / "advised_programs.py"
_COMPILE_SECONDS = 1200
_KINDS = (
    AdviceKind.DONATION,
    AdviceKind.DTYPE,
    AdviceKind.PADDING,
    AdviceKind.REMATERIALIZATION,
)
_MIN_PROGRAMS = 10
_MIN_CLOSE_SHARE = 0.8  # of the programs, which save at least half of the bound
_MAX_OTHER_BYTES = 4 << 10  # of tuple tables and scalars, which a change adds or removes

pytestmark = pytest.mark.corpus


@dataclass(frozen=True)
class _Saving:
    """The peaks of a program before and after a change, and the advised saving."""

    program: str
    before: int
    after: int
    bound: int

    @property
    def saved(self) -> int:
        return self.before - self.after


@lru_cache
def _has_libtpu() -> bool:
    command = [_PYTHON, "-c", "import jax, libtpu"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _savings(folder: Path, kind: AdviceKind) -> list[_Saving]:
    """Compile the programs of a kind of advice before and after the change."""
    command = [_PYTHON, str(_PROGRAM), str(folder), kind.value]
    subprocess.run(command, check=True, timeout=_COMPILE_SECONDS)
    peaks: dict[str, int] = {}
    bounds: dict[str, int] = {}
    for dump in dumps_at([folder], []):
        name = dump.module_name.removeprefix("jit_")
        main = summarize(dump, SummaryOptions(with_negligible=True)).main
        if name.endswith(("_before", "_after")) and main is not None and main.bytes is not None:
            peaks[name] = main.bytes
            bounds[name] = sum(one.saves_bytes or 0 for one in main.advice if one.kind is kind)
    names = [name.removesuffix("_before") for name in peaks if name.endswith("_before")]
    return [
        _Saving(name, peaks[f"{name}_before"], peaks[f"{name}_after"], bounds[f"{name}_before"])
        for name in sorted(names)
    ]


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.value)
def test_advice_saves_what_it_says(kind: AdviceKind, tmp_path: Path) -> None:
    if not _has_libtpu():
        pytest.skip("compiling for TPUs needs jax and libtpu; see the module docstring")
    found = _savings(tmp_path, kind)
    for one in found:
        mib = [size / 2**20 for size in (one.before, one.after, one.saved, one.bound)]
        print("{:60}{:10.2f} -> {:8.2f} saved {:8.2f} of {:8.2f}".format(one.program, *mib))
    assert len(found) >= _MIN_PROGRAMS
    # A donation has an estimate.
    most = 2 if kind is AdviceKind.DONATION else 1
    assert [one for one in found if one.saved > most * one.bound + _MAX_OTHER_BYTES] == []
    close = [one for one in found if 0 < one.bound <= 2 * one.saved]
    print(f"{kind.value}: {len(found)} programs, {len(close)} within a factor of two")
    assert len(close) >= _MIN_CLOSE_SHARE * len(found)
