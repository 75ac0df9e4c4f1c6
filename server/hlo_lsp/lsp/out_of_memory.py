"""Answers in texts that contain out-of-memory messages of XLA.

The answers join the messages with the dumps beside the text and with open dumps.
"""

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from hlo_lsp.ide.navigation.source_links import SourceLink
from hlo_lsp.ide.out_of_memory import oom_card, oom_definitions, oom_links, oom_outline
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.hover import markdown, plain
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.symbols import folds_of_nodes, largest, symbols_of_nodes
from hlo_lsp.memory.oom_join import JoinedMessage, join_message
from hlo_lsp.model.display import Card
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.oom_reader import oom_messages_of
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.oom import oom_report
from hlo_lsp.reports.oom_text import oom_lines
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError

_MAX_COMPARED_DUMPS = 50  # beside a log; the user waits for the comparison


def hover(session: Session, file: DumpFile, params: types.HoverParams) -> types.Hover | None:
    """Return the card at a position."""
    card = message_card(session.workspace, file, *session.client.point(file, params.position))
    if card is None:
        return None
    kind, render = (
        (types.MarkupKind.Markdown, markdown)
        if session.client.can_render_markdown
        else (types.MarkupKind.PlainText, plain)
    )
    uri_of = SourceFiles(session.settings.source_map).uri
    return types.Hover(types.MarkupContent(kind, render(card, uri_of)))


def definition(
    session: Session, file: DumpFile, params: types.DefinitionParams
) -> list[types.Location]:
    """Return the instruction and the value of the buffer at a position."""
    line = session.client.point(file, params.position)[0]
    places = message_definitions(session.workspace, file, line)
    return [session.client.location(place) for place in places]


def document_links(session: Session, file: DumpFile, _: types.DocumentLinkParams) -> list[Json]:
    """Return a link for each Python line whose file is on this machine."""
    sources = SourceFiles(session.settings.source_map)
    links: list[Json] = []
    for link in message_links(session.workspace, file):
        target = sources.uri(link.source)
        if target is not None:
            place = Place(file, link.line, link.start, link.end)
            links.append({"range": session.client.place_range_json(place), "target": target})
    return links


def document_symbols(session: Session, file: DumpFile, _: types.DocumentSymbolParams) -> list[Json]:
    """Return the messages with the buffers that they list."""
    nodes = oom_outline(file.lines, oom_messages_of(file))
    return symbols_of_nodes(session.client, file, nodes)


def folding_ranges(session: Session, file: DumpFile, _: types.FoldingRangeParams) -> list[Json]:
    """Return the messages, lists, and buffers with more than one line."""
    folds = folds_of_nodes(oom_outline(file.lines, oom_messages_of(file)))
    return largest(folds, session.client.max_folding_ranges)


def message_card(workspace: DumpWorkspace, file: DumpFile, line: int, column: int) -> Card | None:
    """Return the hover of a shape, a size, a listed buffer, or of the whole message."""
    messages = joined_messages(workspace, file)
    return oom_card(file.lines[line], line, column, messages) or _report_card(messages, line)


def message_definitions(workspace: DumpWorkspace, file: DumpFile, line: int) -> list[Place]:
    """Return the instruction and the value of the buffer that a line lists."""
    return list(oom_definitions(joined_messages(workspace, file), line))


def message_links(workspace: DumpWorkspace, file: DumpFile) -> list[SourceLink]:
    """Return the Python lines of the listed buffers."""
    return list(oom_links(file.lines, joined_messages(workspace, file)))


def joined_messages(workspace: DumpWorkspace, file: DumpFile) -> list[JoinedMessage]:
    """Return the messages in a text, joined with their dumps."""
    name = None if file.path is None else DumpName.of(file.path.name)
    module = None if name is None else name.module_name
    return [
        join_message(message, _dumps(workspace, file.path, message.module or module), module)
        for message in oom_messages_of(file)
    ]


def _report_card(messages: list[JoinedMessage], line: int) -> Card | None:
    """Return the explanation of the last message that begins before a line."""
    before = [joined for joined in messages if joined.message.first <= line]
    if not before:
        return None
    title, *lines = oom_lines(oom_report(before[-1]))
    return Card(title, text="\n\n".join(text.strip() for text in lines))


def _dumps(workspace: DumpWorkspace, path: Path | None, module: str | None) -> Iterator[DumpSet]:
    """Yield the dumps beside a text, those of a module first, then the open ones."""
    beside: list[Path] = []
    if path is not None:
        try:
            names = sorted(path.parent.iterdir())
        except OSError:
            names = []
        beside = [one for one in names if suffix_of(one.name).role is FileRole.ASSIGNMENT]
    if module is not None:
        beside.sort(key=lambda one: module not in one.name)
    for one in beside[:_MAX_COMPARED_DUMPS]:
        checkpoint()
        try:
            yield workspace.set_of(workspace.file(one))
        except UnreadableError:
            continue
    for opened in list(workspace.open_files.values()):
        if opened.kind.has_records:
            yield workspace.set_of(opened)
