"""The bytes that a device sends over the network for a collective.

The factors are those of ring algorithms, as in the bus bandwidth of nccl-tests.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from hlo_lsp.cost.operation import Operation
from hlo_lsp.model.device_groups import (
    GroupList,
    GroupMode,
    ShardingError,
    group_mode,
    parse_device_groups,
)
from hlo_lsp.model.module_index import ModuleIndex

_REPLICA_COUNT = re.compile(r"\breplica_count=(\d{1,9})\b")

# For each collective, the bytes on the wire by the size of a group: of the operands, of the result.
_Factor = Callable[[int], tuple[Fraction, int]]
_OPERANDS, _RESULT = 0, 1
_FACTORS: dict[str, _Factor] = {
    "all-gather": lambda size: (Fraction(size - 1), _OPERANDS),
    "all-reduce": lambda size: (Fraction(2 * (size - 1), size), _OPERANDS),
    "all-to-all": lambda size: (Fraction(size - 1, size), _OPERANDS),
    "collective-broadcast": lambda _: (Fraction(1), _RESULT),
    "collective-permute": lambda _: (Fraction(1), _OPERANDS),
    "collective-reduce": lambda size: (Fraction(size - 1, size), _OPERANDS),
    "ragged-all-to-all": lambda _: (Fraction(0), _OPERANDS),  # its sizes are known when it runs
    "reduce-scatter": lambda size: (Fraction(size - 1, size), _OPERANDS),
}


def is_collective(opcode: str) -> bool:
    """Return whether an opcode, or the start of one, exchanges data between devices."""
    return opcode.removesuffix("-start") in _FACTORS


def wire_bytes(operation: Operation, module: ModuleIndex) -> int:
    """Return the bytes that each device sends for a collective; 0 for other opcodes."""
    opcode = operation.opcode.removesuffix("-start")
    factor = _FACTORS.get(opcode)
    if factor is None:
        return 0
    size = 2 if opcode == "collective-permute" else group_size(operation, module)
    share, side = factor(max(1, size))
    if side == _RESULT:
        return int(share * operation.leaf_bytes(operation.shape))
    return int(share * sum(map(operation.leaf_bytes, operation.operands)))


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
