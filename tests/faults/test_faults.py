"""Damage at random places of real dumps is found, and put down to its cause."""

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

COUNT = 12  # damages of each kind


def test_every_error_has_three_kinds_of_damage() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    kinds = {code: {fault.name for fault in FAULTS if fault.code == code} for code in codes}
    assert {code: names for code, names in kinds.items() if len(names) < 3} == {}


@pytest.mark.corpus
def test_damage_is_reported_with_place_and_code(
    corpus_small: Path, record_property: Callable[[str, object], None]
) -> None:
    workers = max(1, min(2, os.cpu_count() or 1))
    kinds = list(campaign(corpus_small, FAULTS, COUNT, 1, workers))
    outcomes = list(chain.from_iterable(kinds))
    verdicts = Counter(one.verdict for one in outcomes)
    wrong = [one for one in outcomes if one.verdict is not Verdict.RIGHT or one.failures]
    summary = [f"damages reported: {verdicts}", *map(str, wrong[:20])]
    record_property(SUMMARY, "\n".join(summary))  # for the end of the run, whatever comes of it
    assert not any(one.failures for one in outcomes)
    assert all(kinds)  # each kind of damage finds a place
    assert len(outcomes) >= 2_000
    assert verdicts[Verdict.MISSED] <= 0.01 * len(outcomes)
    assert verdicts[Verdict.RIGHT] >= 0.97 * len(outcomes)
    echoes = sum(one.echoes + one.doubles for one in outcomes)
    assert echoes <= 0.5 * len(outcomes)
