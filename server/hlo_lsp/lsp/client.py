"""Client capabilities as flags."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from hlo_lsp.text.document import Encoding

# A client command; its arguments are a document, a position, and locations.
SHOW_PLACES_COMMAND = "hlo.showPlaces"
_DEFAULT_MAX_FOLDS = 100_000


@dataclass(frozen=True, slots=True)
class Client:
    """The capabilities of the client, read once at initialization."""

    encoding: Encoding = Encoding.UTF16
    can_render_markdown: bool = True
    can_nest_symbols: bool = True
    can_pull_diagnostics: bool = False
    can_refresh_diagnostics: bool = False
    has_eager_lenses: bool = False
    can_show_places: bool = False
    can_show_related: bool = True
    can_link_rules: bool = True
    can_fade_unnecessary: bool = True
    max_folding_ranges: int = _DEFAULT_MAX_FOLDS
    can_insert_snippets: bool = False
    can_insert_or_replace: bool = False
    can_show_label_details: bool = False
    can_complete_in_markdown: bool = False
    can_show_signatures_in_markdown: bool = False
    has_parameter_offsets: bool = False
    can_version_edits: bool = False
    can_create_files: bool = False
    can_apply_edits: bool = False
    can_show_code_actions: bool = False
    can_prefer_actions: bool = False
    can_resolve_edits: bool = False
    can_show_documents: bool = False
    can_refresh_tokens: bool = False
    can_refresh_hints: bool = False
    can_refresh_lenses: bool = False

    @classmethod
    def from_capabilities(
        cls, capabilities: types.ClientCapabilities, encoding: str, options: object = None
    ) -> "Client":
        """Read the capabilities that the client sent at initialization.

        Args:
            capabilities: those of ``initialize``.
            encoding: the position encoding that was negotiated.
            options: the initialization options. ``{"lensTexts": "at once"}`` is for clients
                that would otherwise resolve every lens of a file in a request of its own.
                ``{"commands": [...]}`` names client commands that the server may use.
        """
        document = capabilities.text_document or types.TextDocumentClientCapabilities()
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        hover, symbols, folding = document.hover, document.document_symbol, document.folding_range
        # Up to LSP 3.17, the flags of publishDiagnostics also apply to pulled diagnostics.
        flags = [each for each in (document.publish_diagnostics, document.diagnostic) if each]
        window = capabilities.window or types.WindowClientCapabilities()
        edits = workspace.workspace_edit
        action, show_document = document.code_action, window.show_document
        item = document.completion and document.completion.completion_item
        signature = document.signature_help and document.signature_help.signature_information
        parameter = signature and signature.parameter_information
        formats = (hover and hover.content_format) or [types.MarkupKind.PlainText]
        return cls(
            encoding=Encoding(str(getattr(encoding, "value", encoding))),
            can_render_markdown=types.MarkupKind.Markdown in formats,
            can_nest_symbols=bool(symbols and symbols.hierarchical_document_symbol_support),
            can_pull_diagnostics=document.diagnostic is not None,
            can_refresh_diagnostics=bool(
                workspace.diagnostics and workspace.diagnostics.refresh_support
            ),
            has_eager_lenses=isinstance(options, dict) and options.get("lensTexts") == "at once",
            can_show_places=SHOW_PLACES_COMMAND in _commands(options),
            can_show_related=any(each.related_information for each in flags),
            can_link_rules=any(each.code_description_support for each in flags),
            can_fade_unnecessary=any(
                each.tag_support and types.DiagnosticTag.Unnecessary in each.tag_support.value_set
                for each in flags
            ),
            max_folding_ranges=(folding and folding.range_limit) or _DEFAULT_MAX_FOLDS,
            can_insert_snippets=bool(item and item.snippet_support),
            can_insert_or_replace=bool(item and item.insert_replace_support),
            can_show_label_details=bool(item and item.label_details_support),
            can_complete_in_markdown=bool(item and _reads_markdown(item.documentation_format)),
            can_show_signatures_in_markdown=bool(
                signature and _reads_markdown(signature.documentation_format)
            ),
            has_parameter_offsets=bool(parameter and parameter.label_offset_support),
            can_version_edits=bool(edits and edits.document_changes),
            can_create_files=bool(
                edits
                and edits.document_changes
                and types.ResourceOperationKind.Create in (edits.resource_operations or ())
            ),
            can_apply_edits=bool(workspace.apply_edit),
            can_show_code_actions=bool(action and action.code_action_literal_support),
            can_prefer_actions=bool(action and action.is_preferred_support),
            can_resolve_edits=bool(
                action
                and action.data_support
                and action.resolve_support
                and "edit" in action.resolve_support.properties
            ),
            can_show_documents=bool(show_document and show_document.support),
            can_refresh_tokens=bool(
                workspace.semantic_tokens and workspace.semantic_tokens.refresh_support
            ),
            can_refresh_hints=bool(workspace.inlay_hint and workspace.inlay_hint.refresh_support),
            can_refresh_lenses=bool(workspace.code_lens and workspace.code_lens.refresh_support),
        )


def _reads_markdown(formats: Sequence[types.MarkupKind] | None) -> bool:
    return types.MarkupKind.Markdown in (formats or ())


def _commands(options: object) -> Sequence[object]:
    named = options.get("commands") if isinstance(options, dict) else None
    return named if isinstance(named, list) else ()
