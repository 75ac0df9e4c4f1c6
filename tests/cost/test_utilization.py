"""Tests for hlo_lsp.cost.utilization."""

import pytest

from cost.costs import cost_of_text, module
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.utilization import utilization_bound

_DOT = (
    "%p = bf16[4096,4096] parameter(0)",
    "%d = bf16[4096,4096] dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)
_FLOPS = 2 * 4096**3
_V5E = chips()["v5e"]


def test_utilization_is_flops_by_time_and_peak() -> None:
    program = cost_of_text(module(*_DOT, "ROOT %n = bf16[4096,4096] tanh(%d)"), _V5E)
    bound = utilization_bound(program)
    assert bound is not None
    assert program.total.least_ps is not None
    assert bound.share == pytest.approx(_FLOPS / (program.total.least_ps * 197))


def test_asynchronous_operations_can_overlap() -> None:
    text = module(
        *_DOT,
        "%s = bf16[4096,4096] all-reduce-start(%p), replica_groups={{0,1}}, to_apply=%f",
        "ROOT %e = bf16[4096,4096] all-reduce-done(%s)",
    )
    program = cost_of_text(text, _V5E)
    bound = utilization_bound(program)
    assert bound is not None
    assert program.total.least_ps is not None
    assert bound.compute_ps == pytest.approx(_FLOPS / 197, rel=1e-3)
    assert bound.elapsed_ps == pytest.approx(bound.compute_ps)
    assert bound.elapsed_ps < program.total.least_ps


@pytest.mark.parametrize(
    "last",
    [
        'ROOT %k = bf16[4096,4096] custom-call(%d), custom_call_target="kernel"',
        "ROOT %w = bf16[4096,4096] while(%d), condition=%c, body=%b",
    ],
)
def test_unknown_cost_has_no_bound(last: str) -> None:
    assert utilization_bound(cost_of_text(module(*_DOT, last), _V5E)) is None
