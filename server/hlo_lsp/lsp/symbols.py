"""textDocument/documentSymbol."""

from collections.abc import Iterator

from lsprotocol import types

from hlo_lsp.ide.cursor.targets import name_columns
from hlo_lsp.ide.navigation.outline import Node, NodeKind, comment_blocks, outline, walk
from hlo_lsp.ide.navigation.selection import Extent, selections
from hlo_lsp.lsp.positions import LONG, Json, lines_range, name_range
from hlo_lsp.lsp.scheduling import steadily
from hlo_lsp.lsp.session import Asked, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.stdout_dump import Part
from hlo_lsp.syntax.module_records import TableLabel
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


async def selection_ranges(
    session: Session, params: types.SelectionRangeParams
) -> list[Json] | None:
    """What may be selected around each position; nothing there where no dump is."""
    found: list[Json] = []
    knows = False
    for position in params.positions:
        asked = await session.ask(params.text_document, position.line)
        knows = knows or asked is not None
        found.append(_nothing(position) if asked is None else _selection(asked, position))
    return found if knows else None


def _selection(asked: Asked, position: types.Position) -> Json:
    selection: Json = {}
    for extent in reversed(selections(asked.file, *asked.convert.column(asked.file, position))):
        selection = {"range": _range(asked, extent), **({"parent": selection} if selection else {})}
    return selection


def _range(asked: Asked, extent: Extent) -> Json:
    units, file = asked.convert.encoding.units, asked.file
    start, end = (
        {"line": file.first_line + line, "character": units(file.lines[line], column)}
        for line, column in extent
    )
    return {"start": start, "end": end}


def _nothing(position: types.Position) -> Json:
    place = {"line": position.line, "character": position.character}
    return {"range": {"start": place, "end": place}}
