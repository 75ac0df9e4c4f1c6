"""textDocument/documentSymbol."""

from lsprotocol import types

from hlo_lsp.analysis.outline import Node, NodeKind, outline, walk
from hlo_lsp.features.session import Asked
from hlo_lsp.model.place import Place

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


def document_symbols(
    asked: Asked,
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """The outline as a tree, or as a list for a client that knows no trees."""
    nodes = outline(asked.file)
    if asked.client.nests_symbols:
        return [_symbol(asked, node) for node in nodes]
    return [
        types.SymbolInformation(asked.convert.location(_place(asked, node)), node.name, kind)
        for node in walk(nodes)
        for kind in [_KINDS[node.kind]]
    ]


def _symbol(asked: Asked, node: Node) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=node.name,
        kind=_KINDS[node.kind],
        range=asked.convert.lines(asked.file, node.line, node.line_count),
        selection_range=asked.convert.range(_place(asked, node)),
        detail=node.detail or None,
        children=[_symbol(asked, child) for child in node.children] or None,
    )


def _place(asked: Asked, node: Node) -> Place:
    return Place(asked.file, node.line, *node.columns)
