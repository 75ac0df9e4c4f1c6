"""The out-of-memory messages in the logs among the paths of ``hlo-lsp summary``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_lsp.cli.oom import NoMessageError, report_of_log
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.reports.oom_report import oom_json, oom_lines, oom_markdown
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.remote import shown


@dataclass(frozen=True, slots=True)
class LogMessage:
    """The report on a message in each format, and the compile that it is about, if it is known."""

    compile: Compile | None
    lines: list[str]
    markdown: list[str]
    json: dict[str, Any]


def log_messages(
    logs: Sequence[Path],
    paths: list[Path],
    frames: FrameChoice,
    errors: list[str],
    *,
    with_negligible: bool,
) -> Iterator[LogMessage]:
    """Yield the reports on the messages of logs.

    Args:
        logs: The paths of the logs.
        paths: Dump files, and folders with dumps; if there are none, those of the logs are used.
        frames: The frames that can be the Python line of a buffer.
        errors: The list to which a message about each log without a report is added.
        with_negligible: Whether to list advice on small savings.
    """
    for log in logs:
        try:
            lines = read_document(log).lines
            found = report_of_log(lines, log, paths, frames=frames, with_negligible=with_negligible)
        except NoMessageError:
            what = "not an HLO module or XLA memory dump, and without an out-of-memory message"
            errors.append(f"{shown(log)}: {what}")
        except UnreadableError as error:
            errors.append(str(error))
        else:
            report = found.report
            forms = list(oom_lines(report)), list(oom_markdown(report)), oom_json(report)
            yield LogMessage(report.joined.dump, *forms)
