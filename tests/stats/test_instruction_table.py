"""Tests for the tables of instructions without measured times."""

import pytest

from cost.costs import module, table_of_text
from cost.test_executed import LOOP, TRIP_COUNT
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.roofline import Bound
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.stats.instruction_table import cost_table

_ARRAY = "f32[8]{0:T(128)}"
_DOT = module(
    "%a = bf16[1024,1024] parameter(0)",
    "%b = bf16[1024,1024] bitcast(%a)",
    "ROOT %dot = bf16[1024,1024] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)


def test_only_instructions_with_a_cost_are_grouped() -> None:
    table = table_of_text(_DOT, chips()["v5e"])
    (group,) = table.groups(InstructionKey.COMPUTATION)
    assert (group.name, [row.name for row in group.rows]) == ("e", ["dot"])
    assert [row.name for row in table.by_computation["e"]] == ["a", "b", "dot"]


def test_owners_are_computed_once() -> None:
    table = table_of_text(_DOT)
    assert table.owners is table.owners
    assert list(table.owners) == ["dot"]


def test_time_is_the_longest_one() -> None:
    dot = table_of_text(_DOT, chips()["v5e"]).by_name["dot"]
    assert dot.least is not None
    assert dot.run_ps == dot.least.ps == pytest.approx(2e12 * 1024**3 / 197e12)
    assert dot.least.bound is Bound.COMPUTE


def test_unknown_chip_has_no_times() -> None:
    table = table_of_text(_DOT)
    assert (table.cost.total.least_ps, table.by_name["dot"].least, table.timed) == (None, None, [])


@pytest.mark.parametrize(("config", "is_complete"), [("", False), (TRIP_COUNT, True)])
def test_bodies_of_unknown_loops_are_incomplete(config: str, is_complete: bool) -> None:
    table = table_of_text(LOOP.replace("CONFIG", config))
    assert {row.name: row.cost and row.cost.is_complete for row in table.costing} == {
        "y": is_complete,
        "c": is_complete,
    }


def test_text_without_module_has_no_cost() -> None:
    dump = Compile([DumpFile.of_text("BufferAssignment:\n", "dump.txt")])
    assert cost_table(dump, None) is None


def test_least_times_add_up_to_the_total() -> None:
    table = table_of_text(_DOT.replace("bitcast", "negate"), chips()["v5e"])
    assert table.run_ps == pytest.approx(table.cost.total.least_ps)
    assert sum(map(table.share, table.timed)) == pytest.approx(1)


def _fused(name: str, line: int) -> str:
    def metadata(number: int) -> str:
        place = f'source_file="/f.py" source_line={number}'
        return f'metadata={{op_name="jit(f)/s{number}/op" {place}}}'

    return f"""
%{name} {{
  %p = {_ARRAY} parameter(0)
  %m = {_ARRAY} multiply(%p, %p), {metadata(line)}
  %x = {_ARRAY} exponential(%m)
  ROOT %r = {_ARRAY} add(%x, %p), {metadata(line + 1)}
}}
"""


def test_owners_in_a_fusion_share_its_arithmetic() -> None:
    fusion = f"{_ARRAY} fusion(%p), kind=kLoop"
    text = (_fused("c", 1) + _fused("d", 7)).join(("HloModule m, is_scheduled=true\n", "")) + (
        f"\nENTRY %e {{\n  %p = {_ARRAY} parameter(0)\n  %f = {fusion}, calls=%c,"
        ' metadata={op_name="jit(f)/s2/op" source_file="/f.py" source_line=2}\n'
        f"  ROOT %g = {_ARRAY} fusion(%f), kind=kLoop, calls=%d\n}}\n"
    )
    table = table_of_text(text)
    groups = table.cost_groups(InstructionKey.LINE)
    lines = {group.name: (group.cost.cost, group.cost.memory_bytes) for group in groups}
    assert lines == {
        "/f.py:1": (Cost(8, 0, 0), 0),
        "/f.py:2": (Cost(8, 8, 1024), 1024),
        "/f.py:7": (Cost(8, 0, 0), 0),
        "/f.py:8": (Cost(8, 8, 1024), 1024),
    }
    groups = table.cost_groups(InstructionKey.SCOPE)
    scopes = {group.name: group.cost.cost.flops for group in groups}
    assert scopes == {f"jit(f)/s{number}": 8 for number in (1, 2, 7, 8)}
    (opcode,) = table.cost_groups(InstructionKey.OPCODE)
    assert (opcode.name, opcode.cost.cost.flops) == ("fusion", 32)
