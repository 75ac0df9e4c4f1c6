"""textDocument/completion and completionItem/resolve."""

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from hlo_lsp.ide.completion.candidates import Candidate, Kind, Offer
from hlo_lsp.ide.completion.completion import beginnings, completions
from hlo_lsp.ide.completion.names import explanation
from hlo_lsp.ide.completion.signatures import Parameter, Signature, signature_at
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.positions import Converter
from hlo_lsp.lsp.session import Asked, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

COMPLETION_OPTIONS = types.CompletionOptions(
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
    return _list(_Form(asked.client, asked.convert, asked.file, line, column), offer)


def first_words(session: Session, params: types.CompletionParams) -> types.CompletionList | None:
    """What a new file may begin with: it is no dump yet, so that nobody else knows it."""
    file = session.library.open_files.get(params.text_document.uri)
    if file is None:
        return None
    line, column = session.convert.column(file, params.position)
    offer = beginnings(file, line, column)
    if offer is None:
        return None
    return _list(_Form(session.client, session.convert, file, line, column), offer)


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


@dataclass(frozen=True, slots=True)
class _Form:
    """For whom and for which place items are made."""

    client: Client
    convert: Converter
    file: DumpFile
    line: int
    column: int

    def range(self, start: int, end: int) -> types.Range:
        """A part of the cursor's line."""
        return self.convert.range(Place(self.file, self.line, start, end))


def _list(form: _Form, offer: Offer) -> types.CompletionList:
    items = [_item(form, offer, number) for number in range(len(offer.candidates))]
    return types.CompletionList(is_incomplete=not offer.complete, items=items)


def _item(form: _Form, offer: Offer, number: int) -> types.CompletionItem:
    candidate, client = offer.candidates[number], form.client
    line = form.file.lines[form.line]
    behind = line[offer.end :].lstrip()
    text, is_snippet = _text(candidate, behind, snippets=client.takes_snippets)
    inserting = form.range(offer.start, form.column)
    replacing = form.range(offer.start, offer.end)
    edit: types.TextEdit | types.InsertReplaceEdit = (
        types.InsertReplaceEdit(text, inserting, replacing)
        if client.inserts_or_replaces
        else types.TextEdit(replacing, text)
    )
    detail = candidate.detail or None
    return types.CompletionItem(
        candidate.label,
        kind=_KINDS[candidate.kind],
        detail=detail,
        label_details=types.CompletionItemLabelDetails(description=detail)
        if detail and client.shows_label_details
        else None,
        sort_text=f"{number:04}",
        filter_text=_filter(candidate, line[offer.start : form.column]),
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


SIGNATURE_OPTIONS = types.SignatureHelpOptions(trigger_characters=["(", ",", "="])


def signature_help(asked: Asked, position: types.Position) -> types.SignatureHelp | None:
    """The operands or attributes of the opcode that is being written."""
    line, column = asked.convert.column(asked.file, position)
    found = signature_at(asked.file, line, column)
    if found is None:
        return None
    parameters = [_parameter(asked, found, parameter) for parameter in found.parameters]
    information = types.SignatureInformation(
        found.label, _signatures_text(asked, found.text), parameters
    )
    return types.SignatureHelp([information], active_signature=0, active_parameter=found.active)


def _parameter(
    asked: Asked, signature: Signature, parameter: Parameter
) -> types.ParameterInformation:
    # Names of HLO are ASCII, so that columns are the same in all encodings.
    label = signature.label[parameter.start : parameter.end]
    return types.ParameterInformation(
        (parameter.start, parameter.end) if asked.client.places_parameters else label,
        _signatures_text(asked, parameter.text) if parameter.text else None,
    )


def _signatures_text(asked: Asked, text: str) -> types.MarkupContent | str:
    if asked.client.helps_in_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return text.replace("`", "")
