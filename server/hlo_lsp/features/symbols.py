"""textDocument/documentSymbol."""

from collections.abc import Iterator

from lsprotocol import types

from hlo_lsp.analysis.cursor.columns import name_columns
from hlo_lsp.analysis.cursor.outline import Node, NodeKind, outline
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import LONG, Json, lines_range, name_range
from hlo_lsp.model.bundle import Part
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # symbols between two breaths

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
    """The outline as a tree, or as a list for a client that knows no trees.

    Of a long text it is computations and sections alone: 100 000 instructions are 26 MB on the
    wire, and no list to look through. That of a section of a longer text is in a symbol of the
    section's name.
    """
    found = await steadily(asked.dump, lambda: _all_symbols(asked))
    return _in_section(asked, asked.file, found) if isinstance(asked.file, Part) else found


def _all_symbols(asked: Asked) -> list[Json]:
    is_long = len(asked.file.lines) > LONG
    nodes = outline(asked.file, heads_only=is_long)
    top: list[Json] = []
    for count, (node, siblings) in enumerate(_places(nodes, top, nest=asked.client.nests_symbols)):
        siblings.append(_symbol(asked, node))
        if count % _STEP == _STEP - 1:
            checkpoint()
    return top


def _in_section(asked: Asked, part: Part, inner: list[Json]) -> list[Json]:
    symbol: Json = {"name": part.section.name, "kind": types.SymbolKind.File.value}
    if not asked.client.nests_symbols:
        place = lines_range(asked.convert, part, 0, 1)
        return [{**symbol, "location": {"uri": part.uri, "range": place}}, *inner]
    symbol["range"] = lines_range(asked.convert, part, 0, len(part.lines))
    symbol["selectionRange"] = lines_range(asked.convert, part, 0, 1)
    return [{**symbol, "children": inner}]


def _places(
    nodes: list[Node], siblings: list[Json], *, nest: bool
) -> Iterator[tuple[Node, list[Json]]]:
    """Each node, and the list that its symbol goes to: that of its parent, or one for all."""
    for node in nodes:
        yield node, siblings
        if node.children:
            inner = siblings
            if nest:
                inner = siblings[-1]["children"] = []
            yield from _places(node.children, inner, nest=nest)


def _symbol(asked: Asked, node: Node) -> Json:
    symbol: Json = {"name": node.name, "kind": _KINDS[node.kind].value}
    name = _name(asked, node)
    if not asked.client.nests_symbols:
        symbol["location"] = {"uri": asked.file.uri, "range": name}
        return symbol
    symbol["range"] = lines_range(asked.convert, asked.file, node.line, node.line_count)
    symbol["selectionRange"] = name
    if node.detail:
        symbol["detail"] = node.detail
    return symbol


def _name(asked: Asked, node: Node) -> Json:
    columns = name_columns(node.record, asked.file.lines[node.line])
    return name_range(asked.convert, asked.file, node.line, columns)
