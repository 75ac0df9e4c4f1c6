"""``hlo-lsp cost``: show FLOPs, bytes, and the least time of programs."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_errors, print_module_answers
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.workspace import ROLES_WITHOUT_AXES, ROLES_WITHOUT_COST
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_content, cost_json
from hlo_lsp.reports.module_answers import module_answer
from hlo_lsp.stats.instruction_table import CostTable, cost_table


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    if options.prove:
        raise CommandError("--prove has an effect only with --collectives")
    errors: list[str] = []
    key = InstructionKey(options.by)
    has_axes = key is InstructionKey.AXIS or options.format == "json"
    tables = costs_at(options.paths, options.chip, errors, with_axes=has_axes)
    answers = [
        module_answer(
            table.cost.dump,
            _size(table),
            partial(cost_content, table, key, options.top),
            partial(cost_json, table, key, options.top),
        )
        for table in tables
    ]
    print_module_answers(options, answers)
    return print_errors(errors)


def costs_at(
    paths: Sequence[Path], chip: str | None, errors: list[str], *, with_axes: bool
) -> list[CostTable]:
    """Return the costs of all compiles at some paths, the most expensive first.

    Args:
        paths: Dump files and folders.
        chip: The name of the chip, by default that of the dumps.
        errors: The list to which a message about each path without a module text is added.
        with_axes: Whether to read the text that names the axes of collectives.
    """
    unread = ROLES_WITHOUT_AXES if with_axes else ROLES_WITHOUT_COST
    tables: list[CostTable] = []
    for dump in dumps_at(paths, errors, unread=unread):
        table = cost_table(dump, chip_of(dump, chip))
        if table is None:
            errors.append(f"{dump.files[0].label}: {_problem(dump)}, so the cost is unknown")
        else:
            tables.append(table)
    tables.sort(key=_amounts, reverse=True)
    return tables


def _amounts(table: CostTable) -> tuple[float, int]:
    total = table.cost.total
    return total.least_ps or 0.0, total.cost.flops


def _size(table: CostTable) -> float:
    """Return what makes a program large: its least time or, if that is unknown, its bytes."""
    total = table.cost.total
    return total.least_ps or total.memory_bytes


def _problem(dump: Compile) -> str:
    """Return why a compile has no cost."""
    file = dump.module_file
    missing = None if file is None or file.module.entry is not None else missing_part(file)
    return missing or "no module text that can be read"
