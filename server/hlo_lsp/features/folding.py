"""textDocument/foldingRange."""

from hlo_lsp.analysis.outline import outline, walk
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json


async def folding_ranges(asked: Asked) -> list[Json]:
    """Every part of the outline with more than one line; the largest if the client has a limit."""
    nodes = [
        node
        for node in walk(await steadily(asked.dump, lambda: outline(asked.file)))
        if node.line_count > 1
    ]
    limit = asked.client.folding_limit
    if len(nodes) > limit:
        nodes = sorted(nodes, key=lambda node: -node.line_count)[:limit]
        nodes.sort(key=lambda node: node.line)
    return [
        {"startLine": node.line, "endLine": node.line + node.line_count - 1, "kind": "region"}
        for node in nodes
    ]
