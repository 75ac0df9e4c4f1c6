"""The costs of two compiles."""

import pytest

from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost_comparison import CostDiff, compare_costs, cost_change_lines
from hlo_lsp.reports.diff import compare
from hlo_lsp.reports.diff_text import diff_json, diff_markdown, headline
from reports.example import ASSIGNMENT, MODULE, RANGES, example

_MORE_WORK = MODULE.replace("%c = f32[512]{0} cosine(%b)", "%c = f32[512]{0} add(%b, %b)")
_MOVED = MODULE.replace("/home/user/model.py", "/home/user/branch/model.py")


def _diff(module: str, chip: str | None = None) -> CostDiff:
    found = compare_costs(example(), example(ASSIGNMENT, RANGES, module), chip)
    assert found is not None
    return found


def test_equal_costs_have_no_lines() -> None:
    assert list(cost_change_lines(_diff(_MOVED, "v5e"), 5)) == []


def test_largest_change_comes_first() -> None:
    two = _MORE_WORK.replace("%a = f32[512]{0} sine(%x)", "%a = f32[2048]{0} negate(%x)")
    diff = _diff(two, "v5e")
    changes = [one.delta.least_ps for one in diff.groups[InstructionKey.LINE]]
    assert changes == sorted(changes, key=abs, reverse=True)
    assert [one.label for one in diff.groups[InstructionKey.LINE]] == ["model.py:3", "model.py:7"]
    assert sum(changes) == pytest.approx(diff.total.delta.least_ps)


def test_groups_of_a_key_add_up_to_the_total() -> None:
    diff = _diff(_MORE_WORK)
    for changes in diff.groups.values():
        assert sum(one.delta.flops for one in changes) == diff.total.delta.flops == 512
        moved = sum(one.delta.memory_bytes for one in changes)
        assert moved == diff.total.delta.memory_bytes


def test_without_chip_flops_and_bytes_are_shown() -> None:
    lines = list(cost_change_lines(_diff(_MORE_WORK), 5))
    assert lines[0].startswith("cost of one run: 256 FLOP -> 768 FLOP (+512 FLOP) · ")
    assert "least time" not in lines[0]
    assert lines[1].startswith("  by line: model.py:7 +512 FLOP, +")


def test_change_of_cost_is_part_of_the_comparison() -> None:
    after = example(ASSIGNMENT, RANGES, _MORE_WORK)
    diff = compare(example(), after, "v5e")
    assert headline(diff) == "jit_f: the same memory, cost +1.25 ns"
    assert "## Cost of one run" in list(diff_markdown(diff, 5))
    cost = diff_json(diff, 5)["cost"]
    assert cost["chip"] == "v5e"
    (line,) = cost["groups"]["line"]
    assert line["after"]["flops"] - line["before"]["flops"] == 512
    assert line["name"].endswith("model.py:7")
