"""Fixtures with small real dumps."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlo_lsp.text import disk


@pytest.fixture(autouse=True)
def no_rule_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if a rule raises an error, since the run then skips the rule."""
    yield
    failures = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.ERROR and record.name.startswith("hlo_lsp.checks")
    ]
    assert failures == []


@pytest.fixture(scope="session")
def sample(corpus_small: Path) -> str:
    """Return a TPU dump in one file: 23 values, 16 allocations, three tuples, 14 steps."""
    return disk.read_document(corpus_small / "samples" / "sample_003.txt").text


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Path:
    """Return a copy of the four memory files and the module text of a TPU compile."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for path in (corpus_small / "tpu_v5e").glob("module_0092.jit_don.*after_optimizations*.txt"):
        shutil.copy(path, folder / path.name)
    return folder


@pytest.fixture(scope="session")
def cpu(corpus_small: Path) -> str:
    """Return the assignment of a CPU compile with four-bit arrays and a tuple of two elements."""
    name = "module_0029.jit_i4.cpu_after_optimizations-buffer-assignment.txt"
    return disk.read_document(corpus_small / "cpu" / name).text


@pytest.fixture(scope="session")
def gpu(corpus_small: Path) -> str:
    """Return the assignment of the same program on a GPU."""
    name = "module_5976.jit_i4.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
    return disk.read_document(corpus_small / "gpu_h100" / name).text


@pytest.fixture(scope="session")
def module(corpus_small: Path) -> str:
    """Return the module text of `compiled`, which has source location tables."""
    name = "module_0092.jit_don.cl_1003875606.after_optimizations.txt"
    return disk.read_document(corpus_small / "tpu_v5e" / name).text
