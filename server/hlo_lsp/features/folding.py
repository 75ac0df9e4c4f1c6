"""textDocument/foldingRange."""

from hlo_lsp.analysis.cursor.outline import outline, walk
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json
from hlo_lsp.model.bundle import Part


async def folding_ranges(asked: Asked) -> list[Json]:
    """Every part of the outline with more than one line; the largest if the client has a limit.

    A section of a longer text is folded with the lines that begin and end it.
    """
    file = asked.file
    nodes = walk(await steadily(asked.dump, lambda: outline(file)))
    first = file.first_line
    folds = [
        _fold(first + node.line, first + node.line + node.line_count - 1)
        for node in nodes
        if node.line_count > 1
    ]
    if isinstance(file, Part):
        end = first + file.section.count - (not file.section.is_whole)
        folds.insert(0, _fold(first - 1, end))
    return largest(folds, asked.client.folding_limit)


def largest(folds: list[Json], limit: int) -> list[Json]:
    """So many folds at most, in their order."""
    if len(folds) <= limit:
        return folds
    chosen = sorted(folds, key=lambda fold: fold["startLine"] - fold["endLine"])[:limit]
    return sorted(chosen, key=lambda fold: (fold["startLine"], -fold["endLine"]))


def _fold(first: int, last: int) -> Json:
    return {"startLine": first, "endLine": last, "kind": "region"}
