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
_MIN_SAVED_SHARE = 0.75  # of the estimated bytes
_MIN_SAVED_SHARE_WITH_CONVERSIONS = 0.5  # the arguments of the program are converted first
_PROGRAMS_OF_KINDS = (
    *((name, AdviceKind.DONATION) for name in ("donation", "donation_of_cache")),
    *((f"donation_of_optimizer{end}", AdviceKind.DONATION) for end in ("", "_cpu")),
    *((f"donation_of_weights{end}", AdviceKind.DONATION) for end in ("", "_cpu")),
    ("dtype", AdviceKind.DTYPE),
    ("dtype_of_residuals", AdviceKind.DTYPE),
    ("padding", AdviceKind.PADDING),
    ("padding_of_images", AdviceKind.PADDING),
    ("replication", AdviceKind.REPLICATION),
    ("rematerialization", AdviceKind.REMATERIALIZATION),
    ("rematerialization_of_loop", AdviceKind.REMATERIALIZATION),
    ("offload", AdviceKind.OFFLOAD),
    ("tuple_tables", AdviceKind.TUPLE_TABLES),
)

pytestmark = pytest.mark.corpus


@lru_cache
def _has_libtpu() -> bool:
    command = [_PYTHON, "-c", "import jax, libtpu"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _summary(folder: Path, program: str, version: str) -> SpaceSummary:
    """CorpusCompile a version of a program, and return its largest memory space at the peak."""
    command = [_PYTHON, str(_PROGRAMS), str(folder), program, version]
    subprocess.run(command, check=True, capture_output=True, timeout=_COMPILE_SECONDS)
    errors: list[str] = []
    found = [summarize(dump) for dump in dumps_at([folder / program / version], errors)]
    main = max(found, key=lambda one: one.total_bytes or 0).main
    assert main is not None
    return main


def _bytes(space: SpaceSummary, kind: AdviceKind) -> int:
    """Return the bytes that the advice is about."""
    if kind is AdviceKind.TUPLE_TABLES:
        return space.allocated_bytes
    assert space.bytes is not None
    return space.bytes


@pytest.mark.parametrize(
    ("program", "kind"), _PROGRAMS_OF_KINDS, ids=[name for name, _ in _PROGRAMS_OF_KINDS]
)
def test_advice_saves_the_estimate(program: str, kind: AdviceKind, tmp_path: Path) -> None:
    if not _has_libtpu():
        pytest.skip("compiling for TPUs needs jax and libtpu; see the module docstring")
    before = _summary(tmp_path, program, "before")
    after = _summary(tmp_path, program, "after")
    (advice,) = (one for one in before.advice if one.kind is kind)
    is_allocated = kind is AdviceKind.TUPLE_TABLES
    estimated = advice.saves_allocated_bytes if is_allocated else advice.saves_bytes
    saved = _bytes(before, kind) - _bytes(after, kind)
    print(f"{program}: {saved:,} of {estimated:,} saved")
    is_converted = program == "dtype_of_residuals"
    least = _MIN_SAVED_SHARE_WITH_CONVERSIONS if is_converted else _MIN_SAVED_SHARE
    # Tuple tables and scalars change by a few bytes.
    assert least * estimated <= saved <= 1.01 * estimated
