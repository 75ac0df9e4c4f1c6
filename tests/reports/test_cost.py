"""Tests for the cost of a program as text."""

import pytest

from cost.costs import module, table_of_text
from hlo_lsp.cost.chips import chips
from hlo_lsp.display.table import text_lines
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_content, cost_json
from hlo_lsp.stats.instruction_table import CostTable, merged

_TEXT = module(
    "%p = f32[1024] parameter(0)",
    "%n = f32[1024] negate(%p)",
    "%t = f32[1024] tanh(%n)",
    "%r = f32[1024] all-reduce(%t), replica_groups={{0,1}}, to_apply=%f",
    "%w = f32[1024] while(%r), condition=%c, body=%b",
    'ROOT %c = f32[1024] custom-call(%r), custom_call_target="my_kernel"',
)


def _lines(table: CostTable, count: int) -> list[str]:
    return list(text_lines(cost_content(table, InstructionKey.OPCODE, count)))


def test_first_lines_answer_the_question() -> None:
    lines = _lines(table_of_text(_TEXT, chips()["v5e"]), 2)
    assert lines == [
        "m: at least 2.05 kFLOP, 1.02 k transcendentals, 24.0 KiB accessed, 4.0 KiB sent",
        "least time on TPU v5e: 40.5 ns, mostly bound by network",
        "bound by memory 20.0 ns + network 20.5 ns; each resource alone:"
        " compute 0.01 ns, memory 30.0 ns, network 20.5 ns",
        "XLA's analysis, each loop once: 2.05 kFLOP, 1.02 k transcendentals, 24.0 KiB accessed",
        "1 loop of unknown trip count, counted once: w",
        "1 custom call of unknown cost: my_kernel (1)",
        "  least time  share       FLOPs  accessed     sent    bound  opcode",
        "     20.5 ns    51%  1.02 kFLOP   8.0 KiB  4.0 KiB  network  all-reduce",
        "     10.0 ns    25%  1.02 kFLOP   8.0 KiB      0 B   memory  negate",
        "     10.0 ns    25%      0 FLOP   8.0 KiB      0 B   memory  in 2 more (unknown)",
    ]


def test_rows_without_cost_are_left_out() -> None:
    text = module(
        "%p = f32[8] parameter(0)", "%b = f32[2,4] bitcast(%p)", "ROOT %n = f32[2,4] negate(%b)"
    )
    lines = _lines(table_of_text(text, chips()["v5e"]), 9)
    assert [line.split()[-1] for line in lines[6:]] == ["negate"]


def test_without_chip_there_are_no_times() -> None:
    lines = _lines(table_of_text(_TEXT), 1)
    assert lines[1] == "least time: unknown chip; use --chip"
    assert lines[-3:] == [
        "       FLOPs  accessed     sent  opcode",
        "  1.02 kFLOP   8.0 KiB  4.0 KiB  all-reduce",
        "  1.02 kFLOP  16.0 KiB      0 B  in 3 more (unknown)",
    ]


def test_cache_of_a_gpu_is_stated() -> None:
    lines = _lines(table_of_text(_TEXT, chips()["h100"]), 2)
    assert lines[1].endswith("mostly bound by network")
    negate = module("%a = f32[1024] parameter(0)", "ROOT %n = f32[1024] negate(%a)")
    lines = _lines(table_of_text(negate, chips()["h100"]), 2)
    assert lines[1].endswith("mostly bound by memory (less if in cache)")


def test_seconds_of_bounds_add_up() -> None:
    module_json = cost_json(table_of_text(_TEXT, chips()["v5e"]), InstructionKey.OPCODE, 9)
    executed = module_json["executed"]
    least = executed["least_seconds"]
    assert sum(executed["bound_seconds"].values()) == pytest.approx(least)
    assert sum(one["least_seconds"] for one in module_json["groups"]) == pytest.approx(least)
    assert max(executed["resource_seconds"].values()) <= least


def test_merged_groups_add_up() -> None:
    table = table_of_text(_TEXT, chips()["v5e"])
    total = table.cost.total
    found = merged(table.cost_groups(InstructionKey.INSTRUCTION), "all").cost
    assert (found.cost, found.memory_bytes, found.wire_bytes) == (
        total.cost,
        total.memory_bytes,
        total.wire_bytes,
    )
    assert found.least_ps == pytest.approx(total.least_ps)
    assert (found.bound, found.unknown) == (total.bound, total.unknown)


@pytest.mark.parametrize(
    ("text", "complete"),
    [(_TEXT, True), (_TEXT[: _TEXT.rindex("}")], False)],
    ids=["whole", "cut off"],
)
def test_analysis_of_a_part_is_incomplete(text: str, complete: bool) -> None:
    found = cost_json(table_of_text(text), InstructionKey.LINE, 1)
    assert found["xla"]["complete"] is complete


def test_text_before_optimizations_has_no_least_time() -> None:
    path = "module_0001.f.cl_1.before_optimizations.txt"
    table = table_of_text(_TEXT, chips()["v5e"], path)
    lines = _lines(table, 9)
    assert lines[1] == "least time: not optimized"
    assert table.cost.total.least_ps is None


def test_groups_have_the_axes_of_their_collectives() -> None:
    text = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %main {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %a = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true
  ROOT %d = f32[8] negate(%a)
}
"""
    groups = cost_json(table_of_text(text), InstructionKey.OPCODE, 9)["groups"]
    assert {one["name"]: one["axes"] for one in groups} == {
        "all-reduce": [{"name": "model", "size": 2, "stride": None}],
        "negate": [],
    }
