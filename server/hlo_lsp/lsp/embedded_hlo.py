"""Registration for HLO in other languages, with clients that accept it while the server runs.

The static capabilities apply only to the languages of dumps. In other languages the server answers
only about positions in HLO, and reports its diagnostics: features on whole documents, such as
formatting and semantic tokens, belong to the servers of these languages.
"""

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.session import Session
from hlo_lsp.syntax.embedded_hlo import HOST_LANGUAGE_IDS

_SELECTOR = [
    types.TextDocumentFilterLanguage(language, scheme)
    for language in HOST_LANGUAGE_IDS
    for scheme in ("file", "untitled")
]
_ID_PREFIX = "embedded/"
_SYNC_METHODS = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CLOSE)
_POSITION_METHODS = {
    types.TEXT_DOCUMENT_HOVER: "hover",
    types.TEXT_DOCUMENT_DEFINITION: "definition",
    types.TEXT_DOCUMENT_REFERENCES: "references",
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "document_highlight",
}


class EmbeddedHlo:
    """The registration of features in other languages, if the client supports all of them."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self._is_started = False
        self._is_registered = False

    async def start(self) -> None:
        """Register the features once the settings are known, unless they are disabled."""
        await self._session.wait_for_settings()
        self._is_started = True
        self.update()

    def update(self) -> None:
        """Register the features or remove the registration, as the settings require."""
        is_enabled = self._session.settings.embedded_hlo
        is_unchanged = is_enabled == self._is_registered
        if is_unchanged or not self._is_started or not self._is_supported():
            return
        self._is_registered = is_enabled
        if is_enabled:
            found = [types.Registration(_ID_PREFIX + method, method, options)
                     for method, options in _options().items()]  # fmt: skip
            self._server.client_register_capability(types.RegistrationParams(found))
        else:
            gone = [types.Unregistration(_ID_PREFIX + method, method) for method in _options()]
            self._server.client_unregister_capability(types.UnregistrationParams(gone))

    def _is_supported(self) -> bool:
        features = ("synchronization", "completion", "diagnostic", *_POSITION_METHODS.values())
        capabilities = self._server.client_capabilities
        return all(
            get_capability(capabilities, f"text_document.{feature}.dynamic_registration")
            for feature in features
        )


def _options() -> dict[str, object]:
    """Return the options by method."""
    shared = types.TextDocumentRegistrationOptions(_SELECTOR)
    changes = types.TextDocumentChangeRegistrationOptions(
        types.TextDocumentSyncKind.Incremental, _SELECTOR
    )
    return {
        **dict.fromkeys((*_SYNC_METHODS, *_POSITION_METHODS), shared),
        types.TEXT_DOCUMENT_DID_CHANGE: changes,
        types.TEXT_DOCUMENT_COMPLETION: types.CompletionRegistrationOptions(
            _SELECTOR,
            trigger_characters=["%"],  # the others would request completions everywhere
            resolve_provider=True,
        ),
        types.TEXT_DOCUMENT_DIAGNOSTIC: types.DiagnosticRegistrationOptions(
            inter_file_dependencies=False,
            workspace_diagnostics=False,
            document_selector=_SELECTOR,
            identifier="hlo-lsp",
        ),
    }
