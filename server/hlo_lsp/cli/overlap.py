"""``hlo-lsp cost --collectives``: list asynchronous operations, and those that are exposed."""

import argparse
from functools import partial

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_errors, print_module_answers
from hlo_lsp.cli.proving import proving_compiler
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.module_answers import module_answer
from hlo_lsp.reports.overlap import overlap_content, overlap_json, overlap_of, with_proofs


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    answers = []
    with proving_compiler(options) as compiler:
        for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES):
            chip = chip_of(dump, options.chip)
            overlap = overlap_of(dump, chip)
            if compiler is not None:
                from hlo_lsp.compiling.proofs import prove_options  # noqa: PLC0415

                prove = partial(prove_options, compiler, dump, chip)
                overlap = with_proofs(overlap, prove, options.top)
            content = partial(overlap_content, overlap, options.top)
            json = partial(overlap_json, overlap, options.top)
            answers.append(module_answer(dump, largest_peak_bytes(dump), content, json))
    answers.sort(key=lambda one: one.size, reverse=True)
    print_module_answers(options, answers)
    return print_errors(errors)
