"""``hlo-lsp check``."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.checks.folder import check_paths
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.views.findings import finding_json
from hlo_lsp.views.terminal import print_finding

_FOUND = 1
_WRONG_USAGE = 2


def run(options: argparse.Namespace) -> int:
    """Print the findings; the status says whether there were any, or that a path is no good."""
    console = Console(highlight=False)
    as_json = []
    looked_at, with_findings, count, unreadable = 0, 0, 0, False
    for checked in check_paths([Path(path) for path in options.paths]):
        unreadable |= checked.unreadable
        if checked.note is not None:
            print(f"hlo-lsp: {checked.note}", file=sys.stderr)
        looked_at += checked.kind is not FileKind.OTHER
        with_findings += bool(checked.findings)
        count += len(checked.findings)
        for finding in checked.findings:
            if options.format == "json":
                as_json.append(finding_json(str(checked.path), finding))
            else:
                print_finding(console, str(checked.path), finding)
    if options.format == "json":
        print(json.dumps(as_json))
    elif count:
        where = f"{with_findings} of {counted(looked_at, 'file')}"
        print(f"{counted(count, 'problem')} in {where}", file=sys.stderr)
    if count:
        return _FOUND
    return _WRONG_USAGE if unreadable else 0
