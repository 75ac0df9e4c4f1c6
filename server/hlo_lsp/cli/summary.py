"""``hlo-lsp summary``: print where the memory of a program goes."""

import argparse
import json
import sys
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, space_number
from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.reports.summary import ModuleSummary, SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_json, summary_lines, summary_markdown

_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found: list[ModuleSummary] = []
    for dump in dumps_at([Path(path) for path in options.paths], errors):
        space = None if options.space is None else space_number(dump, options.space)
        if options.space is not None and space is None:
            errors.append(f"{dump.files[0].label}: no memory space {options.space}")
            continue
        chosen = SummaryOptions(options.at, space, GroupKey(options.group_by), options.top)
        found.append(summarize(dump, chosen))
    if options.format == "json":
        modules = [summary_json(summary, options.top) for summary in found]
        print(json.dumps({"modules": modules}, indent=1))
    elif options.format == "markdown":
        print("\n".join(line for one in found for line in summary_markdown(one, options.top)))
    else:
        blocks = ("\n".join(summary_lines(summary, options.top)) for summary in found)
        print("\n\n".join(blocks))
    for error in errors:
        print(f"hlo-lsp: {error}", file=sys.stderr)
    return _USAGE_ERROR_STATUS if errors else 0
