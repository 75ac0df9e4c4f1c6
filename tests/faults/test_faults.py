"""Damage at random places of real dumps is found, and put down to its cause."""

import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from conftest import SUMMARY
from faults.campaign import campaign
from faults.catalogue import FAULTS
from faults.judge import RULES
from faults.table import Tally, describe, table, worst
from hlo_lsp.checks.framework.finding import Severity

COUNT = 11  # damages of each kind


def test_every_error_has_three_kinds_of_damage() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    kinds = {code: {fault.name for fault in FAULTS if fault.code == code} for code in codes}
    assert {code: names for code, names in kinds.items() if len(names) < 3} == {}


@pytest.mark.corpus
def test_damage_is_reported_with_place_and_code(
    corpus_small: Path, record_property: Callable[[str, object], None]
) -> None:
    workers = max(1, min(2, os.cpu_count() or 1))
    tallies = [Tally(of_kind) for of_kind in campaign(corpus_small, FAULTS, COUNT, 1, workers)]
    everything = Tally([one for tally in tallies for one in tally.outcomes])
    record_property(SUMMARY, _printed(tallies))  # for the end of the test run, whatever comes of it
    assert everything.failures == []
    assert all(tally.outcomes for tally in tallies)  # each kind of damage finds a place
    assert len(everything.outcomes) >= 2_000
    assert everything.found >= 0.99
    assert everything.right >= 0.97
    echoes = sum(one.echoes + one.doubles for one in everything.outcomes)
    assert echoes <= 0.5 * len(everything.outcomes)


def _printed(tallies: list[Tally]) -> str:
    """Return the table, and the outcomes that are not as they should be."""
    console = Console(file=StringIO(), width=140)
    console.print(table(tallies))
    for outcome in worst((one for tally in tallies for one in tally.outcomes), 10):
        console.print(describe(outcome), "", soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
