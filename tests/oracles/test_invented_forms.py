"""Tests that a form of a newer compiler is reported as unknown, and causes no errors."""

from pathlib import Path

import pytest

from faults.dump import Damage, Dump
from faults.judge import failures_of_rules, findings
from oracles.invented_forms import FORMS, Change

pytestmark = pytest.mark.corpus

# Compiles with loops, fusions, and values in several memory spaces.
_COMPILES = {
    "tpu_v5e": "module_0018.jit_scan_fn.cl_1003875606.after_optimizations",
    "cpu": "module_0016.jit_scan_g.cpu_after_optimizations",
    "gpu_h100": "module_14596.jit_rm.sm_9.0a_gpu_after_optimizations",
    "tpu_v5e_jax_0.9.2": "module_0063.jit_scan_fn.cl_878335365.after_optimizations",
}


@pytest.fixture(scope="module")
def dumps(corpus_small: Path) -> list[Dump]:
    paths = [
        corpus_small / name / f"{stem}-buffer-assignment.txt" for name, stem in _COMPILES.items()
    ]
    return [Dump(path, [one.name for one in path.parent.iterdir()]) for path in paths]


@pytest.mark.parametrize("kind", FORMS)
def test_invented_form_is_only_reported_as_unknown(dumps: list[Dump], kind: str) -> None:
    for number, (name, change) in enumerate(FORMS[kind].items()):
        changes = [(dump, damage) for dump in dumps if (damage := _applied(dump, name, change))]
        assert changes, f"{name} changes no dump"
        dump, damage = changes[number % len(changes)]  # all compilers in turn
        with failures_of_rules() as failures:
            codes = {found.code for found in findings(dump.damaged_compile(damage))}
        assert codes == {"unknown-form"}, (name, dump.name, codes)
        assert failures == []


def _applied(dump: Dump, name: str, change: Change) -> Damage | None:
    """Return the lines that a form changes, or None."""
    changed = {
        path: new for path, lines in dump.lines.items() if (new := change(path, lines)) != lines
    }
    return Damage(changed, frozenset(), name) if changed else None
