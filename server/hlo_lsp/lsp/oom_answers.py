"""Answers in texts that contain out-of-memory messages of XLA.

The answers join the messages with the dumps beside the text, with open dumps, and with those of the
same module in the workspace folders.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.cards import Card
from hlo_lsp.ide.oom_text import oom_card, oom_definitions, oom_links, oom_outline
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.code_lenses import summary_command
from hlo_lsp.lsp.commands import SUMMARY_OWNERS, summary_links
from hlo_lsp.lsp.hover import rendered
from hlo_lsp.lsp.navigation import links_json
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.symbols import folds_of_nodes, largest, symbols_of_nodes
from hlo_lsp.memory.oom_join import JoinedMessage, join_message, module_of_message
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import assignments_beside
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import DumpName, FileRole, sanitized_name, suffix_of
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope
from hlo_lsp.model.oom_message import OomMessage
from hlo_lsp.model.oom_reader import oom_messages_of
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.oom_report import OomReport, oom_headline, oom_lines, oom_markdown, oom_report
from hlo_lsp.reports.summary import SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_markdown
from hlo_lsp.text.disk import UnreadableError, file_stamp
from hlo_lsp.text.inert import printable

_MAX_COMPARED_DUMPS = 50  # beside a log; the user waits for the comparison


def hover(session: Session, file: DumpFile, params: types.HoverParams) -> types.Hover | None:
    """Return the hover of a shape, a size, a listed buffer, or of the whole message."""
    line, column = session.client.point(file, params.position)
    messages = joined_messages(session, file)
    card = oom_card(file.lines[line], line, column, messages) or _report_card(messages, line)
    uri_of = SourceFiles(session.settings.source_map).uri
    return None if card is None else types.Hover(rendered(session.client, card, uri_of))


def definition(
    session: Session, file: DumpFile, params: types.DefinitionParams
) -> list[types.Location]:
    """Return the instruction and the value of the buffer at a position."""
    line = session.client.point(file, params.position)[0]
    places = oom_definitions(joined_messages(session, file), line)
    return [session.client.location(place) for place in places]


def document_links(session: Session, file: DumpFile, _: types.DocumentLinkParams) -> list[Json]:
    """Return a link for each Python line whose file is on this machine."""
    found = oom_links(file.lines, joined_messages(session, file))
    return links_json(session.client, file, SourceFiles(session.settings.source_map), found)


def document_symbols(session: Session, file: DumpFile, _: types.DocumentSymbolParams) -> list[Json]:
    """Return the messages with the buffers that they list."""
    nodes = oom_outline(file.lines, oom_messages_of(file))
    return symbols_of_nodes(session.client, file, nodes)


def folding_ranges(session: Session, file: DumpFile, _: types.FoldingRangeParams) -> list[Json]:
    """Return the messages, lists, and buffers with more than one line."""
    folds = folds_of_nodes(oom_outline(file.lines, oom_messages_of(file)))
    return largest(folds, session.client.max_folding_ranges)


def code_lenses(session: Session, file: DumpFile, _: types.CodeLensParams) -> list[Json]:
    """Return a lens for each message, and one on the first line; a request adds the text."""
    lines = sorted({0, *(message.first for message in oom_messages_of(file))})
    return [
        {
            "range": session.client.lines_range(file, line, 1),
            "data": {"uri": file.uri, "line": line, "summary": True},
        }
        for line in lines
    ]


REPLIES: Mapping[str, Callable[[Session, DumpFile, Any], Any]] = {
    types.TEXT_DOCUMENT_HOVER: hover,
    types.TEXT_DOCUMENT_DEFINITION: definition,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: document_symbols,
    types.TEXT_DOCUMENT_DOCUMENT_LINK: document_links,
    types.TEXT_DOCUMENT_FOLDING_RANGE: folding_ranges,
    types.TEXT_DOCUMENT_CODE_LENS: code_lenses,
}
"""What replies to the requests with these methods."""


async def resolve_lens(session: Session, lens: types.CodeLens) -> types.CodeLens:
    """Add the first line of the report on a message, and the command that opens the report."""
    data = lens.data if isinstance(lens.data, dict) else {}
    uri, line = str(data.get("uri")), lens.range.start.line

    def headline(file: DumpFile) -> str | None:
        report = _report(session, file, line)
        return None if report is None else oom_headline(report)

    title = await session.answer_message(types.TextDocumentIdentifier(uri), headline)
    if title is None:
        return lens
    return types.CodeLens(lens.range, summary_command(session.client, title, uri, line), lens.data)


async def summarize_message(session: Session, uri: str, line: int) -> str | None:
    """Return the report on the message at a line as Markdown, with the summary of its dump.

    None for a file without a message.
    """

    def summary(file: DumpFile) -> str | None:
        report = _report(session, file, line)
        if report is None:
            return None
        lines = list(oom_markdown(report))
        if report.joined.dump is not None:
            found = summarize(report.joined.dump, SummaryOptions())
            links = summary_links(session, report.joined.dump)
            lines += summary_markdown(found, SUMMARY_OWNERS, links)
        return "\n".join(lines) + "\n"

    return await session.answer_message(types.TextDocumentIdentifier(uri), summary)


def _report(session: Session, file: DumpFile, line: int) -> OomReport | None:
    """Return the report on the last message before the end of a line, else on the most detailed."""
    messages = oom_messages_of(file)
    if not messages:
        return None
    before = [message for message in messages if message.first <= line]
    message = before[-1] if before else max(messages, key=OomMessage.detail)
    return replace(oom_report(_join(session, file, message)), is_in_editor=True)


def joined_messages(session: Session, file: DumpFile) -> list[JoinedMessage]:
    """Return the messages in a text, joined with their dumps."""
    return [_join(session, file, message) for message in oom_messages_of(file)]


def _join(session: Session, file: DumpFile, message: OomMessage) -> JoinedMessage:
    name = None if file.path is None else DumpName.of(file.path.name)
    module = None if name is None else name.module_name
    wanted = message.module or module or module_of_message(message)
    return join_message(message, _dumps(session, file.path, wanted), module)


def _report_card(messages: list[JoinedMessage], line: int) -> Card | None:
    """Return the explanation of the last message that begins before a line."""
    before = [joined for joined in messages if joined.message.first <= line]
    if not before:
        return None
    title, *lines = oom_lines(replace(oom_report(before[-1]), is_in_editor=True))
    return Card(title, text="\n\n".join(printable(text.strip()) for text in lines))


def _dumps(session: Session, path: Path | None, module: str | None) -> Iterator[Compile]:
    """Yield the dumps beside a text, the open ones, and those of a module in the workspace."""
    workspace = session.workspace
    beside = [] if path is None else assignments_beside(path, module)
    yield from _dumps_at(workspace, beside[:_MAX_COMPARED_DUMPS])
    for opened in list(workspace.open_files.values()):
        if opened.kind.has_records:
            yield workspace.compile_of(opened)
    if module is not None:
        elsewhere = assignments_of_module(session.index.folders, module)
        yield from _dumps_at(workspace, elsewhere[:_MAX_COMPARED_DUMPS])


def assignments_of_module(folders: Iterable[ScannedFolder], module: str) -> list[Path]:
    """Return the buffer assignments with the name of a module, the newest first."""
    wanted = sanitized_name(module)
    paths = [
        folder.path / name
        for folder in folders
        if folder.top.scope is SearchScope.WORKSPACE
        for name in folder.names
        if "assignment" in name and suffix_of(name).role is FileRole.ASSIGNMENT
        for dump_name in [DumpName.of(name)]
        if (wanted in name if dump_name is None else dump_name.module_name == wanted)
    ]
    return sorted(paths, key=lambda path: file_stamp(path) or (0, 0), reverse=True)


def _dumps_at(workspace: DumpWorkspace, paths: Iterable[Path]) -> Iterator[Compile]:
    for path in paths:
        checkpoint()
        try:
            yield workspace.compile_of(workspace.file(path))
        except UnreadableError:
            continue
