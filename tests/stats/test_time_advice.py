"""Tests for advice on time."""

import pytest

from cost.costs import module
from hlo_lsp.cost.chips import chips
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.stats.time_advice import TimeAdvice, TimeAdviceKind, time_advice

_TPU = "module_0001.m.cl_1.after_optimizations.txt"
_BIG = "bf16[4096,4096]{1,0:T(8,128)(2,1)}"
_DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_AGAIN = 'metadata={op_name="jit(f)/checkpoint/rematted_computation/dot_general"}'


def _advice(text: str, chip: str | None = "v5e") -> tuple[TimeAdvice, ...]:
    dump = Compile([DumpFile.of_text(text, _TPU)])
    return time_advice(dump, None if chip is None else chips()[chip])


def _kinds(*lines: str) -> list[TimeAdviceKind]:
    return [one.kind for one in _advice(module(*lines))]


RECOMPUTED = module(
    f"%p = {_BIG} parameter(0)",
    f"%d = {_BIG} dot(%p, %p), {_DOT}, {_AGAIN}",
    f"ROOT %r = {_BIG} dot(%d, %d), {_DOT}",
)


def test_recomputed_values_have_a_price() -> None:
    (advice,) = _advice(RECOMPUTED)
    assert advice.kind is TimeAdviceKind.REMATERIALIZATION
    assert advice.instruction.name == "d"
    assert advice.share == pytest.approx(0.5)
    assert advice.text == (
        "values are computed again (137 GFLOP); this costs at least 698 µs, 50.0% of the least "
        "time of a run. If the memory allows it, keep the most expensive ones (a policy of "
        "`jax.checkpoint`)"
    )


def test_recomputation_of_xla_is_not_that_of_checkpoint() -> None:
    (advice,) = _advice(RECOMPUTED.replace(f", {_AGAIN}", "").replace("%d", "%d.remat"))
    assert advice.kind is TimeAdviceKind.REMATERIALIZATION
    assert advice.remedy == "XLA computes again what does not fit in memory: lower the peak"


def test_recomputation_costs_what_its_phase_costs() -> None:
    # The copy has no operation name: that of its operand decides.
    text = RECOMPUTED.replace("  ROOT", f"  %c = {_BIG} copy(%d)\n  ROOT").replace(
        "dot(%d, %d)", "dot(%c, %c)"
    )
    dump = Compile([DumpFile.of_text(text, _TPU)])
    (advice,) = _advice(text)
    table = cost_table(dump, chips()["v5e"])
    assert table is not None
    phases = {group.name: group for group in table.groups(InstructionKey.PHASE)}
    assert len(phases["rematerialized"].rows) == 2
    assert advice.least_ps == pytest.approx(phases["rematerialized"].run_ps)


def test_unknown_chip_gives_no_advice() -> None:
    assert _advice(RECOMPUTED, None) == ()


def test_unknown_cost_gives_no_advice() -> None:
    unknown = f'%c = {_BIG} custom-call(%p), custom_call_target="kernel"'
    assert _advice(RECOMPUTED.replace("  ROOT", f"  {unknown}\n  ROOT")) == ()


def test_module_without_schedule_gives_no_advice() -> None:
    assert _advice(RECOMPUTED.replace("is_scheduled=true, ", "")) == ()


def test_small_share_gives_no_advice() -> None:
    small = "bf16[256,256]{1,0:T(8,128)(2,1)}"
    again = f"%s = {small} parameter(1)\n  %a = {small} dot(%s, %s), {_DOT}, {_AGAIN}"
    text = RECOMPUTED.replace(f", {_AGAIN}", "").replace("  ROOT", f"  {again}\n  ROOT")
    assert _advice(text) == ()


def test_product_of_few_rows_waits_for_memory() -> None:
    (advice,) = _advice(
        module(
            f"%w = {_BIG} parameter(0)",
            "%x = bf16[8,4096]{1,0:T(8,128)(2,1)} parameter(1)",
            f"ROOT %d = bf16[8,4096]{{1,0:T(8,128)(2,1)}} dot(%x, %w), {_DOT}",
        )
    )
    assert advice.kind is TimeAdviceKind.MEMORY_BOUND
    assert advice.problem == (
        "1 matrix product waits for memory: `d` has 7.97 FLOP/B, and the chip can do 241"
    )
    assert advice.remedy == "Use larger batches, or use narrower types"


def test_elementwise_operations_have_no_advice() -> None:
    assert _kinds(f"%p = {_BIG} parameter(0)", f"ROOT %n = {_BIG} negate(%p)") == []


def test_half_filled_matrix_unit_is_named() -> None:
    on_chip = "{1,0:T(8,128)(2,1)S(1)}"
    (advice,) = _advice(
        module(
            f"%a = bf16[8192,64]{on_chip} parameter(0)",
            f"%b = bf16[64,4096]{on_chip} parameter(1)",
            f"ROOT %d = bf16[8192,4096]{on_chip} dot(%a, %b), {_DOT}",
        )
    )
    assert advice.kind is TimeAdviceKind.MATRIX_UNIT
    assert advice.problem == (
        "dimensions of matrices do not fill the matrix unit: `d` uses depth 64 of 128"
    )
    assert advice.remedy == "Use multiples of 128"


def test_collective_without_computation_is_exposed() -> None:
    groups = "replica_groups={{0,1,2,3}}, to_apply=%f"
    (advice,) = _advice(
        module(f"%p = {_BIG} parameter(0)", f"ROOT %r = {_BIG} all-reduce(%p), {groups}")
    )
    assert advice.kind is TimeAdviceKind.COLLECTIVES
    assert advice.problem == "nothing computes during 1 collective (48.00 MiB sent)"


def test_collective_that_overlaps_is_hidden() -> None:
    assert (
        _kinds(
            f"%p = {_BIG} parameter(0)",
            f"%s = ({_BIG}, {_BIG}) collective-permute-start(%p), source_target_pairs={{{{0,1}}}}",
            f"%d = {_BIG} dot(%p, %p), {_DOT}",
            f"%e = {_BIG} collective-permute-done(%s)",
            f"ROOT %r = {_BIG} dot(%d, %e), {_DOT}",
        )
        == []
    )


_ASYNC_COLLECTIVE = """\
HloModule m, is_scheduled=true, num_partitions=8

%add {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%started {
  %p = f32[8192,8192] parameter(0)
  ROOT %rs = f32[1024,8192] reduce-scatter(%p), channel_id=1, \
replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}, to_apply=%add
}

ENTRY %e {
  %x = f32[8192,8192] parameter(0)
  %w = bf16[16384,16384] parameter(1)
  %start = ((f32[8192,8192]), f32[1024,8192]) async-start(%x), calls=%started
  %d = bf16[16384,16384] dot(%w, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %done = f32[1024,8192] async-done(%start)
  ROOT %t = (bf16[16384,16384], f32[1024,8192]) tuple(%d, %done)
}
"""


def test_collective_in_the_computation_of_an_async_start_overlaps() -> None:
    assert _advice(_ASYNC_COLLECTIVE, "h100") == ()


def test_copy_to_another_layout_is_named() -> None:
    (advice,) = _advice(
        module(
            f"%p = {_BIG} parameter(0)",
            f"ROOT %c = {_BIG.replace('{1,0:', '{0,1:')} copy(%p)",
        )
    )
    assert advice.kind is TimeAdviceKind.LAYOUT_COPIES
    assert advice.problem.startswith("1 instruction changes only a layout: `c` from `bf16[")


def test_copy_to_on_chip_memory_is_a_prefetch() -> None:
    on_chip = _BIG.replace("(2,1)", "(2,1)S(1)")
    lines = f"%p = {_BIG} parameter(0)", f"ROOT %c = {on_chip} copy(%p)"
    assert _kinds(*lines) == []


def test_lines_below_one_percent_are_not_named() -> None:
    text = module(
        "%p = f32[4194304] parameter(0)",
        "%q = f32[1024] parameter(1)",
        "%g = f32[16777216] all-gather(%p), replica_groups={{0,1,2,3}}, dimensions={0},"
        ' metadata={source_file="/f.py" source_line=7}',
        "%h = f32[4096] all-gather(%q), replica_groups={{0,1,2,3}}, dimensions={0},"
        ' metadata={source_file="/f.py" source_line=8}',
        "ROOT %t = (f32[16777216], f32[4096]) tuple(%g, %h)",
    )
    (advice,) = _advice(text)
    assert advice.problem.endswith("most of it for f.py:7 (252 µs)")
