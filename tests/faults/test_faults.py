"""Damage at random places of real dumps is found, and put down to its cause."""

import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from faults.campaign import campaign
from faults.catalogue import FAULTS
from faults.judge import RULES, Outcome
from faults.table import Tally, table, told, worst
from hlo_lsp.checks.finding import Severity

COUNT = 11  # damages of each kind


@pytest.fixture(scope="session")
def tallies(corpus_small: Path) -> list[Tally]:
    """The outcomes of all kinds of damage; their table is printed, with the worst below it."""
    workers = max(1, min(2, os.cpu_count() or 1))
    found = [Tally(of_kind) for of_kind in campaign(corpus_small, FAULTS, COUNT, 1, workers)]
    console = Console(file=sys.stdout, width=140)
    console.print(table(found))
    for outcome in worst((one for tally in found for one in tally.outcomes), 10):
        console.print(told(outcome), "", soft_wrap=True)
    return found


@pytest.fixture(scope="session")
def outcomes(tallies: list[Tally]) -> list[Outcome]:
    """All of them."""
    return [one for tally in tallies for one in tally.outcomes]


def test_every_error_has_three_kinds_of_damage() -> None:
    codes = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    kinds = {code: {fault.name for fault in FAULTS if fault.code == code} for code in codes}
    assert {code: names for code, names in kinds.items() if len(names) < 3} == {}


@pytest.mark.corpus
def test_damage_is_found(outcomes: list[Outcome]) -> None:
    assert len(outcomes) >= 2_000
    assert Tally(outcomes).found >= 0.99


@pytest.mark.corpus
def test_damage_is_told_in_its_place_with_its_code(outcomes: list[Outcome]) -> None:
    assert Tally(outcomes).right >= 0.95


@pytest.mark.corpus
def test_every_kind_of_damage_finds_a_place(tallies: list[Tally]) -> None:
    assert all(tally.outcomes for tally in tallies)


@pytest.mark.corpus
def test_no_rule_fails(outcomes: list[Outcome]) -> None:
    assert Tally(outcomes).failures == []
