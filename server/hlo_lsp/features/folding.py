"""textDocument/foldingRange."""

from lsprotocol import types

from hlo_lsp.analysis.outline import outline, walk
from hlo_lsp.features.session import Asked


def folding_ranges(asked: Asked) -> list[types.FoldingRange]:
    """Every part of the outline with more than one line; the largest if the client has a limit."""
    nodes = [node for node in walk(outline(asked.file)) if node.line_count > 1]
    limit = asked.client.folding_limit
    if len(nodes) > limit:
        nodes = sorted(nodes, key=lambda node: -node.line_count)[:limit]
        nodes.sort(key=lambda node: node.line)
    return [
        types.FoldingRange(
            node.line, node.line + node.line_count - 1, kind=types.FoldingRangeKind.Region
        )
        for node in nodes
    ]
