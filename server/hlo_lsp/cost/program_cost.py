"""The cost of a compile as it runs, and by the conventions of XLA and libtpu."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import ExecutedCost, executed_cost
from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operation import Cost, OperandIndex, SizeOf
from hlo_lsp.cost.physical_costs import libtpu_costs
from hlo_lsp.cost.roofline import CostSum, cost_sum
from hlo_lsp.model.backend import HOST_MEMORY_SPACE, Backend, is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import logical_bytes, sizes_of_text, target_of
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.program.stages import is_optimized

_BYTES_PER_DYNAMIC_DIMENSION = 4  # the run-time sizes of a dynamic array, for each dimension


def xla_costs(operands: OperandIndex, fusions: FusionIndex | None = None) -> ModuleCosts:
    """Return the costs of a module by XLA's conventions: logical sizes, each loop once."""
    return ModuleCosts(operands, _part_size, fusions)


def _part_size(shape: str, _: str | None = None, /) -> int:
    return xla_size(shape)


@lru_cache(maxsize=1 << 13)
def xla_size(text: str) -> int:
    """Return the bytes of an array, or of the table of a tuple (``ShapeSizeBytes`` of a CPU)."""
    shape = try_shape(text)
    if shape is None:
        return 0
    size = logical_bytes(shape) or 0
    if isinstance(shape, ArrayShape) and shape.dynamic:
        size += _BYTES_PER_DYNAMIC_DIMENSION * len(shape.dims)
    return size


@dataclass(frozen=True, slots=True)
class ProgramCost:
    """The cost of a compile.

    Attributes:
        chip: The chip for times, None if it is unknown or the text is not optimized.
        total: The sums over all instructions.
        xla_costs: The costs by XLA's conventions, computed on request. They read nothing that
            ``executed`` has not read.
        libtpu_costs: The same by those of libtpu, None unless libtpu scheduled the module.
        has_table_sizes: False if the tables of tuples have an unknown size, so that the bytes by
            the conventions of libtpu are lower bounds.
    """

    dump: Compile
    chip: Chip | None
    executed: ExecutedCost
    total: CostSum
    xla_costs: ModuleCosts = field(compare=False, repr=False)
    libtpu_costs: ModuleCosts | None = field(compare=False, repr=False)
    has_table_sizes: bool = True

    @property
    def is_optimized(self) -> bool:
        """False if the compiler still transforms the text, so that no time is a lower bound."""
        file = self.dump.module_file
        return file is None or is_optimized(file)

    @property
    def memory_title(self) -> str:
        """The name of the bytes outside of on-chip memory; a CPU has no such memory."""
        return "accessed" if self.dump.backend is Backend.CPU else "off chip"

    @property
    def xla(self) -> Cost:
        """The cost of the program by XLA's conventions."""
        return self.xla_costs.total

    @property
    def libtpu(self) -> Cost | None:
        """The cost of a TPU program by the conventions of libtpu."""
        return None if self.libtpu_costs is None else self.libtpu_costs.total


@query
def program_cost(dump: Compile, chip: Chip | None) -> ProgramCost | None:
    """Return the cost of a compile, or None without a module text with an entry computation.

    Args:
        dump: The compile.
        chip: The chip for times; without one, and for a text that is not optimized, there are no
            times: what runs can take less than the text says.
    """
    file = dump.module_file
    if file is None or file.module.entry is None:
        return None
    operands = OperandIndex(file.module)
    fusions = FusionIndex(operands)
    sizes = _physical_sizes(dump, chip)
    executed = executed_cost(operands, *sizes, fusions, missing_part=missing_part(file))
    is_chip_known = target_of(dump).granule is not None or chip is not None
    has_table_sizes = is_chip_known or not any(
        one.shape.startswith("(") for one in file.module.instructions.records()
    )
    if not is_optimized(file):
        chip = None
    return ProgramCost(
        dump,
        chip,
        executed,
        cost_sum(executed.instructions, chip),
        xla_costs(operands, fusions),
        libtpu_costs(operands, sizes[0], fusions) if _is_by_libtpu(dump, file) else None,
        has_table_sizes,
    )


def _is_by_libtpu(dump: Compile, file: DumpFile) -> bool:
    header = file.module.header
    return dump.backend is Backend.TPU and header is not None and header.is_scheduled


def _physical_sizes(dump: Compile, chip: Chip | None) -> tuple[SizeOf, SizeOf, SizeOf]:
    """Return functions for the bytes of an array in memory, off the chip, and in host memory."""
    target = target_of(dump)
    if target.granule is None and chip is not None:  # no memory files
        target = replace(target, granule=chip.tuple_granule)

    def size_of(shape: str, _: str | None = None, /) -> int:
        size = sizes_of_text(shape, target).bytes
        return xla_size(shape) if size is None else size

    def space_of(array: str) -> int:
        whole = try_shape(array)
        return whole.memory_space if isinstance(whole, ArrayShape) else 0

    def memory_size_of(shape: str, array: str | None = None, /) -> int:
        space = space_of(shape if array is None else array)
        return 0 if is_on_chip(space, target.backend) else size_of(shape)

    def host_size_of(shape: str, array: str | None = None, /) -> int:
        space = space_of(shape if array is None else array)
        return size_of(shape) if space == HOST_MEMORY_SPACE else 0

    return size_of, memory_size_of, host_size_of
