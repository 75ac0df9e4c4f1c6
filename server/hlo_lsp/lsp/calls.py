"""textDocument/prepareCallHierarchy, callHierarchy/incomingCalls and outgoingCalls."""

from lsprotocol import types

from hlo_lsp.ide.navigation import call_hierarchy as calls
from hlo_lsp.ide.navigation.call_hierarchy import Node, NodeKey
from hlo_lsp.lsp.session import Asked, Session
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.module_records import ComputationLine

Item = types.CallHierarchyItem


def prepare(asked: Asked, position: types.Position) -> list[Item] | None:
    """The instruction or computation under the cursor."""
    found = asked.at(position)
    node = None if found is None else calls.node_at(asked.dump, found)
    return None if node is None else [_item(asked, node)]


async def incoming(session: Session, item: Item) -> list[types.CallHierarchyIncomingCall] | None:
    """The callers of a computation, the operands of an instruction; None if it is gone."""
    found = await _node(session, item)
    if found is None:
        return None
    asked, node = found
    return [
        types.CallHierarchyIncomingCall(_item(asked, call.node), _ranges(asked, call.places))
        for call in calls.incoming(node)
    ]


async def outgoing(session: Session, item: Item) -> list[types.CallHierarchyOutgoingCall] | None:
    """What a computation calls, the users of an instruction; None if it is gone."""
    found = await _node(session, item)
    if found is None:
        return None
    asked, node = found
    return [
        types.CallHierarchyOutgoingCall(_item(asked, call.node), _ranges(asked, call.places))
        for call in calls.outgoing(node)
    ]


async def _node(session: Session, item: Item) -> tuple[Asked, Node] | None:
    """What an item stands for now.

    Its data name the file that was asked about: the module text itself need not be open.
    """
    data = item.data if isinstance(item.data, dict) else {}
    name, home = data.get("name"), data.get("home")
    for uri in (item.uri, data.get("asked")):
        document = types.TextDocumentIdentifier(str(uri))
        asked = await session.ask(document, item.selection_range.start.line)
        for file in () if asked is None else (asked.file, *asked.dump.files):
            if file.uri == item.uri and isinstance(name, str):
                is_computation = item.kind == types.SymbolKind.Function
                key = NodeKey(name, home if isinstance(home, str) else None, is_computation)
                node = calls.node_of(file, key)
                return None if node is None or asked is None else (asked, node)
    return None


def _item(asked: Asked, node: Node) -> Item:
    place = calls.name_place(node)
    record, key = node.record, calls.key_of(node)
    if isinstance(record, ComputationLine):
        kind, detail = types.SymbolKind.Function, "ENTRY" if record.is_entry else None
    else:
        kind, detail = types.SymbolKind.Variable, f"{record.opcode} {record.shape}".strip()
    selected = asked.convert.range(place)
    line, column = calls.end_of(node)
    end = asked.convert.position(node.file, line, column)
    start = types.Position(selected.start.line, 0)
    return Item(
        name=key.name,
        kind=kind,
        uri=node.file.uri,
        range=types.Range(start, max(end, selected.end)),
        selection_range=selected,
        detail=detail,
        data={"name": key.name, "home": key.home, "asked": asked.file.uri},
    )


def _ranges(asked: Asked, places: tuple[Place, ...]) -> list[types.Range]:
    return [asked.convert.range(place) for place in places]
