"""textDocument/completion and completionItem/resolve."""

from typing import Any

from lsprotocol import types

from hlo_lsp.analysis.candidates import Candidate, Kind, Offer
from hlo_lsp.analysis.completion import completions
from hlo_lsp.analysis.explanations import explanation
from hlo_lsp.features.session import Asked
from hlo_lsp.model.place import Place

OPTIONS = types.CompletionOptions(
    trigger_characters=["%", "(", ",", " ", "=", "{"], resolve_provider=True
)
_KINDS = {
    Kind.OPCODE: types.CompletionItemKind.Operator,
    Kind.INSTRUCTION: types.CompletionItemKind.Variable,
    Kind.COMPUTATION: types.CompletionItemKind.Function,
    Kind.ATTRIBUTE: types.CompletionItemKind.Property,
    Kind.VALUE: types.CompletionItemKind.EnumMember,
    Kind.KEY: types.CompletionItemKind.Field,
    Kind.TYPE: types.CompletionItemKind.TypeParameter,
    Kind.SHAPE: types.CompletionItemKind.TypeParameter,
    Kind.KEYWORD: types.CompletionItemKind.Keyword,
    Kind.TABLE: types.CompletionItemKind.Struct,
    Kind.EXAMPLE: types.CompletionItemKind.Snippet,
}


def completion(asked: Asked, params: types.CompletionParams) -> types.CompletionList | None:
    """What may be written at a place, the likely first."""
    line, column = asked.convert.column(asked.file, params.position)
    trigger = (params.context and params.context.trigger_character) or ""
    offer = completions(asked.file, line, column, trigger)
    if offer is None:
        return None
    inserting = asked.convert.range(Place(asked.file, line, offer.start, column))
    replacing = asked.convert.range(Place(asked.file, line, offer.start, offer.end))
    behind = asked.file.lines[line][offer.end :].lstrip()
    typed = asked.file.lines[line][offer.start : column]
    items = [
        _item(asked, offer, number, (inserting, replacing), (typed, behind))
        for number in range(len(offer.candidates))
    ]
    return types.CompletionList(is_incomplete=not offer.complete, items=items)


def resolve(asked: Asked | None, item: types.CompletionItem) -> types.CompletionItem:
    """The same item, explained."""
    about: Any = item.data.get("about") if isinstance(item.data, dict) else None
    if asked is None or not isinstance(about, list) or len(about) != 2:
        return item
    text = explanation(asked.file, (str(about[0]), str(about[1])))
    if text:
        markdown = asked.client.completes_markdown
        item.documentation = (
            types.MarkupContent(types.MarkupKind.Markdown, text)
            if markdown
            else text.replace("`", "")
        )
    return item


def _item(
    asked: Asked,
    offer: Offer,
    number: int,
    ranges: tuple[types.Range, types.Range],
    around: tuple[str, str],
) -> types.CompletionItem:
    candidate = offer.candidates[number]
    inserting, replacing = ranges
    text, is_snippet = _text(candidate, around[1], snippets=asked.client.takes_snippets)
    edit: types.TextEdit | types.InsertReplaceEdit = (
        types.InsertReplaceEdit(text, inserting, replacing)
        if asked.client.inserts_or_replaces
        else types.TextEdit(replacing, text)
    )
    return types.CompletionItem(
        candidate.label,
        kind=_KINDS[candidate.kind],
        detail=candidate.detail or None,
        label_details=types.CompletionItemLabelDetails(description=candidate.detail)
        if candidate.detail and asked.client.shows_label_details
        else None,
        sort_text=f"{number:04}",
        filter_text=_filter(candidate, around[0]),
        insert_text_format=types.InsertTextFormat.Snippet
        if is_snippet
        else types.InsertTextFormat.PlainText,
        text_edit=edit,
        data={"uri": asked.file.uri, "about": list(candidate.about)} if candidate.about else None,
    )


def _text(candidate: Candidate, behind: str, *, snippets: bool) -> tuple[str, bool]:
    """What to insert, and whether it is a snippet: only the word where its rest is there."""
    rest = {Kind.OPCODE: "(", Kind.TYPE: "["}.get(candidate.kind, "=")
    if behind.startswith(rest):
        return candidate.label, False
    if snippets and candidate.snippet is not None:
        return candidate.snippet, True
    return candidate.insert, False


def _filter(candidate: Candidate, typed: str) -> str:
    """What editors hold against the typed word: with the sign of names if that has one."""
    plain = candidate.label.removeprefix("%")
    return f"%{plain}" if typed.startswith("%") else plain
