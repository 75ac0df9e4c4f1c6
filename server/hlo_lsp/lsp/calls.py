"""textDocument/prepareCallHierarchy, callHierarchy/incomingCalls and outgoingCalls."""

from lsprotocol import types

from hlo_lsp.ide.navigation import call_hierarchy as calls
from hlo_lsp.ide.navigation.call_hierarchy import CallNode, CallNodeKey
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.module_records import ComputationLine

Item = types.CallHierarchyItem


def prepare(context: RequestContext, position: types.Position) -> list[Item] | None:
    """Return the instruction or computation at the cursor."""
    found = context.at(position)
    node = None if found is None else calls.call_node_at(context.dump, found)
    return None if node is None else [_item(context, node)]


async def incoming(session: Session, item: Item) -> list[types.CallHierarchyIncomingCall] | None:
    """Return the callers of a computation or the operands of an instruction.

    Returns None if the item no longer exists.
    """
    found = await _node(session, item)
    if found is None:
        return None
    context, node = found
    return [
        types.CallHierarchyIncomingCall(_item(context, call.node), _ranges(context, call.places))
        for call in calls.incoming_calls(node)
    ]


async def outgoing(session: Session, item: Item) -> list[types.CallHierarchyOutgoingCall] | None:
    """Return the computations that a computation calls, or the users of an instruction.

    Returns None if the item no longer exists.
    """
    found = await _node(session, item)
    if found is None:
        return None
    context, node = found
    return [
        types.CallHierarchyOutgoingCall(_item(context, call.node), _ranges(context, call.places))
        for call in calls.outgoing_calls(node)
    ]


async def _node(session: Session, item: Item) -> tuple[RequestContext, CallNode] | None:
    """Return the current node of an item.

    The item's data name the file of the request: the module text itself may be closed.
    """
    data = item.data if isinstance(item.data, dict) else {}
    name, home = data.get("name"), data.get("home")
    for uri in (item.uri, data.get("asked")):
        document = types.TextDocumentIdentifier(str(uri))
        context = await session.context(document, item.selection_range.start.line)
        for file in () if context is None else (context.file, *context.dump.files):
            if file.uri == item.uri and isinstance(name, str):
                is_computation = item.kind == types.SymbolKind.Function
                key = CallNodeKey(name, home if isinstance(home, str) else None, is_computation)
                node = calls.find_node(file, key)
                return None if node is None or context is None else (context, node)
    return None


def _item(context: RequestContext, node: CallNode) -> Item:
    place = calls.name_place(node)
    record, key = node.record, calls.node_key(node)
    if isinstance(record, ComputationLine):
        kind, detail = types.SymbolKind.Function, "ENTRY" if record.is_entry else None
    else:
        kind, detail = types.SymbolKind.Variable, f"{record.opcode} {record.shape}".strip()
    selected = context.converter.range(place)
    line, column = calls.node_end(node)
    end = context.converter.position(node.file, line, column)
    start = types.Position(selected.start.line, 0)
    return Item(
        name=key.name,
        kind=kind,
        uri=node.file.uri,
        range=types.Range(start, max(end, selected.end)),
        selection_range=selected,
        detail=detail,
        data={"name": key.name, "home": key.home, "asked": context.file.uri},
    )


def _ranges(context: RequestContext, places: tuple[Place, ...]) -> list[types.Range]:
    return [context.converter.range(place) for place in places]
