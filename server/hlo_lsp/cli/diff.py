"""``hlo-lsp diff``: compare two compiles, or all compiles of two folders."""

import argparse
import sys
from functools import partial

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.report import maps_page, write_page
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.comparison import (
    compare_all,
    comparison_blocks,
    comparison_json,
    comparison_markdown,
)
from hlo_lsp.reports.diff import Growth
from hlo_lsp.reports.map_comparison import NO_MAPS, compared_maps
from hlo_lsp.text.inert import printable
from hlo_lsp.text.remote import shown

_DIFFERENT_STATUS = 1


def run(options: argparse.Namespace) -> int:
    """Run the command, and return 0, 1 for differences or too much growth, or 2 for errors."""
    errors: list[str] = []
    limit = None
    try:
        if options.max_growth is not None:
            limit = Growth.of(options.max_growth)
    except ValueError as error:
        return print_errors([f"--max-growth: {error}"])
    before, after = (
        list(dumps_at([path], errors, unread=ROLES_WITHOUT_SIZES))
        for path in (options.before, options.after)
    )
    if errors:
        return print_errors(errors)
    comparison = compare_all(before, after, options.chip)
    found = comparison.diffs
    sides = shown(options.before), shown(options.after)
    print_answer(
        options.format,
        comparison_blocks(comparison, options.top, sides),
        lambda: comparison_json(comparison, options.top),
        lambda: comparison_markdown(comparison, options.top, sides),
    )
    if options.map is not None:
        pairs = ((pair.before, pair.after) for pair in comparison.pairs)
        maps = compared_maps(pairs, partial(chip_of, name=options.chip))
        if not maps["modules"]:
            return print_errors([NO_MAPS])
        write_page(
            maps_page(maps, "json" if options.map.endswith(".json") else "html"), options.map
        )
    problems = [f"{diff.before.name}: {one}" for diff in found for one in diff.problems]
    if limit is not None:
        problems += (
            f"{diff.before.name}: the growth is unknown, because a side has no buffer assignment"
            for diff in found
            if not all(diff.is_memory_known)
        )
        if not found:
            problems.append("no module is on both sides, so the growth is unknown")
    if problems:
        return print_errors(problems)
    if limit is None:
        return 0 if comparison.is_equal else _DIFFERENT_STATUS
    larger = [pair.titles[1] for pair in comparison.pairs if limit.is_exceeded_by(pair.diff)]
    verdict = f"exceeded by {', '.join(larger)}" if larger else "not exceeded"
    print(printable(f"hlo-lsp: --max-growth {options.max_growth}: {verdict}"), file=sys.stderr)
    return _DIFFERENT_STATUS if larger else 0
