"""textDocument/documentSymbol, foldingRange, and selectionRange."""

from collections.abc import Iterator

from lsprotocol import types

from hlo_lsp.ide.cursor.targets import name_columns
from hlo_lsp.ide.navigation.outline import (
    OutlineNode,
    OutlineNodeKind,
    comment_blocks,
    outline,
    walk_nodes,
)
from hlo_lsp.ide.navigation.selection import TextExtent, selection_extents
from hlo_lsp.lsp.positions import MAX_FULL_ANSWER_LINES, Json, lines_range, name_range
from hlo_lsp.lsp.scheduling import run_on_compile
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.syntax.module_records import TableLabel
from hlo_lsp.text.checkpoint import checkpoint

_SYMBOLS_PER_CHECKPOINT = 500

_KINDS = {
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
}


async def document_symbols(context: RequestContext) -> list[Json]:
    """Return the outline, as a list for a client without support for trees.

    For a long text it has only computations and sections: 100,000 instructions are 26 MB of JSON.
    The outline of a section of a stdout dump is inside a symbol with the section's name.
    """
    found = await run_on_compile(context.dump, lambda: _all_symbols(context))
    return (
        _in_section(context, context.file, found)
        if isinstance(context.file, SectionFile)
        else found
    )


def _all_symbols(context: RequestContext) -> list[Json]:
    is_long = len(context.file.lines) > MAX_FULL_ANSWER_LINES
    nodes = outline(context.file, heads_only=is_long)
    top: list[Json] = []
    for count, (node, siblings) in enumerate(
        _nodes_with_siblings(nodes, top, nest=context.client.can_nest_symbols)
    ):
        siblings.append(_symbol(context, node))
        if count % _SYMBOLS_PER_CHECKPOINT == _SYMBOLS_PER_CHECKPOINT - 1:
            checkpoint()
    return top


def _in_section(context: RequestContext, part: SectionFile, inner: list[Json]) -> list[Json]:
    symbol: Json = {"name": part.section.name, "kind": types.SymbolKind.File.value}
    if not context.client.can_nest_symbols:
        place = lines_range(context.converter, part, 0, 1)
        return [{**symbol, "location": {"uri": part.uri, "range": place}}, *inner]
    symbol["range"] = lines_range(context.converter, part, 0, len(part.lines))
    symbol["selectionRange"] = lines_range(context.converter, part, 0, 1)
    return [{**symbol, "children": inner}]


def _nodes_with_siblings(
    nodes: list[OutlineNode], siblings: list[Json], *, nest: bool
) -> Iterator[tuple[OutlineNode, list[Json]]]:
    """Yield each node with the list for its symbol: that of its parent, or one list for all."""
    for node in nodes:
        yield node, siblings
        if node.children:
            inner = siblings
            if nest:
                inner = siblings[-1]["children"] = []
            yield from _nodes_with_siblings(node.children, inner, nest=nest)


def _symbol(context: RequestContext, node: OutlineNode) -> Json:
    symbol: Json = {"name": node.name, "kind": _KINDS[node.kind].value}
    name = _name(context, node)
    if not context.client.can_nest_symbols:
        symbol["location"] = {"uri": context.file.uri, "range": name}
        return symbol
    symbol["range"] = lines_range(context.converter, context.file, node.line, node.line_count)
    symbol["selectionRange"] = name
    if node.detail:
        symbol["detail"] = node.detail
    return symbol


def _name(context: RequestContext, node: OutlineNode) -> Json:
    columns = name_columns(node.record, context.file.lines[node.line])
    return name_range(context.converter, context.file, node.line, columns)


async def folding_ranges(context: RequestContext) -> list[Json]:
    """Return each part of the outline with more than one line, limited to the client's maximum.

    Tables of source locations have the kind of imports, which editors can fold first. A section of
    a stdout dump is folded with its delimiter lines.
    """
    file = context.file
    folds = await run_on_compile(context.dump, lambda: _folds(file))
    if isinstance(file, SectionFile):
        first = file.first_line
        end = first + file.section.count - (not file.section.is_whole)
        folds.insert(0, _fold(first - 1, end, types.FoldingRangeKind.Region))
    return largest(folds, context.client.max_folding_ranges)


def _folds(file: DumpFile) -> list[Json]:
    first = file.first_line
    folds = []
    for node in walk_nodes(outline(file, heads_only=True)):
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
    """Return the largest ranges up to a limit, in their order."""
    if len(folds) <= limit:
        return folds
    chosen = sorted(folds, key=lambda fold: fold["startLine"] - fold["endLine"])[:limit]
    return sorted(chosen, key=_order)


def _order(fold: Json) -> tuple[int, int]:
    return fold["startLine"], -fold["endLine"]


def _fold(first: int, last: int, kind: types.FoldingRangeKind) -> Json:
    return {"startLine": first, "endLine": last, "kind": kind.value}


async def selection_ranges(
    session: Session, params: types.SelectionRangeParams
) -> list[Json] | None:
    """Return the nested ranges around each position, or None if the text is not a dump."""
    found: list[Json] = []
    has_dump = False
    for position in params.positions:
        context = await session.context(params.text_document, position.line)
        has_dump = has_dump or context is not None
        found.append(
            _empty_selection(position) if context is None else _selection(context, position)
        )
    return found if has_dump else None


def _selection(context: RequestContext, position: types.Position) -> Json:
    selection: Json = {}
    for extent in reversed(
        selection_extents(context.file, *context.converter.column(context.file, position))
    ):
        selection = {
            "range": _range(context, extent),
            **({"parent": selection} if selection else {}),
        }
    return selection


def _range(context: RequestContext, extent: TextExtent) -> Json:
    units, file = context.converter.encoding.units, context.file
    start, end = (
        {"line": file.first_line + line, "character": units(file.lines[line], column)}
        for line, column in extent
    )
    return {"start": start, "end": end}


def _empty_selection(position: types.Position) -> Json:
    place = {"line": position.line, "character": position.character}
    return {"range": {"start": place, "end": place}}
