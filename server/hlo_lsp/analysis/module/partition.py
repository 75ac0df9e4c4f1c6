"""Whether a module prints the shapes of whole arrays or those of one device."""

from hlo_lsp.analysis.cards.sharding import Printed
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.naming import suffix_of
from hlo_lsp.model.suffixes import Role

_WHOLE = frozenset({Role.BEFORE_OPTIMIZATIONS})
_SHARDS = frozenset({Role.AFTER_SPMD_PARTITIONER})


def printed_shapes(file: DumpFile) -> Printed | None:
    """What shapes beside ``sharding=`` mean in a module, or None where nothing says it.

    The SPMD partitioner replaces whole shapes by those of one device and leaves the shardings of
    parameters as they were. Measured on 661 parameters: scheduled modules have been partitioned,
    those before optimizations have not; in between one module alone does not tell.
    """
    header = file.module.header
    text = "" if header is None else header.text
    if "num_partitions=" not in text:
        return Printed.WHOLE
    if "is_scheduled=true" in text:
        return Printed.SHARD
    role = None if file.path is None else suffix_of(file.path.name).role
    if role in _SHARDS:
        return Printed.SHARD
    return Printed.WHOLE if role in _WHOLE or "xla.sdy.meshes" in text else None
