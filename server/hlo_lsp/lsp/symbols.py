"""textDocument/documentSymbol, foldingRange, and selectionRange."""

from collections.abc import Iterable
from functools import partial

from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.ide.navigation.outline import (
    OutlineNode,
    OutlineNodeKind,
    comment_blocks,
    outline,
    walk_nodes,
)
from hlo_lsp.ide.navigation.selection import selection_extents
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Client, Json
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import name_columns
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.syntax.module_records import TableLabel
from hlo_lsp.text.inert import printable

_KINDS = {
    OutlineNodeKind.FILE: types.SymbolKind.File,
    OutlineNodeKind.SECTION: types.SymbolKind.Namespace,
    OutlineNodeKind.ALLOCATION: types.SymbolKind.Array,
    OutlineNodeKind.VALUE: types.SymbolKind.Variable,
    OutlineNodeKind.STEP: types.SymbolKind.Event,
    OutlineNodeKind.LIVE_RANGE: types.SymbolKind.Field,
    OutlineNodeKind.PEAK: types.SymbolKind.Field,
    OutlineNodeKind.SPACE: types.SymbolKind.Namespace,
    OutlineNodeKind.COMPUTATION: types.SymbolKind.Function,
    OutlineNodeKind.INSTRUCTION: types.SymbolKind.Variable,
    OutlineNodeKind.THUNK: types.SymbolKind.Event,
    OutlineNodeKind.MESSAGE: types.SymbolKind.Event,
    OutlineNodeKind.LIST: types.SymbolKind.Namespace,
    OutlineNodeKind.BUFFER: types.SymbolKind.Variable,
}


def document_symbols(context: RequestContext) -> list[Json]:
    """Return the outline, as a list for a client without support for trees.

    For a long text it has only computations and sections: 100,000 instructions are 26 MB of JSON.
    The outline of a section of a stdout dump is inside a symbol with the section's name.
    """
    file = context.file
    nodes = outline(file, heads_only=len(file.lines) > MAX_FULL_ANSWER_LINES)
    if isinstance(file, SectionFile):
        name, line_count = file.section.name, len(file.lines)
        nodes = [OutlineNode(OutlineNodeKind.FILE, name, "", 0, line_count, children=nodes)]
    return symbols_of_nodes(context.client, file, nodes)


def symbols_of_nodes(client: Client, file: DumpFile, nodes: Iterable[OutlineNode]) -> list[Json]:
    """Return symbols for nodes, as a list for a client without support for trees."""
    found: list[Json] = []
    for node in nodes:
        checkpoint()
        text = file.lines[node.line]
        start, end = (0, len(text)) if node.record is None else name_columns(node.record, text)
        name = client.range_json(file, (node.line, start), (node.line, end))
        symbol: Json = {"name": printable(node.name), "kind": _KINDS[node.kind].value}
        inner = symbols_of_nodes(client, file, node.children)
        if not client.can_nest_symbols:
            symbol["location"] = {"uri": file.uri, "range": name}
            found += [symbol, *inner]
            continue
        symbol["range"] = client.lines_range(file, node.line, node.line_count)
        symbol["selectionRange"] = name
        if node.detail:
            symbol["detail"] = printable(node.detail)
        if inner:
            symbol["children"] = inner
        found.append(symbol)
    return found


def folding_ranges(context: RequestContext) -> list[Json]:
    """Return each part of the outline with more than one line, limited to the client's maximum.

    Tables of source locations have the kind of imports, which editors can fold first. A section of
    a stdout dump is folded with its delimiter lines.
    """
    file = context.file
    folds = _folds(file)
    if isinstance(file, SectionFile):
        first = file.first_line
        end = first + file.section.count - (not file.section.is_whole)
        folds.insert(0, fold(first - 1, end, types.FoldingRangeKind.Region))
    return largest(folds, context.client.max_folding_ranges)


def _folds(file: DumpFile) -> list[Json]:
    first = file.first_line
    folds = folds_of_nodes(outline(file, heads_only=True), first)
    comments = comment_blocks(file)
    folds += [
        fold(first + start, first + end, types.FoldingRangeKind.Comment)
        for start, end in comments
        if start < end
    ]
    return sorted(folds, key=_order)


def folds_of_nodes(nodes: list[OutlineNode], first: int = 0) -> list[Json]:
    """Return a folding range for each node with several lines; ``first`` is added to them."""
    folds = []
    for node in walk_nodes(nodes):
        if node.line_count > 1:
            is_table = isinstance(node.record, TableLabel)
            kind = types.FoldingRangeKind.Imports if is_table else types.FoldingRangeKind.Region
            folds.append(fold(first + node.line, first + node.line + node.line_count - 1, kind))
    return folds


def largest(folds: list[Json], limit: int) -> list[Json]:
    """Return the largest ranges up to a limit, in their order."""
    if len(folds) <= limit:
        return folds
    chosen = sorted(folds, key=lambda fold: fold["startLine"] - fold["endLine"])[:limit]
    return sorted(chosen, key=_order)


def _order(fold: Json) -> tuple[int, int]:
    return fold["startLine"], -fold["endLine"]


def fold(first: int, last: int, kind: types.FoldingRangeKind) -> Json:
    """Return a folding range from a line to another."""
    return {"startLine": first, "endLine": last, "kind": kind.value}


async def selection_ranges(
    session: Session, params: types.SelectionRangeParams
) -> list[Json] | None:
    """Return the nested ranges around each position, or None if the text is not a dump."""
    found: list[Json] = []
    has_dump = False
    for position in params.positions:
        reply = partial(_selection, position=position)
        selections = await session.answer_at(params.text_document, position.line, None, reply)
        has_dump = has_dump or bool(selections)
        place = {"line": position.line, "character": position.character}
        found += selections or [{"range": {"start": place, "end": place}}]
    return found if has_dump else None


def _selection(context: RequestContext, position: types.Position) -> Json:
    selection: Json = {}
    point = context.client.point(context.file, position)
    for extent in reversed(selection_extents(context.file, *point)):
        parent = {"parent": selection} if selection else {}
        selection = {"range": context.client.range_json(context.file, *extent), **parent}
    return selection
