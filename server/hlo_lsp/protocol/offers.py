"""Long work that a client may hear of while it waits: what is offered, and what it is called."""

from typing import Any

from lsprotocol import types

# What is said to be done for a request, and where the server says what it offers of it.
_LONG: tuple[tuple[str, str, str, type[Any]], ...] = (
    (types.WORKSPACE_SYMBOL, "Finding names", "workspace_symbol", types.WorkspaceSymbolOptions),
    (types.WORKSPACE_DIAGNOSTIC, "Checking HLO dumps", "diagnostic", types.DiagnosticOptions),
    (types.TEXT_DOCUMENT_DIAGNOSTIC, "Checking", "diagnostic", types.DiagnosticOptions),
    (types.TEXT_DOCUMENT_REFERENCES, "Finding mentions", "references", types.ReferenceOptions),
    (
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        "Making the outline",
        "document_symbol",
        types.DocumentSymbolOptions,
    ),
    (
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        "Colouring",
        "semantic_tokens",
        types.SemanticTokensOptions,
    ),
    (types.TEXT_DOCUMENT_INLAY_HINT, "Making hints", "inlay_hint", types.InlayHintOptions),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, "Folding", "folding_range", types.FoldingRangeOptions),
    (types.TEXT_DOCUMENT_CODE_LENS, "Making lenses", "code_lens", types.CodeLensOptions),
    (types.TEXT_DOCUMENT_DOCUMENT_LINK, "Linking", "document_link", types.DocumentLinkOptions),
    (
        types.CALL_HIERARCHY_INCOMING_CALLS,
        "Finding calls",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    (
        types.CALL_HIERARCHY_OUTGOING_CALLS,
        "Finding calls",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    (types.TEXT_DOCUMENT_RENAME, "Renaming", "rename", types.RenameOptions),
    (
        types.TEXT_DOCUMENT_FORMATTING,
        "Formatting",
        "document_formatting",
        types.DocumentFormattingOptions,
    ),
    (
        types.WORKSPACE_EXECUTE_COMMAND,
        "Running a command",
        "execute_command",
        types.ExecuteCommandOptions,
    ),
)
_TITLES = {method: title for method, title, _, _ in _LONG}


def title_of(method: str) -> str:
    """What is done for a request, in words."""
    return _TITLES.get(method, "HLO")


def with_progress(offered: types.ServerCapabilities) -> types.ServerCapabilities:
    """Offer to say how far each long work is.

    Options of renaming may only be given to a client that prepares it.
    """
    for _, _, name, options in _LONG:
        provider = f"{name}_provider"
        offer = getattr(offered, provider)
        if offer is True and options is not types.RenameOptions:
            offer = options()
            setattr(offered, provider, offer)
        if isinstance(offer, options):
            offer.work_done_progress = True
    return offered
