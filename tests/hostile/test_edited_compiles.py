"""Tests for results after edits, saves, and changes on disk, compared with a fresh server."""

import random
import shutil
from pathlib import Path

import pytest

from hostile.compile_session import CompileSession

pytestmark = pytest.mark.corpus

# Small compiles of all backends, in formats from several releases.
_COMPILES = (
    "cpu/module_0033.jit_f4f", "cpu_jax_0.6.2/module_0038.jit_f4f",
    "flags_async_sugar/module_0014.jit_cst", "flags_pass_dumps/module_0014.jit_cst",
    "gpu_h100/module_7302.jit_f4f", "gpu_h100_jax_0.4.38/module_0033.jit_i4",
    "gpu_h100_multiheap/module_5976.jit_i4", "gpu_h100_jax_0.8.3/module_14573.jit_f4f",
    "tpu_v5e/module_0079.jit_f4f", "tpu_v5e_jax_0.6.2/module_0126.jit_i4",
    "tpu_v5e_jax_0.9.2/module_0132.jit_f4f", "tpu_v5e/module_0012.jit_while_fn",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(0, len(_COMPILES), 2))
def test_results_after_edits_equal_fresh_results(
    seed: int, corpus_small: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    compile_ = corpus_small / _COMPILES[seed % len(_COMPILES)]
    for path in compile_.parent.glob(f"{compile_.name}.*"):
        shutil.copy(path, tmp_path)
    session = CompileSession(tmp_path, rng)
    for path in session.some_files(3):
        session.open(path)
    for _ in range(rng.choice((3, 6, 12))):
        session.step()
    fresh = session.fresh_editor()
    try:
        results = zip(session.results(session.editor), session.results(fresh), strict=True)
        for (description, result), (_, expected) in results:
            assert result == expected, (description, session.steps)
    finally:
        session.close()
        fresh.close()
