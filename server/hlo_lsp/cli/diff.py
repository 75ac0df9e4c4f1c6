"""``hlo-lsp diff``: compare two compiles, or all compiles of two folders."""

import argparse
from functools import partial
from itertools import chain
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.report import write_maps
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.diff import Growth, ModuleDiff, compare, pair_modules
from hlo_lsp.reports.diff_text import diff_json, diff_lines, diff_markdown
from hlo_lsp.reports.map_comparison import NO_MAPS, compared_maps
from hlo_lsp.text.inert import markdown_text
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
    pairs, removed, added = pair_modules(before, after)
    found = [compare(one, other, options.chip) for one, other in pairs]
    only_before = [dump.module_name for dump in removed]
    only_after = [dump.module_name for dump in added]
    equal = [diff.before.name for diff in found if diff.is_equal]
    notes = [f"{name}: only in {shown(options.before)}" for name in only_before]
    notes += [f"{name}: only in {shown(options.after)}" for name in only_after]
    changed = found
    if len(equal) > 1:
        names = ", ".join(dict.fromkeys(equal))
        notes.insert(0, f"no differences in {len(equal):,} modules: {names}")
        changed = [diff for diff in found if not diff.is_equal]
    changed = sorted(changed, key=_change, reverse=True)
    print_answer(
        options.format,
        [*(diff_lines(diff, options.top) for diff in changed), *([note] for note in notes)],
        lambda: {
            "modules": [diff_json(diff, options.top) for diff in found],
            "only_before": only_before,
            "only_after": only_after,
        },
        lambda: chain(
            *(chain(diff_markdown(diff, options.top), [""]) for diff in changed),
            *([markdown_text(note), ""] for note in notes),
        ),
    )
    if options.map is not None:
        maps = compared_maps(pairs, partial(chip_of, name=options.chip))
        if not maps["modules"]:
            return print_errors([NO_MAPS])
        errors = write_maps(maps, Path(options.map))
        if errors:
            return print_errors(errors)
    problems = [f"{diff.before.name}: {one}" for diff in found for one in diff.problems]
    if limit is not None:
        problems += (
            f"{diff.before.name}: the growth is unknown, because a side has no buffer assignment"
            for diff in found
            if not all(diff.is_memory_known)
        )
    if problems:
        return print_errors(problems)
    if limit is not None:
        is_accepted = not any(map(limit.is_exceeded_by, found))
    else:
        is_accepted = not (only_before or only_after) and all(diff.is_equal for diff in found)
    return 0 if is_accepted else _DIFFERENT_STATUS


def _change(diff: ModuleDiff) -> int:
    return 0 if diff.main is None else abs(diff.main.peak_change)
