"""The bytes that a device sends over the network for a collective.

The factors are those of ring algorithms, as in the bus bandwidth of nccl-tests.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from hlo_lsp.cost.operation import Operation
from hlo_lsp.hlo.vocabulary import SendRule, opcode_spec
from hlo_lsp.model.device_groups import (
    GroupList,
    GroupMode,
    ShardingError,
    group_mode,
    parse_device_groups,
)
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES

_REPLICA_COUNT = re.compile(r"\breplica_count=(\d{1,9})\b")

_SHARES: dict[SendRule, Callable[[int], Fraction]] = {
    SendRule.OPERANDS: lambda _: Fraction(1),
    SendRule.RESULT: lambda _: Fraction(1),
    SendRule.OPERANDS_TO_OTHERS: lambda size: Fraction(size - 1),
    SendRule.PIECES_TO_OTHERS: lambda size: Fraction(size - 1, size),
    SendRule.PIECES_TO_OTHERS_TWICE: lambda size: Fraction(2 * (size - 1), size),
}


def is_collective(opcode: str) -> bool:
    """Return whether an opcode, or the start of one, exchanges data between devices."""
    return opcode.removesuffix("-start") in COLLECTIVE_OPCODES


def wire_bytes(operation: Operation, module: ModuleIndex, kind: str | None = None) -> int:
    """Return the bytes that each device sends for a collective; 0 for other opcodes.

    Args:
        operation: The collective.
        module: The module that it is in.
        kind: The opcode whose rule applies, that of the operation by default.
    """
    rule = opcode_spec(kind or operation.opcode.removesuffix("-start")).sends
    share = _SHARES.get(rule)
    if share is None:
        return 0
    shapes = [operation.shape] if rule is SendRule.RESULT else operation.operands
    size = max(1, group_size(operation, module))
    return int(share(size) * sum(map(operation.leaf_bytes, shapes)))


def group_size(operation: Operation, module: ModuleIndex) -> int:
    """Return the number of devices in the largest group of a collective."""
    try:
        groups = parse_device_groups(operation.attribute("replica_groups") or "{}")
    except ShardingError:
        return 1
    if not isinstance(groups, GroupList):
        size = groups.size
    elif groups.groups:
        size = max(map(len, groups.groups))
    else:
        return _device_count(module)
    is_whole = _mode(operation) is GroupMode.WHOLE_REPLICAS
    return size * module.partition_count if is_whole else size


def _mode(operation: Operation) -> GroupMode:
    return group_mode(
        operation.opcode,
        channel=bool(operation.attribute("channel_id")),
        global_ids=operation.attribute("use_global_device_ids") == "true",
    )


def _device_count(module: ModuleIndex) -> int:
    header = module.header
    match = None if header is None else _REPLICA_COUNT.search(header.text)
    return module.partition_count * (1 if match is None else int(match[1]))
