"""textDocument/completion and completionItem/resolve."""

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from hlo_lsp.ide.completion.candidates import (
    Candidate,
    CandidateKind,
    CandidateList,
    candidate_documentation,
)
from hlo_lsp.ide.completion.completion import completions, file_start_completions
from hlo_lsp.ide.completion.signatures import OpcodeSignature, SignatureParameter, signature_at
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.positions import Converter
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

COMPLETION_OPTIONS = types.CompletionOptions(
    trigger_characters=["%", "(", ",", " ", "=", "{"], resolve_provider=True
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
    line, column = context.converter.column(context.file, params.position)
    trigger = (params.context and params.context.trigger_character) or ""
    offer = completions(context.file, line, column, trigger)
    if offer is None:
        return None
    return _list(_ItemFactory(context.client, context.converter, context.file, line, column), offer)


def empty_file_completion(
    session: Session, params: types.CompletionParams
) -> types.CompletionList | None:
    """Return completions for the first line of a new file, which has no dump kind yet."""
    file = session.workspace.open_files.get(params.text_document.uri)
    if file is None:
        return None
    line, column = session.converter.column(file, params.position)
    offer = file_start_completions(file, line, column)
    if offer is None:
        return None
    return _list(_ItemFactory(session.client, session.converter, file, line, column), offer)


def resolve(context: RequestContext | None, item: types.CompletionItem) -> types.CompletionItem:
    """Add the documentation to a completion item."""
    about: Any = item.data.get("about") if isinstance(item.data, dict) else None
    if context is None or not isinstance(about, list) or len(about) != 2:
        return item
    text = candidate_documentation(context.file, (str(about[0]), str(about[1])))
    if text:
        markdown = context.client.can_complete_in_markdown
        item.documentation = (
            types.MarkupContent(types.MarkupKind.Markdown, text)
            if markdown
            else text.replace("`", "")
        )
    return item


@dataclass(frozen=True, slots=True)
class _ItemFactory:
    """The client and the position for which completion items are made."""

    client: Client
    converter: Converter
    file: DumpFile
    line: int
    column: int

    def range(self, start: int, end: int) -> types.Range:
        """Return a range in the line of the cursor."""
        return self.converter.range(Place(self.file, self.line, start, end))


def _list(form: _ItemFactory, offer: CandidateList) -> types.CompletionList:
    items = [_item(form, offer, number) for number in range(len(offer.candidates))]
    return types.CompletionList(is_incomplete=not offer.complete, items=items)


def _item(form: _ItemFactory, offer: CandidateList, number: int) -> types.CompletionItem:
    candidate, client = offer.candidates[number], form.client
    line = form.file.lines[form.line]
    following = line[offer.end :].lstrip()
    text, is_snippet = _text(candidate, following, snippets=client.can_insert_snippets)
    inserting = form.range(offer.start, form.column)
    replacing = form.range(offer.start, offer.end)
    edit: types.TextEdit | types.InsertReplaceEdit = (
        types.InsertReplaceEdit(text, inserting, replacing)
        if client.can_insert_or_replace
        else types.TextEdit(replacing, text)
    )
    detail = candidate.detail or None
    return types.CompletionItem(
        candidate.label,
        kind=_KINDS[candidate.kind],
        detail=detail,
        label_details=types.CompletionItemLabelDetails(description=detail)
        if detail and client.can_show_label_details
        else None,
        sort_text=f"{number:04}",
        filter_text=_filter_text(candidate, line[offer.start : form.column]),
        insert_text_format=types.InsertTextFormat.Snippet
        if is_snippet
        else types.InsertTextFormat.PlainText,
        text_edit=edit,
        data={
            "uri": form.file.uri,
            "line": form.file.first_line + form.line,
            "about": list(candidate.about),
        }
        if candidate.about
        else None,
    )


def _text(candidate: Candidate, following: str, *, snippets: bool) -> tuple[str, bool]:
    """Return the text to insert, and True if it is a snippet.

    Only the label is inserted where its continuation is already in the line.
    """
    closing = {CandidateKind.OPCODE: "(", CandidateKind.TYPE: "["}.get(candidate.kind, "=")
    if following.startswith(closing):
        return candidate.label, False
    if snippets and candidate.snippet is not None:
        return candidate.snippet, True
    return candidate.insert, False


def _filter_text(candidate: Candidate, typed: str) -> str:
    """Return the text that editors match with the typed word; with ``%`` if the word has it."""
    plain = candidate.label.removeprefix("%")
    return f"%{plain}" if typed.startswith("%") else plain


SIGNATURE_OPTIONS = types.SignatureHelpOptions(trigger_characters=["(", ",", "="])


def signature_help(context: RequestContext, position: types.Position) -> types.SignatureHelp | None:
    """Return the operands or attributes of the opcode at the cursor."""
    line, column = context.converter.column(context.file, position)
    found = signature_at(context.file, line, column)
    if found is None:
        return None
    parameters = [_parameter(context, found, parameter) for parameter in found.parameters]
    information = types.SignatureInformation(found.label, _markup(context, found.text), parameters)
    return types.SignatureHelp([information], active_signature=0, active_parameter=found.active)


def _parameter(
    context: RequestContext, signature: OpcodeSignature, parameter: SignatureParameter
) -> types.ParameterInformation:
    # HLO names are ASCII, so columns are the same in all encodings.
    label = signature.label[parameter.start : parameter.end]
    return types.ParameterInformation(
        (parameter.start, parameter.end) if context.client.has_parameter_offsets else label,
        _markup(context, parameter.text) if parameter.text else None,
    )


def _markup(context: RequestContext, text: str) -> types.MarkupContent | str:
    if context.client.can_show_signatures_in_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return text.replace("`", "")
