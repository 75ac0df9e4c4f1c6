"""The plainest damage of each code is reported in its place, without findings of other rules."""

import os
from pathlib import Path

import pytest

from faults.dump import Damage, Dump
from faults.fault import Fault
from faults.judge import RULES, Verdict, findings, judge
from faults.plain import PLAIN, SAMPLE, Plain
from hlo_lsp.checks.framework.finding import Severity


@pytest.fixture(scope="module")
def small(corpus_small: Path) -> Dump:
    """Return a TPU compile of 13 allocations, with all four memory files and its module text."""
    folder = corpus_small / "tpu_v5e"
    (path,) = folder.glob("module_0092.jit_don.*-buffer-assignment.txt")
    return Dump(path, os.listdir(folder))


@pytest.fixture(scope="module")
def sample(corpus_small: Path) -> Dump:
    """Return a TPU dump in one file, with values that have offsets."""
    folder = corpus_small / "samples"
    return Dump(folder / f"{SAMPLE}.txt", os.listdir(folder))


def damage_of(plain: Plain, dump: Dump) -> Damage:
    """Return the damage to a compile."""
    (path,) = [
        path
        for path in dump.lines
        if path.stem in {SAMPLE, path.name.partition("after_optimizations")[0][:-1]}
        or path.stem.endswith(f"after_optimizations{plain.file}")
    ]
    text = "\n".join(dump.lines[path])
    assert text.count(plain.old) == 1
    line = text[: text.index(plain.old)].count("\n") + plain.below
    new = tuple(text.replace(plain.old, plain.new).split("\n"))
    return Damage({path: new}, frozenset({(path, line)}), f"`{plain.old}` -> `{plain.new}`")


def test_intact_dumps_have_no_findings(small: Dump, sample: Dump) -> None:
    assert findings(small.whole()) == []
    assert findings(sample.whole()) == []


# A repeated id also contradicts the flags of an allocation, and that finding names no entry.
# A wrong position is missing in one entry and repeated in another.
ECHOES = {"duplicate-value-id": 1}


@pytest.mark.parametrize("plain", PLAIN, ids=lambda plain: plain.code)
def test_plain_damage_is_reported_without_echoes(plain: Plain, small: Dump, sample: Dump) -> None:
    dump = sample if plain.file == SAMPLE else small
    damage = damage_of(plain, dump)
    outcome = judge(Fault(plain.code, "plain", lambda random, dump: damage), dump, damage)
    assert outcome.failures == ()
    assert outcome.verdict is Verdict.RIGHT, outcome.findings
    assert (outcome.echoes, outcome.doubles) == (ECHOES.get(plain.code, 0), 0), outcome.findings


def test_file_of_another_compile_is_reported(small: Dump, corpus_small: Path) -> None:
    folder = corpus_small / "tpu_v5e"
    (path,) = folder.glob("module_0047.jit_condp.*-buffer-assignment.txt")
    other = Dump(path, os.listdir(folder))
    (here,) = [path for path in small.lines if path.stem.endswith("-values")]
    (there,) = [path for path in other.lines if path.stem.endswith("-values")]
    damage = Damage({here: other.lines[there]}, frozenset({(here, 1)}), "the values of another")
    fault = Fault("sibling-mismatch", "values", lambda random, dump: damage)
    assert judge(fault, small, damage).verdict is Verdict.RIGHT


def test_every_error_has_a_plain_damage() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    assert codes == {plain.code for plain in PLAIN} | {"sibling-mismatch"}
