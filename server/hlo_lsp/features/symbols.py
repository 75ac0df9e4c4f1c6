"""textDocument/documentSymbol."""

from lsprotocol import types

from hlo_lsp.analysis.navigation import name_columns
from hlo_lsp.analysis.outline import Node, NodeKind, outline, walk
from hlo_lsp.features.session import Asked, run
from hlo_lsp.features.wire import Json, lines_range, name_range

_KINDS = {
    NodeKind.SECTION: types.SymbolKind.Namespace,
    NodeKind.ALLOCATION: types.SymbolKind.Array,
    NodeKind.VALUE: types.SymbolKind.Variable,
    NodeKind.STEP: types.SymbolKind.Event,
    NodeKind.LIVE_RANGE: types.SymbolKind.Field,
    NodeKind.PEAK: types.SymbolKind.Field,
    NodeKind.SPACE: types.SymbolKind.Namespace,
    NodeKind.COMPUTATION: types.SymbolKind.Function,
    NodeKind.INSTRUCTION: types.SymbolKind.Variable,
    NodeKind.THUNK: types.SymbolKind.Event,
}


async def document_symbols(asked: Asked) -> list[Json]:
    """The outline as a tree, or as a list for a client that knows no trees."""
    nodes = await run(outline(asked.file))
    if asked.client.nests_symbols:
        return [_symbol(asked, node) for node in nodes]
    return [
        {
            "name": node.name,
            "kind": _KINDS[node.kind].value,
            "location": {"uri": asked.file.uri, "range": _name(asked, node)},
        }
        for node in walk(nodes)
    ]


def _symbol(asked: Asked, node: Node) -> Json:
    symbol: Json = {
        "name": node.name,
        "kind": _KINDS[node.kind].value,
        "range": lines_range(asked.convert, asked.file, node.line, node.line_count),
        "selectionRange": _name(asked, node),
    }
    if node.detail:
        symbol["detail"] = node.detail
    if node.children:
        symbol["children"] = [_symbol(asked, child) for child in node.children]
    return symbol


def _name(asked: Asked, node: Node) -> Json:
    columns = name_columns(node.record, asked.file.lines[node.line])
    return name_range(asked.convert, asked.file, node.line, columns)
