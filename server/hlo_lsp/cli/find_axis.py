"""``hlo-lsp find --axis``: find the collectives over an axis of the mesh."""

import argparse

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, CommandError
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.shared_options import HERE, dump_path
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.axis_search import AxisInModule, axis_content, axis_json, find_axis

_MAX_MESHES = 3


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status; the first path is in place of a query."""
    paths = [] if options.query is None else [dump_path(options.query)]
    paths += [] if paths and options.paths is HERE else options.paths
    errors: list[str] = []
    found: list[AxisInModule] = []
    meshes: set[str] = set()
    for dump in dumps_at(paths, errors, unread=ROLES_WITHOUT_SIZES):
        one = find_axis(dump, options.axis, chip_of(dump, options.chip))
        meshes.update(mesh.text.replace(", ", " x ") for mesh in one.overlap.meshes)
        found += [one] if one.collectives else []
    found.sort(key=lambda one: (-one.least_ps, -one.bytes_per_run))
    print_answer(
        options.format,
        (axis_content(module, options.axis, options.top) for module in found),
        lambda: {"axis": options.axis, "modules": list(map(axis_json, found))},
    )
    if not found and not errors:
        known = join_limited(sorted(meshes), _MAX_MESHES) or "none"
        message = f"no collectives over {options.axis} in these dumps (meshes: {known})"
        raise CommandError(message, NOT_FOUND_STATUS)
    return print_errors(errors)
