"""Tests for the cost and the measured time in hovers."""

from pathlib import Path

import pytest

from cost.costs import module
from cost.test_executed import LOOP, TRIP_COUNT
from hlo_lsp.cost.chips import chips
from hlo_lsp.display.cards import Card
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.stats import (
    computation_time,
    describe_run,
    hot_labels,
    time_target_facts,
    with_times,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.stats.instruction_table import NO_INSTRUCTIONS
from hlo_lsp.stats.measured_programs import TimeSources, program_table
from stats.test_measured_programs import dump_of, table_of, times_in

_DOT = module(
    "%a = bf16[1024,1024] parameter(0)",
    '%call = bf16[1024,1024] custom-call(%a), custom_call_target="unknown"',
    "ROOT %dot = bf16[1024,1024] dot(%a, %call), lhs_contracting_dims={1},"
    " rhs_contracting_dims={0}",
)


def shown_at(text: str, word: str, sources: TimeSources | None = None) -> dict[str, str]:
    """Return the facts about the first line with a word, by label."""
    file = DumpFile.of_text(text, "dump.txt")
    dump = Compile([file])
    line = next(number for number, line in enumerate(file.lines) if word in line)
    target = cursor_target_at(file, line, file.lines[line].index(word) + 1)
    assert target is not None
    facts = program_table(dump, sources or TimeSources(chips()["v5e"]))
    return {fact.label: fact.text for fact in time_target_facts(dump, target, facts)}


def test_cost_names_the_bound() -> None:
    assert shown_at(_DOT, "%dot") == {
        "cost": "2.15 GFLOP, 6.00 MiB accessed, 341 FLOP/B: at least 10.9 µs on TPU v5e, "
        "bound by compute"
    }


def test_unknown_chip_has_no_least_time() -> None:
    text = shown_at(_DOT, "%dot", TimeSources())["cost"]
    assert text == "2.15 GFLOP, 6.00 MiB accessed, 341 FLOP/B"


def test_unknown_call_says_so() -> None:
    assert shown_at(_DOT, "%call") == {"cost": "unknown (custom call)"}


def test_parameter_costs_nothing() -> None:
    assert shown_at(_DOT, "%a") == {}


@pytest.mark.parametrize(
    ("config", "count"), [("", "at least 1 execution"), (TRIP_COUNT, "5 executions")]
)
def test_body_of_a_loop_counts_executions(config: str, count: str) -> None:
    text = shown_at(LOOP.replace("CONFIG", config), "%y")["cost"]
    assert text.startswith("8 FLOP, 96 B accessed, 0.0833 FLOP/B: at least ")
    assert text.endswith(f"bound by memory; {count}")


def test_computation_shows_its_share() -> None:
    text = shown_at(LOOP.replace("CONFIG", TRIP_COUNT), "%body")["time"]
    assert text.startswith("at least ")
    assert text.endswith(" ns, 90% of the least time")


def test_measured_time_has_occurrences_and_roofline(tmp_path: Path) -> None:
    profile = times_in(tmp_path, dot=10, neg=30)
    sources = TimeSources(chips()["v5e"], (profile,))
    dump = dump_of("m.txt")
    file = dump.files[0]
    line = next(number for number, line in enumerate(file.lines) if "%neg =" in line)
    target = cursor_target_at(file, line, 3)
    assert target is not None
    found = time_target_facts(dump, target, program_table(dump, sources))
    assert [fact.label for fact in found] == ["cost", "measured"]
    assert found[1].text == "30.0 µs a run (75.0% of own times), 2% of the roofline"


def test_facts_that_are_not_computed_are_left_out() -> None:
    file = DumpFile.of_text(_DOT, "dump.txt")
    target = cursor_target_at(file, len(file.lines) - 3, 10)
    assert target is not None
    assert with_times(Compile([file]), target, Card("dot"), None) == Card("dot")


def test_run_prefers_the_measured_time(tmp_path: Path) -> None:
    profile = times_in(tmp_path, dot=10, neg=30)
    assert describe_run(table_of(profile, "v5e")) == "40.0 µs measured, median of 2 runs"
    least = program_table(dump_of(), TimeSources(chips()["v5e"]))
    assert describe_run(least).endswith(" on TPU v5e without overlap")
    assert describe_run(NO_INSTRUCTIONS) == ""


@pytest.mark.parametrize(("config", "is_least"), [("", True), (TRIP_COUNT, False)])
def test_run_of_unknown_cost_is_a_lower_bound(config: str, is_least: bool) -> None:
    dump = Compile([DumpFile.of_text(LOOP.replace("CONFIG", config))])
    run = describe_run(program_table(dump, TimeSources(chips()["v5e"])))
    assert run.startswith("at least ") == is_least


def test_computation_without_times_shows_flops() -> None:
    facts = program_table(dump_of(), TimeSources())
    assert computation_time(facts, "e").text == "33.7 MFLOP"
    assert computation_time(facts, "other").text == ""
    loop = Compile([DumpFile.of_text(LOOP.replace("CONFIG", ""), "dump.txt")])
    assert computation_time(program_table(loop, TimeSources()), "body").text == "at least 8 FLOP"


def test_small_shares_have_no_label(tmp_path: Path) -> None:
    facts = table_of(times_in(tmp_path, dot=1, neg=300))
    assert {name: label for name, (label, _) in hot_labels(facts).items()} == {
        "neg": "300 µs, 100%"
    }
