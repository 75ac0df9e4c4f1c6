"""The costs of custom calls that follow from their configuration: library routines and kernels."""

import re
from collections.abc import Callable

from hlo_lsp.cost.formulas import convolution_flops, dot_flops
from hlo_lsp.cost.operation import (
    NO_COST,
    Cost,
    Operation,
    dimensions,
    element_count,
    leaf_texts,
)

# Custom calls that mark a place for the compiler, or that name a buffer.
_MARKERS = frozenset(
    {
        *("AllocateBuffer", "AssumeGatherIndicesInBound", "ConcatBitcast"),
        *("AsyncCollectiveDone", "AsyncCollectiveStart", "GatherScatterIndicesBitpacked"),
        *("PrepareAsyncCallDone", "PrepareAsyncCallStart"),
        *("SPMDFullToShardShape", "SPMDShardToFullShape", "Sharding"),
        *("annotate_device_placement", "xla.sdy.FuncResultSharding"),
        *("xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"),
    }
)
# Custom calls that only move data.
_MOVES = frozenset({"MoveToDevice", "MoveToHost", "X64Combine", "X64SplitHigh", "X64SplitLow"})
_TOP_K = "TopK"
_GEMMS = ("__cublas$gemm", "__cublas$lt$matmul")
_CONVOLUTIONS = "__cudnn$conv"
_BACKWARD_INPUT, _BACKWARD_FILTER = "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"
_CONTRACTING = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_ESTIMATE = re.compile(r'"cost_estimate":\{([^{}]*)\}')
_ESTIMATED = re.compile(r'"(\w+)":"?(\d{1,19})\b')
_NUMBER = re.compile(r"\d{1,9}")


def library_call_cost(operation: Operation) -> Cost | None:
    """Return the cost of a custom call, or None if it is unknown."""
    target = operation.attribute("custom_call_target").strip('"')
    if target in _MARKERS:
        return NO_COST
    if target in _MOVES:
        return Cost(bytes_accessed=operation.bytes_of_all)
    if target == _TOP_K:
        return _top_k_cost(operation)
    if target.startswith(_GEMMS):
        return _with_traffic(operation, _gemm_flops)
    if target.startswith(_CONVOLUTIONS):
        return _with_traffic(operation, lambda operation: _convolution_flops(operation, target))
    return _estimated_cost(operation.attribute("backend_config"))


def _top_k_cost(operation: Operation) -> Cost:
    """Return the cost of a TopK, which compares each element with k others as libtpu counts."""
    count = next(reversed(dimensions(_result(operation))), 1)
    return Cost(element_count(operation.operand(0)) * count, 0, operation.bytes_of_all)


def _with_traffic(operation: Operation, flops_of: Callable[[Operation], int | None]) -> Cost | None:
    """Return a cost with the bytes of the operands and of the result, without the workspace."""
    flops = flops_of(operation)
    if flops is None:
        return None
    read = sum(map(operation.size_of, operation.operands))
    return Cost(flops, 0, read + operation.size_of(_result(operation)))


def _result(operation: Operation) -> str:
    """Return the shape of the result; the other elements of the tuple are workspaces."""
    return next(iter(leaf_texts(operation.shape)), "")


def _gemm_flops(operation: Operation) -> int | None:
    match = _CONTRACTING.search(operation.attribute("backend_config"))
    if match is None:
        return None
    contracting = list(map(int, _NUMBER.findall(match[1])))
    return dot_flops(operation.operand(0), _result(operation), contracting)


def _convolution_flops(operation: Operation, target: str) -> int | None:
    """Return the FLOPs of a convolution; its window and labels are those of the forward pass."""
    result, first, second = _result(operation), operation.operand(0), operation.operand(1)
    shapes = {
        _BACKWARD_INPUT: (result, second, first),
        _BACKWARD_FILTER: (first, result, second),
    }.get(target, (first, second, result))
    return convolution_flops(operation, *shapes) or None


def _estimated_cost(config: str) -> Cost | None:
    """Return the ``cost_estimate`` of a kernel, which its author gives."""
    match = _ESTIMATE.search(config)
    if match is None:
        return None
    found = {name: int(number) for name, number in _ESTIMATED.findall(match[1])}
    return Cost(*(found.get(name, 0) for name in ("flops", "transcendentals", "bytes_accessed")))
