"""textDocument/completion and completionItem/resolve."""

from typing import Any

from lsprotocol import types

from hlo_lsp.ide.completion.candidates import (
    Candidate,
    CandidateKind,
    CandidateList,
    candidate_documentation,
)
from hlo_lsp.ide.completion.completion import completions, file_start_completions
from hlo_lsp.ide.completion.signatures import signature_at
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

COMPLETION_OPTIONS = types.CompletionOptions(
    trigger_characters=["%", "#", "(", ",", " ", "=", "{"], resolve_provider=True
)
_KINDS = {
    CandidateKind.OPCODE: types.CompletionItemKind.Operator,
    CandidateKind.INSTRUCTION: types.CompletionItemKind.Variable,
    CandidateKind.COMPUTATION: types.CompletionItemKind.Function,
    CandidateKind.ATTRIBUTE: types.CompletionItemKind.Property,
    CandidateKind.VALUE: types.CompletionItemKind.EnumMember,
    CandidateKind.KEY: types.CompletionItemKind.Field,
    CandidateKind.TYPE: types.CompletionItemKind.TypeParameter,
    CandidateKind.SHAPE: types.CompletionItemKind.TypeParameter,
    CandidateKind.KEYWORD: types.CompletionItemKind.Keyword,
    CandidateKind.TABLE: types.CompletionItemKind.Struct,
    CandidateKind.EXAMPLE: types.CompletionItemKind.Snippet,
}


def completion(
    context: RequestContext, params: types.CompletionParams
) -> types.CompletionList | None:
    """Return the completions at a position, the most likely first."""
    point = context.client.point(context.file, params.position)
    trigger = (params.context and params.context.trigger_character) or ""
    offer = completions(context.file, *point, trigger)
    return None if offer is None else _list(context.client, context.file, *point, offer)


def empty_file_completion(
    session: Session, params: types.CompletionParams
) -> types.CompletionList | None:
    """Return completions for the first line of a new file, which has no dump kind yet."""
    file = session.workspace.open_files.get(params.text_document.uri)
    if file is None:
        return None
    point = session.client.point(file, params.position)
    offer = file_start_completions(file, *point)
    return None if offer is None else _list(session.client, file, *point, offer)


def resolve(context: RequestContext, item: types.CompletionItem) -> types.CompletionItem:
    """Add the documentation to a completion item."""
    about: Any = item.data.get("about") if isinstance(item.data, dict) else None
    if not isinstance(about, list) or len(about) != 2:
        return item
    text = candidate_documentation(context.file, (str(about[0]), str(about[1])))
    if text:
        item.documentation = _markup(text, context.client.can_complete_in_markdown)
    return item


def _list(
    client: Client, file: DumpFile, line: int, column: int, offer: CandidateList
) -> types.CompletionList:
    text = file.lines[line]
    inserting = client.range(Place(file, line, offer.start, column))
    replacing = client.range(Place(file, line, offer.start, offer.end))

    def item(number: int, candidate: Candidate) -> types.CompletionItem:
        inserted, is_snippet = _text(candidate, text[offer.end :].lstrip(), client)
        detail = candidate.detail or None
        found = types.CompletionItem(
            candidate.label,
            kind=_KINDS[candidate.kind],
            detail=detail,
            sort_text=f"{number:04}",
            filter_text=_filter_text(candidate, text[offer.start : column]),
            insert_text_format=types.InsertTextFormat.Snippet
            if is_snippet
            else types.InsertTextFormat.PlainText,
            text_edit=types.InsertReplaceEdit(inserted, inserting, replacing)
            if client.can_insert_or_replace
            else types.TextEdit(replacing, inserted),
        )
        if detail and client.can_show_label_details:
            found.label_details = types.CompletionItemLabelDetails(description=detail)
        if candidate.about:
            about = list(candidate.about)
            found.data = {"uri": file.uri, "line": file.first_line + line, "about": about}
        return found

    items = [item(number, candidate) for number, candidate in enumerate(offer.candidates)]
    return types.CompletionList(is_incomplete=not offer.complete, items=items)


def _text(candidate: Candidate, following: str, client: Client) -> tuple[str, bool]:
    """Return the text to insert, and True if it is a snippet.

    Only the label is inserted where its continuation is already in the line.
    """
    closing = {CandidateKind.OPCODE: "(", CandidateKind.TYPE: "["}.get(candidate.kind, "=")
    if following.startswith(closing):
        return candidate.label, False
    if client.can_insert_snippets and candidate.snippet is not None:
        return candidate.snippet, True
    return candidate.insert, False


def _filter_text(candidate: Candidate, typed: str) -> str:
    """Return the text that editors match with the typed word; with ``%`` if the word has it."""
    plain = candidate.label.removeprefix("%")
    return f"%{plain}" if typed.startswith("%") else plain


SIGNATURE_OPTIONS = types.SignatureHelpOptions(trigger_characters=["(", ",", "="])


def signature_help(context: RequestContext, position: types.Position) -> types.SignatureHelp | None:
    """Return the operands or attributes of the opcode at the cursor."""
    found = signature_at(context.file, *context.client.point(context.file, position))
    if found is None:
        return None
    is_markdown = context.client.can_show_signatures_in_markdown
    parameters = [
        types.ParameterInformation(
            # HLO names are ASCII, so columns are the same in all encodings.
            (each.start, each.end)
            if context.client.has_parameter_offsets
            else found.label[each.start : each.end],
            _markup(each.text, is_markdown) if each.text else None,
        )
        for each in found.parameters
    ]
    information = types.SignatureInformation(
        found.label, _markup(found.text, is_markdown), parameters
    )
    return types.SignatureHelp([information], active_signature=0, active_parameter=found.active)


def _markup(text: str, is_markdown: bool) -> types.MarkupContent | str:
    if is_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return text.replace("`", "")
