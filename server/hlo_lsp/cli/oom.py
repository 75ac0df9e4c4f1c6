"""``hlo-lsp oom``: explain an out-of-memory message."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.memory.oom_join import join_message
from hlo_lsp.model.dump_search import compiles_below
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.oom_reader import read_oom_messages
from hlo_lsp.model.out_of_memory import OomMessage
from hlo_lsp.reports.oom import oom_report
from hlo_lsp.reports.oom_text import oom_json, oom_lines
from hlo_lsp.text.disk import UnreadableError, decode, read_document
from hlo_lsp.text.document import Document

_NO_MESSAGE_STATUS = 1
_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    log = None if options.log == "-" else Path(options.log)
    try:
        lines = _standard_input() if log is None else read_document(log).lines
    except UnreadableError as error:
        return _fail(str(error), _USAGE_ERROR_STATUS)
    missing = [path for path in options.dumps if not Path(path).exists()]
    if missing:
        return _fail(f"{missing[0]}: no such file or folder", _USAGE_ERROR_STATUS)
    messages = read_oom_messages(lines)
    name = "standard input" if log is None else str(log)
    if not messages:
        return _fail(f"{name}: no out-of-memory message found", _NO_MESSAGE_STATUS)
    number = options.message or 1 + messages.index(max(messages, key=_detail))
    if number > len(messages):
        count = len(messages)
        text = f"{name}: there is no message {number}; the log has {count}"
        return _fail(text, _USAGE_ERROR_STATUS)
    message = messages[number - 1]
    module = None if log is None else _module_of_file(log)
    dumps = _dumps([Path(path) for path in options.dumps], log, message.module or module)
    report = oom_report(join_message(message, dumps, module))
    if options.format == "json":
        print(json.dumps(oom_json(report), indent=1))
    else:
        print("\n".join(oom_lines(report)))
    if options.dumps and report.joined.dump is None:
        print("hlo-lsp: no dump in these paths belongs to the message", file=sys.stderr)
    if len(messages) > 1 and not options.message:
        text = f"hlo-lsp: message {number} of {len(messages)}; choose another with --message"
        print(text, file=sys.stderr)
    return 0


def _fail(text: str, status: int) -> int:
    print(f"hlo-lsp: {text}", file=sys.stderr)
    return status


def _standard_input() -> list[str]:
    return Document(decode(sys.stdin.buffer.read())).lines


def _detail(message: OomMessage) -> tuple[bool, int, int]:
    """Return a sort key: the message with sizes and most buffers explains most."""
    size = 0 if message.needed is None else message.needed.bytes
    return message.needed is not None, len(message.entries), size


def _module_of_file(log: Path) -> str | None:
    """Return the module name in the name of a file of a dump."""
    name = DumpName.of(log.name)
    return None if name is None else name.module_name


def _dumps(given: list[Path], log: Path | None, module: str | None) -> Iterator[DumpSet]:
    """Yield the given dumps, else those beside the log, the most likely ones first."""
    paths: list[Path] = []
    for path in given:
        paths += compiles_below(path)
    if not given and log is not None:
        beside = sorted(log.absolute().parent.iterdir())
        paths = [path for path in beside if suffix_of(path.name).role is FileRole.ASSIGNMENT]
    if log is not None:
        stem = log.name.partition(".oom_")[0]
        paths.sort(key=lambda path: not path.name.startswith(stem))
    if module is not None:
        paths.sort(key=lambda path: module not in path.name)
    for path in paths:
        yield from dumps_at([path], [])
