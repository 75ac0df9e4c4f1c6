"""The settings of a connection, from initialization, notifications, and requests."""

import logging
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.positions import workspace_folders
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import SECTION, Settings, hlo_section, section_of_options

logger = logging.getLogger(__name__)


class Configuration:
    """The settings of a session as the client has them.

    If a setting has several values, the answer to ``workspace/configuration`` takes precedence over
    ``workspace/didChangeConfiguration``, and that over the initialization options.
    """

    def __init__(
        self,
        server: LanguageServer,
        session: Session,
        on_checks_changed: Callable[[], None],
        on_hints_changed: Callable[[], None],
    ) -> None:
        self._server = server
        self._session = session
        self._on_checks_changed = on_checks_changed
        self._on_hints_changed = on_hints_changed
        self._capabilities = types.WorkspaceClientCapabilities()
        self._options: object = None
        self._sent: object = None
        self._answer: object = None
        self._request_count = 0
        self._last_problem = ""

    def start(self, params: types.InitializeParams) -> None:
        """Read the initialization parameters."""
        self._capabilities = params.capabilities.workspace or self._capabilities
        self._options = section_of_options(params.initialization_options)
        self._apply()

    def folders_changed(self) -> None:
        """Resolve relative paths in the settings against the new folders."""
        self._apply()

    def initialized(self) -> None:
        """Request the settings, and register for their changes."""
        changes = self._capabilities.did_change_configuration
        if changes is not None and changes.dynamic_registration:
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration("settings", method, options)
            self._server.client_register_capability(types.RegistrationParams([registration]))
        if self._capabilities.configuration:
            self._session.set_pending_settings(self._ask())

    def changed(self, settings: object) -> None:
        """Apply changed settings, or request them if the client supports it."""
        self._sent = hlo_section(settings)
        if self._capabilities.configuration:
            self._session.set_pending_settings(self._ask())
        else:
            self._apply()

    async def _ask(self) -> None:
        self._request_count += 1
        number = self._request_count
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        try:
            answers = await self._server.workspace_configuration_async(params)
        except JsonRpcException as error:
            logger.info("the client did not send its settings: %s", error)
            answers = []
        if number == self._request_count:  # a later request makes this answer outdated
            self._answer = answers[0] if answers else None
            self._apply()

    def _apply(self) -> None:
        sections = (self._options, self._sent, self._answer)
        before = self._session.settings
        self._session.settings, problems = Settings.of(sections, self._folder())
        if self._session.settings.check != before.check:
            self._on_checks_changed()
        if self._session.settings.hints != before.hints:
            self._on_hints_changed()
        problem = "\n".join(problems)
        if problem and problem != self._last_problem:
            message = types.ShowMessageParams(types.MessageType.Warning, problem)
            self._server.window_show_message(message)
        self._last_problem = problem

    def _folder(self) -> Path | None:
        """Return the first workspace folder."""
        return next(iter(workspace_folders(self._server)), None)
