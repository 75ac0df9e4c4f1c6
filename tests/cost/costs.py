"""The costs of module texts, and the tables of their instructions."""

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.stats.instruction_table import CostTable, cost_table


def cost_of_text(
    text: str, chip: Chip | None = None, path: str = "cpu_after_optimizations.txt"
) -> ProgramCost:
    """Return the cost of the module in a text."""
    program = program_cost(Compile([DumpFile.of_text(text, path)]), chip)
    assert program is not None
    return program


def table_of_text(
    text: str, chip: Chip | None = None, path: str = "cpu_after_optimizations.txt"
) -> CostTable:
    """Return the instructions of the module in a text."""
    table = cost_table(Compile([DumpFile.of_text(text, path)]), chip)
    assert table is not None
    return table


def module(*lines: str) -> str:
    """Return a module whose entry computation has these instructions."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"HloModule m, is_scheduled=true, num_partitions=4\n\nENTRY %e {{\n{body}\n}}\n"
