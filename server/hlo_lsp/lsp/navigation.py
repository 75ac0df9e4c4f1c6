"""Definitions, declarations, references, highlights, calls, and links to Python lines."""

from collections.abc import Callable, Iterable

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.navigation import call_hierarchy
from hlo_lsp.ide.navigation import definitions as navigation
from hlo_lsp.ide.navigation.call_hierarchy import CallEdge, CallNode, CallNodeKey
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.ide.navigation.source_links import SourceLink, source_line_at, source_links
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Client, Json
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceFiles, SourceLine
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine


def document_links(context: RequestContext) -> list[Json]:
    """Return a link for each mention of a Python line whose file is on this machine.

    Each link has its target: the target is as long as the data that would resolve it, and Neovim
    drops links without one. In a long module text only the tables of locations have links, because
    100,000 links are 20 MB. "Go to definition" leads to the Python line from everywhere.
    """
    is_long = (
        context.file.kind is FileKind.MODULE and len(context.file.lines) > MAX_FULL_ANSWER_LINES
    )
    found = source_links(context.dump, context.file, in_instructions=not is_long)
    return links_json(context.client, context.file, context.sources, found)


def links_json(
    client: Client, file: DumpFile, sources: SourceFiles, found: Iterable[SourceLink]
) -> list[Json]:
    """Return those links in a file that lead to a Python file on this machine."""
    targets: dict[SourceLine, str | None] = {}
    links: list[Json] = []
    for link in found:
        checkpoint()
        if link.source not in targets:
            targets[link.source] = sources.uri(link.source)
        target = targets[link.source]
        if target is not None:
            place = client.range_json(file, (link.line, link.start), (link.line, link.end))
            links.append({"range": place, "target": target})
    return links


def python_location(context: RequestContext, source: SourceLine) -> types.Location | None:
    """Return the start of a Python line, or None if its file is not on this machine."""
    path = context.sources.resolve(source.file)
    if path is None:
        return None
    start = types.Position(max(source.line - 1, 0), 0)
    return types.Location(path.as_uri(), types.Range(start, start))


Locations = types.Location | list[types.Location] | None


def definition(context: RequestContext, position: types.Position) -> Locations:
    """Return the entry of a value, the line of an instruction, or the file of a Python line.

    A stack frame has both: its row, then the Python line.
    """
    places = _places(context, position, navigation.definitions)
    point = context.client.point(context.file, position)
    return _locations(context, places, source_line_at(context.dump, context.file, *point))


def declaration(context: RequestContext, position: types.Position) -> Locations:
    """Return the allocation line."""
    found = context.at(position)
    place = None if found is None else navigation.declaration(context.dump, found)
    return None if place is None else context.client.location(place)


def type_definition(context: RequestContext, position: types.Position) -> Locations:
    """Return what asks for a collective, a called computation, or the value of an instruction."""
    return _locations(context, _places(context, position, navigation.type_definitions))


def implementation(context: RequestContext, position: types.Position) -> Locations:
    """Return the root of a called computation; in a fusion, the parameter of an operand.

    For an instruction without calls, return its counterparts in the other module texts. The last
    location, also for a value, is the Python line, if its file is on this machine.
    """
    found = context.at(position)
    if found is None:
        return None
    places = navigation.implementations(context.dump, found)
    return _locations(context, places, navigation.innermost_python_line(context.dump, found))


def _places(
    context: RequestContext,
    position: types.Position,
    find: Callable[[Compile, CursorTarget], list[Place]],
) -> list[Place]:
    found = context.at(position)
    return [] if found is None else find(context.dump, found)


def _locations(
    context: RequestContext, places: list[Place], source: SourceLine | None = None
) -> Locations:
    """Return a list only for several locations: every client supports a single location."""
    found = [context.client.location(place) for place in places]
    python = None if source is None else python_location(context, source)
    if python is not None:
        found.append(python)
    return found if len(found) > 1 else next(iter(found), None)


def references(context: RequestContext, params: types.ReferenceParams) -> list[Json] | None:
    """Return all mentions in all files of the compile."""
    found = context.at(params.position)
    if found is None:
        return None
    declared, mentioned = declarations_and_references(context.dump, found)
    is_complete = params.context.include_declaration
    return context.client.locations([*declared, *mentioned] if is_complete else mentioned)


def highlight(context: RequestContext, position: types.Position) -> list[Json] | None:
    """Return the mentions in this file: declarations as writes, others as reads."""
    found = context.at(position)
    if found is None:
        return None
    kinds = (types.DocumentHighlightKind.Write.value, types.DocumentHighlightKind.Read.value)
    groups = zip(kinds, declarations_and_references(context.dump, found), strict=True)
    return [
        {"range": context.client.place_range_json(place), "kind": kind}
        for kind, places in groups
        for place in places
        if place.file is context.file
    ]


CallItem = types.CallHierarchyItem


def prepare_calls(context: RequestContext, position: types.Position) -> list[CallItem] | None:
    """Return the instruction or computation at the cursor."""
    found = context.at(position)
    node = None if found is None else call_hierarchy.call_node_at(context.dump, found)
    return None if node is None else [_call_item(context, node)]


async def incoming_calls(
    session: Session, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall] | None:
    """Return the callers of a computation or the operands of an instruction.

    Returns None if the item no longer exists.
    """
    calls = await _calls(session, params.item, call_hierarchy.incoming_calls)
    return None if calls is None else [types.CallHierarchyIncomingCall(*c) for c in calls]


async def outgoing_calls(
    session: Session, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall] | None:
    """Return the computations that a computation calls, or the users of an instruction.

    Returns None if the item no longer exists.
    """
    calls = await _calls(session, params.item, call_hierarchy.outgoing_calls)
    return None if calls is None else [types.CallHierarchyOutgoingCall(*c) for c in calls]


async def _calls(
    session: Session, item: CallItem, find: Callable[[CallNode], list[CallEdge]]
) -> list[tuple[CallItem, list[types.Range]]] | None:
    """Return the calls of an item.

    The item's data name the file of the request: the module text itself may be closed.
    """
    data = item.data if isinstance(item.data, dict) else {}

    def calls(context: RequestContext) -> list[tuple[CallItem, list[types.Range]]] | None:
        node = _call_node(context, item, data)
        if node is None:
            return None
        return [
            (_call_item(context, call.node), [context.client.range(place) for place in call.places])
            for call in find(node)
        ]

    for uri in (item.uri, data.get("asked")):
        document, line = types.TextDocumentIdentifier(str(uri)), item.selection_range.start.line
        found = await session.answer_at(document, line, None, calls)
        if found and found[0] is not None:
            return found[0]
    return None


def _call_node(context: RequestContext, item: CallItem, data: Json) -> CallNode | None:
    """Return the current node of an item."""
    name, home = data.get("name"), data.get("home")
    for file in (context.file, *context.dump.files):
        if file.uri == item.uri and isinstance(name, str):
            is_computation = item.kind == types.SymbolKind.Function
            key = CallNodeKey(name, home if isinstance(home, str) else None, is_computation)
            return call_hierarchy.find_node(file, key)
    return None


def _call_item(context: RequestContext, node: CallNode) -> CallItem:
    place = node.name_place
    record, key = node.record, call_hierarchy.node_key(node)
    if isinstance(record, ComputationLine):
        kind, detail = types.SymbolKind.Function, "ENTRY" if record.is_entry else None
    else:
        kind, detail = types.SymbolKind.Variable, f"{record.opcode} {record.shape}".strip()
    selected = context.client.range(place)
    end = context.client.position(node.file, call_hierarchy.node_end(node))
    start = types.Position(selected.start.line, 0)
    return CallItem(
        name=key.name,
        kind=kind,
        uri=node.file.uri,
        range=types.Range(start, max(end, selected.end)),
        selection_range=selected,
        detail=detail,
        data={"name": key.name, "home": key.home, "asked": context.file.uri},
    )
