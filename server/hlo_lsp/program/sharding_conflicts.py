"""Collectives because an operation combines arrays that are cut in different dimensions."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import opcode_spec
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.device_groups import ShardingError
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.sharding import Sharding, parse_sharding
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.program.collective_roles import collective_role
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.mesh import DeviceMesh, cut_axes, meshes_of
from hlo_lsp.program.stages import counterparts, unoptimized_module
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, without_async_ending
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_STEPS = 50  # from an operand to its sharding
_MOVING = frozenset({"argument", "resharding"})  # roles
_SHARDING = 'custom_call_target="Sharding"'
_PASSED = frozenset({"parameter", "get-tuple-element"})  # to computations, or from them


@dataclass(frozen=True, slots=True)
class CutOperand:
    """An operand of an operation, with the instruction whose sharding cuts it over an axis."""

    annotated: InstructionLine
    dimension: int
    path: tuple[InstructionLine, ...]


@dataclass(frozen=True, slots=True)
class ShardingConflict:
    """An elementwise operation of operands that the program cuts over one axis differently.

    One of them moves between devices, whatever the sharding of the result.
    """

    file: DumpFile
    operation: InstructionLine
    axis: str
    operands: tuple[CutOperand, CutOperand]


def unrequested_collectives(
    dump: Compile, file: DumpFile
) -> dict[ShardingConflict, list[LocatedRecord[InstructionLine]]]:
    """Return the operations with a conflict, and the collectives of a module that serve them."""
    original, meshes = unoptimized_module(dump), meshes_of(dump)
    if original is None or len(meshes) != 1:
        return {}
    served: dict[InstructionLine, ShardingConflict] = {}
    for conflict in _conflicts(original, meshes[0]):
        for record in (conflict.operation, *chain(*(one.path for one in conflict.operands))):
            served.setdefault(record, conflict)
    found: dict[ShardingConflict, list[LocatedRecord[InstructionLine]]] = {}
    for record in file.module.instructions.records() if served else ():
        if without_async_ending(record.opcode) not in COLLECTIVE_OPCODES:
            continue
        line = LocatedRecord(file, record)
        possible = counterparts(dump, line).get(original, ())
        reasons = [served.get(one) for one in possible if one.opcode != "call"]
        # Another operation of the same line and name may need it.
        reason = next(iter(reasons), None) if all(reasons) else None
        role = collective_role(dump, line)
        if reason is not None and role is not None and role.kind in _MOVING:
            found.setdefault(reason, []).append(line)
    return found


def _conflicts(file: DumpFile, mesh: DeviceMesh) -> Iterator[ShardingConflict]:
    """Yield the operations of a text before optimizations with a conflict."""
    for record in file.module.instructions.records():
        checkpoint()
        operands = file.module.operands(record)
        if len(operands) < 2 or not opcode_spec(record.opcode).elementwise:
            continue
        if any(_SHARDING in user.text for user in file.module.users(record)):
            continue  # the program says where the result is to be
        cuts = [_cuts(file.module, one, mesh) for one in operands if one is not None]
        for first, second in combinations(cuts, 2):
            for axis in first:
                if axis in second and first[axis].dimension != second[axis].dimension:
                    yield ShardingConflict(file, record, axis, (first[axis], second[axis]))


def _cuts(module: ModuleIndex, operand: InstructionLine, mesh: DeviceMesh) -> dict[str, CutOperand]:
    """Return the axes over which the program cuts an operand, if a sharding says so."""
    path = [operand]
    for _ in range(_MAX_STEPS):
        if (span := path[-1].attribute("sharding")) is not None:
            return dict(_axes(path, span.text.strip(), mesh))
        sources = _sources(module, path[-1])
        if len(sources) != 1:
            break
        path += sources
    return {}


def _sources(module: ModuleIndex, record: InstructionLine) -> list[InstructionLine]:
    """Return the arrays whose elements at the same indexes a result is computed from."""
    if record.opcode in _PASSED or isinstance(record, TupleElement):
        return [one for one in ModuleFlow(module).producers(record, ()) if one is not record]
    if not opcode_spec(record.opcode).elementwise:
        return []
    operands = (one for one in module.operands(record) if one is not None)
    return [one for one in operands if not _is_constant(module, one)]


def _is_constant(module: ModuleIndex, record: InstructionLine) -> bool:
    operands = module.operands(record) if record.opcode == "broadcast" else [record]
    return all(one is not None and one.opcode == "constant" for one in operands)


def _axes(
    path: list[InstructionLine], text: str, mesh: DeviceMesh
) -> Iterator[tuple[str, CutOperand]]:
    try:
        sharding = parse_sharding(text)
    except ShardingError:
        return
    if not isinstance(sharding, Sharding):
        return
    for dimension, part in enumerate(sharding.partitions):
        axes = cut_axes([mesh], sharding, dimension) if part.parts > 1 else None
        for axis in axes.split(" x ") if axes else ():
            yield axis, CutOperand(path[-1], dimension, tuple(path))
