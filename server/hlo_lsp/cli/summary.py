"""``hlo-lsp summary``: print where the memory of a program goes."""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from hlo_lsp.checks.run import check
from hlo_lsp.cli.dumps import (
    current_folder_frames,
    dumps_at,
    dumps_with_place,
    print_blocks,
    print_errors,
)
from hlo_lsp.cli.oom import LogReport, NoMessageError, log_lines, report_of_log
from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.protos.names import is_converted
from hlo_lsp.reports.oom_report import oom_json, oom_lines, oom_markdown
from hlo_lsp.reports.summary import (
    ModuleSummary,
    SummaryOptions,
    largest_first,
    summarize_with_cost,
)
from hlo_lsp.reports.summary_text import (
    small_module_lines,
    small_modules_markdown,
    summary_json,
    summary_lines,
    summary_markdown,
)
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import UnreadableError, read_first_lines
from hlo_lsp.text.remote import shown

_STANDARD_INPUT = "-"


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    logs = [path for path in options.paths if _is_log(path)]
    paths = [Path(path) for path in options.paths if path not in logs]
    folders = tuple(options.workspace) or current_folder_frames().folders
    frames = FrameChoice(folders, with_libraries=options.frames == "all")
    messages = list(_messages(logs, paths, frames, errors, with_negligible=options.all))
    joined = [one.report.joined.dump for one in messages if not paths]
    read = dumps_at(paths, errors, sizes_only=not options.check, frames=frames)
    dumps = chain(filter(None, joined), read)
    found: list[ModuleSummary] = []
    names: list[Path | None] = []
    for dump, space in dumps_with_place(options, dumps, errors):
        selected = SummaryOptions(
            options.at, space, GroupKey(options.group_by), options.top, options.all
        )
        findings = _findings(dump) if options.check else {}
        summary = summarize_with_cost(dump, selected, options.chip)
        found.append(replace(summary, findings=findings))
        names.append(next((path for path in paths if _is_of(dump, path)), None))
    large, small = largest_first(found, lambda one: one.size)
    # The file of one module is shown in full, as asked; one with several modules as a folder.
    named = [one for one, path in zip(found, names, strict=True) if path and names.count(path) == 1]
    in_short = [one for one in small if not options.all and one not in named]
    in_full = [one for one in large + small if one not in in_short]
    if options.format == "json":
        content = {
            "modules": [summary_json(summary, options.top) for summary in large + small],
            "messages": [oom_json(one.report) for one in messages],
        }
        print(json.dumps(content, indent=1))
    elif options.format == "markdown":
        texts = [oom_markdown(one.report) for one in messages]
        texts += [summary_markdown(summary, options.top) for summary in in_full]
        texts.append(small_modules_markdown(in_short))
        print_blocks([chain.from_iterable(texts)])
    else:
        blocks = [oom_lines(one.report) for one in messages]
        blocks += [summary_lines(summary, options.top) for summary in in_full]
        print_blocks([*blocks, *([small_module_lines(in_short)] if in_short else [])])
    return print_errors(errors)


def _is_of(dump: Compile, path: Path) -> bool:
    """Return True for the path of a file of a compile."""
    return any(file.path == path for file in dump.files)


def _findings(dump: Compile) -> dict[str, int]:
    """Return the number of findings by code."""
    found = Counter(finding.code for file in dump.files for finding in check(dump, file))
    return dict(sorted(found.items()))


def _is_log(path: str) -> bool:
    if path == _STANDARD_INPUT:
        return True
    if is_converted(path):
        return False
    try:
        return detect_file_kind(read_first_lines(Path(path))) in {FileKind.OOM, FileKind.OTHER}
    except UnreadableError:
        return False


def _messages(
    logs: list[str],
    paths: list[Path],
    frames: FrameChoice,
    errors: list[str],
    *,
    with_negligible: bool,
) -> Iterator[LogReport]:
    for name in logs:
        log = None if name == _STANDARD_INPUT else Path(name)
        try:
            yield report_of_log(
                log_lines(log), log, paths, frames=frames, with_negligible=with_negligible
            )
        except NoMessageError:
            what = "not an HLO module or XLA memory dump, and without an out-of-memory message"
            errors.append(f"{'standard input' if log is None else shown(log)}: {what}")
        except UnreadableError as error:
            errors.append(str(error))
