"""Tests for the costs by instruction and computation."""

import pytest

from cost.costs import module
from cost.test_executed import LOOP, TRIP_COUNT
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.cost_facts import CostFacts, cost_facts
from hlo_lsp.cost.roofline import Bound
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_DOT = module(
    "%a = bf16[1024,1024] parameter(0)",
    "%b = bf16[1024,1024] bitcast(%a)",
    "ROOT %dot = bf16[1024,1024] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)


def facts_of(text: str, chip: str = "v5e") -> CostFacts:
    """Return the costs of the module in a text."""
    found = cost_facts(Compile([DumpFile.of_text(text, "dump.txt")]), chips().get(chip))
    assert found is not None
    return found


def test_only_instructions_with_a_cost_are_known() -> None:
    found = facts_of(_DOT)
    assert list(found.instructions) == ["dot"]
    assert found.computations == {"e": [found.instructions["dot"]]}


def test_time_is_the_longest_one() -> None:
    dot = facts_of(_DOT).instructions["dot"]
    assert dot.seconds == pytest.approx(2 * 1024**3 / 197e12)
    assert dot.bound is Bound.COMPUTE


def test_unknown_chip_has_no_times() -> None:
    found = facts_of(_DOT, "")
    assert (found.total.seconds, found.instructions["dot"].seconds) == (None, None)


@pytest.mark.parametrize(("config", "is_complete"), [("", False), (TRIP_COUNT, True)])
def test_bodies_of_unknown_loops_are_incomplete(config: str, is_complete: bool) -> None:
    found = facts_of(LOOP.replace("CONFIG", config))
    assert {name: one.is_complete for name, one in found.instructions.items()} == {
        "y": is_complete,
        "c": is_complete,
    }


def test_text_without_module_has_no_cost() -> None:
    dump = Compile([DumpFile.of_text("BufferAssignment:\n", "dump.txt")])
    assert cost_facts(dump, None) is None
