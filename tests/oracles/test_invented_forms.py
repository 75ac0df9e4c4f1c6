"""Tests that a form of a newer compiler is reported as unknown, and causes no errors."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from faults.dump import Damage, Dump
from faults.judge import failures_of_rules, findings
from oracles.invented_forms import FORMS

pytestmark = pytest.mark.corpus

# Compiles with loops, fusions, and values in several memory spaces.
_COMPILES = {
    "tpu_v5e": "module_0018.jit_scan_fn.cl_1003875606.after_optimizations",
    "cpu": "module_0016.jit_scan_g.cpu_after_optimizations",
    "gpu_h100": "module_14596.jit_rm.sm_9.0a_gpu_after_optimizations",
    "tpu_v5e_jax_0.9.2": "module_0063.jit_scan_fn.cl_878335365.after_optimizations",
}


@pytest.fixture(params=_COMPILES)
def dump(request: pytest.FixtureRequest, corpus_small: Path) -> Dump:
    name: str = request.param
    return _read(corpus_small / name / f"{_COMPILES[name]}-buffer-assignment.txt")


@lru_cache
def _read(assignment: Path) -> Dump:
    return Dump(assignment, [path.name for path in assignment.parent.iterdir()])


@pytest.mark.parametrize("kind", FORMS)
def test_invented_form_is_only_reported_as_unknown(dump: Dump, kind: str) -> None:
    applied = list(_applied(dump, kind))
    for name, damage in applied:
        with failures_of_rules() as failures:
            codes = {found.code for found in findings(dump.damaged_compile(damage))}
        assert codes == {"unknown-form"}, (name, codes)
        assert failures == []


def _applied(dump: Dump, kind: str) -> Iterator[tuple[str, Damage]]:
    """Yield the forms of a kind that change the dump."""
    for name, change in FORMS[kind].items():
        changed = {
            path: new for path, lines in dump.lines.items() if (new := change(path, lines)) != lines
        }
        if changed:
            yield name, Damage(changed, frozenset(), name)


def test_every_form_is_applied(corpus_small: Path) -> None:
    dumps = [
        _read(corpus_small / name / f"{stem}-buffer-assignment.txt")
        for name, stem in _COMPILES.items()
    ]
    applied = {(kind, name) for kind in FORMS for dump in dumps for name, _ in _applied(dump, kind)}
    listed = {(kind, name) for kind, forms in FORMS.items() for name in forms}
    assert listed == applied
