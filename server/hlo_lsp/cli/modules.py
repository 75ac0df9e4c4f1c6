"""``hlo-lsp modules``: list the compiles below folders, those with the largest peak first."""

import argparse
from collections.abc import Iterable

from hlo_lsp.cli.dump_jobs import results_at
from hlo_lsp.cli.executors import worker_pool
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.modules import (
    CompiledModule,
    compiled_module,
    modules_content,
    modules_json,
    sorted_by_name,
)


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    with worker_pool(options) as workers:
        found = results_at(
            workers, options.paths, errors, _compiled_modules, unread=ROLES_WITHOUT_SIZES
        )
        groups = sorted_by_name(found)
    print_answer(
        options.format,
        [modules_content(groups, with_small=options.all)],
        lambda: {"modules": modules_json(groups)},
    )
    return print_errors(errors)


def _compiled_modules(dumps: Iterable[Compile], _: list[str]) -> Iterable[CompiledModule]:
    return map(compiled_module, dumps)
