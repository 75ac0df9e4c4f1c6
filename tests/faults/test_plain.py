"""Tests for the reports of one minimal defect of each code, without other findings."""

import os
from pathlib import Path

import pytest

from faults.dump import Damage, Dump
from faults.fault import Fault
from faults.judge import RULES, Verdict, findings, judge
from faults.plain import DEFECTS, SAMPLE, Defect
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.framework.rule import WholeRule


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


def damage_of(defect: Defect, dump: Dump) -> Damage:
    """Return the damage that a defect does to a compile."""
    (path,) = [
        path
        for path in dump.lines
        if path.stem in {SAMPLE, path.name.partition("after_optimizations")[0][:-1]}
        or path.stem.endswith(f"after_optimizations{defect.file}")
    ]
    text = "\n".join(dump.lines[path])
    assert text.count(defect.old) == 1
    line = text[: text.index(defect.old)].count("\n") + defect.line_offset
    new = tuple(text.replace(defect.old, defect.new).split("\n"))
    return Damage({path: new}, frozenset({(path, line)}), f"`{defect.old}` -> `{defect.new}`")


def test_intact_dumps_have_no_findings(small: Dump, sample: Dump) -> None:
    assert findings(small.intact_compile()) == []
    assert findings(sample.intact_compile()) == []


# A repeated id also contradicts the flags of an allocation, and that finding names no entry.
_FINDINGS_ELSEWHERE = {"duplicate-value-id": 1}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.code)
def test_minimal_defect_has_no_other_findings(defect: Defect, small: Dump, sample: Dump) -> None:
    dump = sample if defect.file == SAMPLE else small
    damage = damage_of(defect, dump)
    outcome = judge(Fault(defect.code, "minimal defect", lambda random, dump: damage), dump, damage)
    assert outcome.failures == ()
    assert outcome.verdict is Verdict.EXACT, outcome.findings
    assert (outcome.findings_elsewhere, outcome.findings_of_other_codes) == (
        _FINDINGS_ELSEWHERE.get(defect.code, 0),
        0,
    ), outcome.findings


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.code)
def test_rules_on_other_files_change_nothing(
    defect: Defect, small: Dump, sample: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = sample if defect.file == SAMPLE else small
    damage = damage_of(defect, dump)
    found = _texts(findings(dump.damaged_compile(damage)))
    monkeypatch.setattr(WholeRule, "may_find_in", lambda *_: True)
    assert _texts(findings(dump.damaged_compile(damage))) == found


def _texts(found: list[Finding]) -> list[tuple[str, str, int]]:
    return [(one.message, one.place.file.label, one.place.line) for one in found]


def test_file_of_another_compile_is_reported(small: Dump, corpus_small: Path) -> None:
    folder = corpus_small / "tpu_v5e"
    (path,) = folder.glob("module_0047.jit_condp.*-buffer-assignment.txt")
    other = Dump(path, os.listdir(folder))
    (here,) = [path for path in small.lines if path.stem.endswith("-values")]
    (there,) = [path for path in other.lines if path.stem.endswith("-values")]
    damage = Damage({here: other.lines[there]}, frozenset({(here, 1)}), "values of another compile")
    fault = Fault("sibling-mismatch", "values", lambda random, dump: damage)
    assert judge(fault, small, damage).verdict is Verdict.EXACT


def test_every_error_has_a_minimal_defect() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    assert codes == {defect.code for defect in DEFECTS} | {"sibling-mismatch"}
