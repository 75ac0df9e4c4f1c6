"""textDocument/foldingRange."""

from lsprotocol import types

from hlo_lsp.analysis.cursor.comments import comment_blocks
from hlo_lsp.analysis.cursor.outline import outline, walk
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json
from hlo_lsp.model.bundle import Part
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import TableLabel


async def folding_ranges(asked: Asked) -> list[Json]:
    """Every part of the outline with more than one line; the largest if the client has a limit.

    The tables of source locations are of the kind that editors know as imports: what a reader wants
    out of the way first. A section of a longer text is folded with the lines that begin and end it.
    """
    file = asked.file
    folds = await steadily(asked.dump, lambda: _folds(file))
    if isinstance(file, Part):
        first = file.first_line
        end = first + file.section.count - (not file.section.is_whole)
        folds.insert(0, _fold(first - 1, end, types.FoldingRangeKind.Region))
    return largest(folds, asked.client.folding_limit)


def _folds(file: DumpFile) -> list[Json]:
    first = file.first_line
    folds = []
    for node in walk(outline(file, heads_only=True)):
        if node.line_count > 1:
            is_table = isinstance(node.record, TableLabel)
            kind = types.FoldingRangeKind.Imports if is_table else types.FoldingRangeKind.Region
            folds.append(_fold(first + node.line, first + node.line + node.line_count - 1, kind))
    comments = comment_blocks(file)
    folds += [
        _fold(first + start, first + end, types.FoldingRangeKind.Comment)
        for start, end in comments
        if start < end
    ]
    return sorted(folds, key=_order)


def largest(folds: list[Json], limit: int) -> list[Json]:
    """So many folds at most, in their order."""
    if len(folds) <= limit:
        return folds
    chosen = sorted(folds, key=lambda fold: fold["startLine"] - fold["endLine"])[:limit]
    return sorted(chosen, key=_order)


def _order(fold: Json) -> tuple[int, int]:
    return fold["startLine"], -fold["endLine"]


def _fold(first: int, last: int, kind: types.FoldingRangeKind) -> Json:
    return {"startLine": first, "endLine": last, "kind": kind.value}
