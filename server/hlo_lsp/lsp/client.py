"""What the client can do, resolved once."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from hlo_lsp.text.document import Encoding

SHOW_PLACES = "hlo.showPlaces"  # a command of the client: a document, a position, locations
_DEFAULT_FOLDING_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class Client:
    """Capabilities of the client as flags with readable names."""

    encoding: Encoding = Encoding.UTF16
    reads_markdown: bool = True
    nests_symbols: bool = True
    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    wants_lens_texts: bool = False
    shows_places: bool = False
    shows_related: bool = True
    shows_rule_links: bool = True
    fades_unnecessary: bool = True
    folding_limit: int = _DEFAULT_FOLDING_LIMIT
    takes_snippets: bool = False
    inserts_or_replaces: bool = False
    shows_label_details: bool = False
    completes_markdown: bool = False
    helps_in_markdown: bool = False
    places_parameters: bool = False
    versions_edits: bool = False
    creates_files: bool = False
    applies_edits: bool = False
    takes_code_actions: bool = False
    prefers_actions: bool = False
    resolves_edits: bool = False
    shows_documents: bool = False
    refreshes_tokens: bool = False
    refreshes_hints: bool = False
    refreshes_lenses: bool = False

    @classmethod
    def of(
        cls, capabilities: types.ClientCapabilities, encoding: str, options: object = None
    ) -> "Client":
        """Read from what the client said at initialization and the encoding agreed on.

        ``options`` are the initialization options. ``{"lensTexts": "at once"}`` is for clients
        that would otherwise ask for the text of every lens of a file, one by one.
        ``{"commands": [...]}`` names commands of the client that it runs for the server.
        """
        document = capabilities.text_document or types.TextDocumentClientCapabilities()
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        hover, symbols, folding = document.hover, document.document_symbol, document.folding_range
        # Up to 3.17 the flags of the first count for diagnostics that are pulled, too.
        told = [each for each in (document.publish_diagnostics, document.diagnostic) if each]
        window = capabilities.window or types.WindowClientCapabilities()
        edits = workspace.workspace_edit
        action, shown = document.code_action, window.show_document
        item = document.completion and document.completion.completion_item
        signature = document.signature_help and document.signature_help.signature_information
        parameter = signature and signature.parameter_information
        formats = (hover and hover.content_format) or [types.MarkupKind.PlainText]
        return cls(
            encoding=Encoding(str(getattr(encoding, "value", encoding))),
            reads_markdown=types.MarkupKind.Markdown in formats,
            nests_symbols=bool(symbols and symbols.hierarchical_document_symbol_support),
            pulls_diagnostics=document.diagnostic is not None,
            refreshes_diagnostics=bool(
                workspace.diagnostics and workspace.diagnostics.refresh_support
            ),
            wants_lens_texts=isinstance(options, dict) and options.get("lensTexts") == "at once",
            shows_places=SHOW_PLACES in _commands(options),
            shows_related=any(each.related_information for each in told),
            shows_rule_links=any(each.code_description_support for each in told),
            fades_unnecessary=any(
                each.tag_support and types.DiagnosticTag.Unnecessary in each.tag_support.value_set
                for each in told
            ),
            folding_limit=(folding and folding.range_limit) or _DEFAULT_FOLDING_LIMIT,
            takes_snippets=bool(item and item.snippet_support),
            inserts_or_replaces=bool(item and item.insert_replace_support),
            shows_label_details=bool(item and item.label_details_support),
            completes_markdown=bool(item and _reads_markdown(item.documentation_format)),
            helps_in_markdown=bool(signature and _reads_markdown(signature.documentation_format)),
            places_parameters=bool(parameter and parameter.label_offset_support),
            versions_edits=bool(edits and edits.document_changes),
            creates_files=bool(
                edits
                and edits.document_changes
                and types.ResourceOperationKind.Create in (edits.resource_operations or ())
            ),
            applies_edits=bool(workspace.apply_edit),
            takes_code_actions=bool(action and action.code_action_literal_support),
            prefers_actions=bool(action and action.is_preferred_support),
            resolves_edits=bool(
                action
                and action.data_support
                and action.resolve_support
                and "edit" in action.resolve_support.properties
            ),
            shows_documents=bool(shown and shown.support),
            refreshes_tokens=bool(
                workspace.semantic_tokens and workspace.semantic_tokens.refresh_support
            ),
            refreshes_hints=bool(workspace.inlay_hint and workspace.inlay_hint.refresh_support),
            refreshes_lenses=bool(workspace.code_lens and workspace.code_lens.refresh_support),
        )


def _reads_markdown(formats: Sequence[types.MarkupKind] | None) -> bool:
    return types.MarkupKind.Markdown in (formats or ())


def _commands(options: object) -> Sequence[object]:
    named = options.get("commands") if isinstance(options, dict) else None
    return named if isinstance(named, list) else ()
