"""``hlo-lsp oom``: explain an out-of-memory message."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, USAGE_ERROR_STATUS, CommandError
from hlo_lsp.cli.printing import print_answer
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.memory.oom_join import join_message
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import assignments_beside, compiles_below
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.oom_message import OomMessage
from hlo_lsp.model.oom_reader import read_oom_messages
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.protos.names import is_converted
from hlo_lsp.reports.oom_report import OomReport, oom_json, oom_lines, oom_markdown, oom_report
from hlo_lsp.text.disk import UnreadableError, read_document, read_first_lines
from hlo_lsp.text.remote import shown


@dataclass(frozen=True, slots=True)
class LogReport:
    """The report on message ``number`` of the ``count`` messages in a log, counted from 1."""

    report: OomReport
    number: int
    count: int


class NoMessageError(CommandError):
    """A log without the wanted message."""


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    log = _log_in(options.log)
    missing = [path for path in options.dumps if not path.exists()]
    lines = read_document(log).lines
    if missing:
        raise CommandError(f"{shown(missing[0])}: no such file or folder")
    for path in options.dumps:
        if path.is_file() and not is_converted(path.name):
            read_first_lines(path)  # a binary file is an error, not a dump that does not match
    found = report_of_log(lines, log, options.dumps, options.message, with_negligible=options.all)
    print_answer(
        options.format,
        [oom_lines(found.report)],
        lambda: oom_json(found.report),
        lambda: oom_markdown(found.report),
    )
    if options.dumps and found.report.joined.dump is None:
        print("hlo-lsp: no dump in these paths belongs to the message", file=sys.stderr)
    if found.count > 1 and not options.message:
        which = f"message {found.number} of {found.count}"
        print(f"hlo-lsp: {which}; choose another with --message", file=sys.stderr)
    return 0


def _log_in(path: Path) -> Path:
    """Return the log of a path: of a folder, the newest that XLA wrote as a program did not fit.

    Raises:
        CommandError: The folder has none.
    """
    if not path.is_dir():
        return path
    files = [one for one in path.glob("*.oom_*") if one.is_file()]
    found = sorted(files, key=lambda one: (one.stat().st_mtime_ns, one.name))
    if not found:
        message = f"{shown(path)}: no *.oom_* file of XLA in this folder; name a log"
        raise CommandError(message, NOT_FOUND_STATUS)
    return found[-1]


def report_of_log(
    lines: list[str],
    log: Path | None,
    dumps: list[Path],
    number: int | None = None,
    frames: FrameChoice | None = None,
    *,
    with_negligible: bool,
) -> LogReport:
    """Return the report on a message in a log.

    Args:
        lines: The lines of the log.
        log: The log, None if it is not a file.
        dumps: Dump files, and folders with dumps; if there are none, the folder of the log is used.
        number: The number of the message, from 1; None for the most detailed one.
        frames: The frames that can be the Python line of a buffer.
        with_negligible: Whether to list advice on small savings.

    Raises:
        NoMessageError: The log does not contain the message.
    """
    messages = read_oom_messages(lines)
    name = "the log" if log is None else shown(log)
    if not messages:
        raise NoMessageError(f"{name}: no out-of-memory message found", NOT_FOUND_STATUS)
    number = number or 1 + messages.index(max(messages, key=OomMessage.detail))
    if number > len(messages):
        text = f"{name}: no message {number}; the log has {count_noun(len(messages), 'message')}"
        raise NoMessageError(text, USAGE_ERROR_STATUS)
    message = messages[number - 1]
    named = None if log is None else DumpName.of(log.name)
    module = None if named is None else named.module_name
    found = _dumps(dumps, log, message.module or module, frames)
    joined = join_message(message, found, module)
    report = oom_report(joined, with_negligible=with_negligible)
    return LogReport(report, number, len(messages))


def answers_on_logs(
    logs: Sequence[Path],
    dumps: list[Path],
    frames: FrameChoice,
    errors: list[str],
    options: argparse.Namespace,
) -> Iterator[tuple[Compile | None, Any]]:
    """Yield the compiles of the messages in logs, and the reports in the format of the answer.

    Args:
        logs: The paths of the logs.
        dumps: As of ``report_of_log``.
        frames: As of ``report_of_log``.
        errors: The list to which a message about each log without a report is added.
        options: The format, and whether to list advice on small savings.
    """
    form = {"text": oom_lines, "markdown": oom_markdown, "json": oom_json}[options.format]
    for log in logs:
        try:
            lines = read_document(log).lines
            found = report_of_log(lines, log, dumps, None, frames, with_negligible=options.all)
            yield found.report.joined.dump, form(found.report)
        except NoMessageError:
            what = "not an HLO module or XLA memory dump, and without an out-of-memory message"
            errors.append(f"{shown(log)}: {what}")
        except UnreadableError as error:
            errors.append(str(error))


def _dumps(
    given: list[Path], log: Path | None, module: str | None, frames: FrameChoice | None
) -> Iterator[Compile]:
    """Yield the given dumps, else those beside the log, the most likely ones first."""
    paths: list[Path] = []
    for path in given:
        paths += (one.path for one in compiles_below(path))
    if not given and log is not None:
        paths = assignments_beside(log, module)
    if log is not None:
        stem = log.name.partition(".oom_")[0]
        paths.sort(key=lambda path: not path.name.startswith(stem))
    if module is not None:
        paths.sort(key=lambda path: module not in path.name)
    yield from dumps_at(paths, [], frames=frames)
