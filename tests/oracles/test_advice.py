"""Tests for the savings of the advice in summaries, with programs before and after the change.

The test needs a Python with jax and libtpu, by default this one, otherwise that of the environment
variable ``HLO_LSP_JAX_PYTHON``. It does not need a TPU.
"""

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.memory.advice import AdviceKind
from hlo_lsp.reports.summary import SpaceSummary, summarize

_PYTHON = os.environ.get("HLO_LSP_JAX_PYTHON", sys.executable)
_PROGRAMS = Path(__file__).resolve().parent.parent / "corpus" / "advised_programs.py"
_COMPILE_SECONDS = 300
_MIN_SAVED_SHARE = 0.25  # of the estimated bytes

pytestmark = pytest.mark.corpus


@lru_cache
def _has_libtpu() -> bool:
    command = [_PYTHON, "-c", "import jax, libtpu"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _summary(folder: Path, kind: str, version: str) -> SpaceSummary:
    """Compile a version of a program, and return its HBM at the peak."""
    command = [_PYTHON, str(_PROGRAMS), str(folder), kind, version]
    subprocess.run(command, check=True, capture_output=True, timeout=_COMPILE_SECONDS)
    errors: list[str] = []
    found = [summarize(dump) for dump in dumps_at([folder / kind / version], errors)]
    main = max(found, key=lambda one: one.total_bytes or 0).main
    assert main is not None
    return main


def _bytes(space: SpaceSummary, kind: AdviceKind) -> int:
    """Return the bytes that the advice is about."""
    if kind is AdviceKind.TUPLE_TABLES:
        return space.allocated_bytes
    assert space.bytes is not None
    return space.bytes


@pytest.mark.parametrize("kind", list(AdviceKind), ids=lambda kind: kind.value)
def test_advice_saves_at_most_the_estimate(kind: AdviceKind, tmp_path: Path) -> None:
    if not _has_libtpu():
        pytest.skip("compiling for TPUs needs jax and libtpu; see the module docstring")
    name = kind.value.replace(" ", "_")
    before = _summary(tmp_path, name, "before")
    after = _summary(tmp_path, name, "after")
    (advice,) = (one for one in before.advice if one.kind is kind)
    is_allocated = kind is AdviceKind.TUPLE_TABLES
    estimated = advice.saves_allocated_bytes if is_allocated else advice.saves_bytes
    saved = _bytes(before, kind) - _bytes(after, kind)
    print(
        f"{name}: {_bytes(before, kind):,} -> {_bytes(after, kind):,}, {saved:,} of {estimated:,}"
    )
    assert _MIN_SAVED_SHARE * estimated < saved <= estimated
