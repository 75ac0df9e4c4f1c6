"""The shapes of whole arrays, of which a partitioned program has the part of one device."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.device_groups import ShardingError
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.model.sharding import Sharding, parse_sharding
from hlo_lsp.program.mesh import collective_in, cut_axes, meshes_of
from hlo_lsp.program.stages import counterparts, is_optimized, unoptimized_module
from hlo_lsp.program.transfers import REDUCTIONS, is_communication, without_async_ending
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_LOOPS = 20  # around an instruction
_PRODUCTS = {"convolution": "dot"}  # XLA for TPU turns a dot into a convolution


@dataclass(frozen=True, slots=True)
class Cut:
    """A dimension in equal parts; ``axes`` names the axes of the mesh, None if unknown."""

    dimension: int
    parts: int
    axes: str | None


@dataclass(frozen=True, slots=True)
class GlobalShape:
    """The shape of an array on all devices, without layout, and how it is cut.

    ``sharding`` is the annotation that says so, None if there is none.
    """

    shape: ArrayShape
    cuts: tuple[Cut, ...]
    sharding: Sharding | None = None


def global_shape(dump: Compile, line: LocatedRecord[InstructionLine]) -> GlobalShape | None:
    """Return the shape of an array in the program before it was partitioned.

    It is that of the parameter with this number, or of the only operation that can be this one by
    opcode, operation name, Python line, sizes, and the loops around it. None if the array is not
    cut, if the operation is unknown, or if the array is a summand of the part of each device.
    """
    shape, original = try_shape(line.record.shape), unoptimized_module(dump)
    if original is None or not isinstance(shape, ArrayShape) or not is_optimized(line.file):
        return None
    possible = _originals(dump, line, original)
    devices = line.file.module.partition_count if possible else 1
    if devices == 1 or original.module.partition_count != devices:
        return None
    found: dict[ArrayShape, list[InstructionLine]] = {}
    for one in possible:
        whole = try_shape(one.shape)
        if isinstance(whole, ArrayShape) and _parts(shape, whole, devices) is not None:
            found.setdefault(replace(whole, layout=None), []).append(one)
    if len(found) != 1:
        return None
    ((whole, records),) = found.items()
    parts = _parts(shape, whole, devices) or ()
    sharding, meshes = next(_shardings(original.module, records, parts), None), meshes_of(dump)
    dims = ((dim, number) for dim, number in enumerate(parts) if number > 1)
    cuts = tuple(Cut(dim, number, cut_axes(meshes, sharding, dim)) for dim, number in dims)
    return GlobalShape(whole, cuts, sharding) if cuts else None


def _originals(
    dump: Compile, line: LocatedRecord[InstructionLine], original: DumpFile
) -> list[InstructionLine]:
    """Return the instructions before optimizations that an instruction can be."""
    module, record = line.file.module, line.record
    number, loops = parameter_number(record), _loops_around(module, record)
    if loops is None:
        return []
    if number is not None and not loops:
        parameters = original.module.parameters
        return [parameters[number]] if number in parameters else []
    if is_communication(module, record):  # its metadata is that of what it serves
        return []
    if any(_is_reduction(module, user) for user in module.users(record)):
        return []
    opcode = _computed_opcode(module, record)
    found = counterparts(dump, line).get(original, [])
    same = (one for one in found if one.opcode == opcode)
    return [one for one in same if _loops_around(original.module, one) == loops]


def _is_reduction(module: ModuleIndex, record: InstructionLine) -> bool:
    collective = collective_in(module, record)
    return collective is not None and without_async_ending(collective.opcode) in REDUCTIONS


def _loops_around(module: ModuleIndex, record: InstructionLine) -> int | None:
    """Return the number of loops around an instruction, None if it is called in another way.

    The partitioner computes parts of a result in loops of its own.
    """
    home, loops = module.computation_of(record), 0
    while home is not None and not home.is_entry and loops < _MAX_LOOPS:
        callers = module.callers(home)
        if len(callers) != 1 or callers[0].opcode != "while":
            return None
        home, loops = module.computation_of(callers[0]), loops + 1
    return None if home is None else loops


def _computed_opcode(module: ModuleIndex, record: InstructionLine) -> str:
    """Return the opcode of an instruction, of a fusion that of its result."""
    if record.opcode == "fusion":
        roots = [module.computation(one).root for one in module.called_by(record)]
        record = next(filter(None, roots), record)
    return _PRODUCTS.get(record.opcode, record.opcode)


def _parts(shape: ArrayShape, whole: ArrayShape, devices: int) -> tuple[int, ...] | None:
    """Return the parts of each dimension, None if a shape is not a part of the other one."""
    if len(shape.dims) != len(whole.dims):
        return None
    parts = []
    for own, all_ in zip(shape.dims, whole.dims, strict=True):
        if not own.size or not all_.size or own.dynamic or all_.size % own.size:
            return None  # a dimension with padding can have several numbers of parts
        parts.append(all_.size // own.size)
    return tuple(parts) if devices % prod(parts) == 0 else None


def _shardings(
    module: ModuleIndex, records: list[InstructionLine], parts: tuple[int, ...]
) -> Iterator[Sharding]:
    """Yield the shardings of instructions, and of annotations of them, that have these parts."""
    users = (user for one in records for user in module.users(one) if user.opcode == "custom-call")
    for record in chain(records, users):
        span = record.attribute("sharding")
        try:
            sharding = None if span is None else parse_sharding(span.text.strip())
        except ShardingError:
            continue
        if isinstance(sharding, Sharding) and tuple(p.parts for p in sharding.partitions) == parts:
            yield sharding
