"""``hlo-lsp cost``: show FLOPs, bytes, and the least time of programs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.workspace import ROLES_WITHOUT_COST
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json, cost_lines


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    key = InstructionKey(options.by)
    found = costs_at(options.paths, options.chip, errors)
    print_answer(
        options.format,
        (cost_lines(program, key, options.top) for program in found),
        lambda: {"modules": cost_json(found, key, options.top)},
    )
    return print_errors(errors)


def costs_at(paths: Sequence[Path], chip: str | None, errors: list[str]) -> list[ProgramCost]:
    """Return the costs of all compiles at some paths, the most expensive first.

    Args:
        paths: Dump files and folders.
        chip: The name of the chip, by default that of the dumps.
        errors: The list to which a message about each path without a module text is added.
    """
    found: list[ProgramCost] = []
    for dump in dumps_at(paths, errors, unread=ROLES_WITHOUT_COST):
        program = program_cost(dump, chip_of(dump, chip))
        if program is None:
            errors.append(f"{dump.files[0].label}: {_problem(dump)}, so the cost is unknown")
        else:
            found.append(program)
    found.sort(key=lambda one: (one.total.seconds or 0.0, one.total.cost.flops), reverse=True)
    return found


def _problem(dump: Compile) -> str:
    """Return why a compile has no cost."""
    file = dump.module_file
    missing = None if file is None or file.module.entry is not None else missing_part(file)
    return missing or "no module text that can be read"
