"""``hlo-lsp summary``: print where the memory of a program goes."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.dump_search import compiles_below
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.summary import ModuleSummary, SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_json, summary_lines, summary_markdown
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.disk import UnreadableError

_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    found: list[ModuleSummary] = []
    for dump in _dumps([Path(path) for path in options.paths], errors):
        space = _space_number(dump, options.space)
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


def _dumps(paths: Sequence[Path], errors: list[str]) -> Iterator[DumpSet]:
    for path in paths:
        files = list(compiles_below(path))
        if not files:
            errors.append(f"{path}: no dumps in this folder")
        for file_path in files:
            workspace = DumpWorkspace()  # of one compile, so that folders need little memory
            try:
                file = workspace.file(file_path)
            except UnreadableError as error:
                errors.append(str(error))
                continue
            if file.kind is FileKind.OTHER:
                if file_path is path:
                    errors.append(f"{path}: not an HLO module or XLA memory dump")
                continue
            seen: set[DumpSet] = set()
            for part in workspace.parts(file):
                dump = workspace.set_of(part) if part.kind.has_records else None
                if dump is not None and dump not in seen:
                    seen.add(dump)
                    yield dump


def _space_number(dump: DumpSet, name: str | None) -> int | None:
    """Return the number of a memory space, given its number or its name."""
    if name is None:
        return None
    numbers = {allocation.record.color for allocation in dump.allocations()}
    for number in sorted(numbers):
        if name == str(number) or name.casefold() == space_title(number, dump.backend).casefold():
            return number
    return None
