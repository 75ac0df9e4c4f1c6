"""Tests for the reports of damage that is injected at random places of real dumps."""

import os
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from conftest import SUMMARY
from faults.campaign import campaign
from faults.catalogue import FAULTS
from faults.judge import RULES, Verdict
from hlo_lsp.checks.framework.finding import Severity

_DAMAGES_PER_FAULT = 6


def test_every_error_has_three_kinds_of_damage() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    kinds = {code: {fault.name for fault in FAULTS if fault.code == code} for code in codes}
    assert {code: names for code, names in kinds.items() if len(names) < 3} == {}


@pytest.mark.corpus
def test_damage_is_reported_with_place_and_code(
    corpus_small: Path, record_property: Callable[[str, object], None]
) -> None:
    workers = max(1, min(2, os.cpu_count() or 1))
    kinds = list(campaign(corpus_small, FAULTS, _DAMAGES_PER_FAULT, 1, workers))
    outcomes = list(chain.from_iterable(kinds))
    verdicts = Counter(one.verdict for one in outcomes)
    wrong = [one for one in outcomes if one.verdict is not Verdict.EXACT or one.failures]
    summary = [f"verdicts of damages: {verdicts}", *map(str, wrong[:20])]
    record_property(
        SUMMARY, "\n".join(summary)
    )  # Shown at the end of the run, even if the test fails.
    assert not any(one.failures for one in outcomes)
    # Each kind of damage is injected, and most of its damages are reported exactly.
    exact = [[one.verdict is Verdict.EXACT for one in kind] for kind in kinds]
    assert [
        fault for fault, one in zip(FAULTS, exact, strict=True) if 2 * sum(one) <= len(one)
    ] == []
    assert len(outcomes) >= 1_000
    assert verdicts[Verdict.MISSED] <= 0.01 * len(outcomes)
    assert verdicts[Verdict.EXACT] >= 0.97 * len(outcomes)
    others = sum(one.findings_elsewhere + one.findings_of_other_codes for one in outcomes)
    assert others <= 0.5 * len(outcomes)
