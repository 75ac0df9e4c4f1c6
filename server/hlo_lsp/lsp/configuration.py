"""The settings of a connection: what the client said at the start, sends, and answers."""

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
    """Keeps the settings of a session as the client has them.

    Of a setting that is said in several places the answer to ``workspace/configuration`` counts,
    else ``workspace/didChangeConfiguration``, else the initialization options. Others that want to
    know when something else is to be checked or shown are told.
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
        self._asked = 0
        self._last_problem = ""

    def start(self, params: types.InitializeParams) -> None:
        """Take what the client said at initialization."""
        self._capabilities = params.capabilities.workspace or self._capabilities
        self._options = section_of_options(params.initialization_options)
        self._apply()

    def folders_changed(self) -> None:
        """The client has other folders open: paths in its settings may count from another."""
        self._apply()

    def initialized(self) -> None:
        """Ask for the settings, and to be told when they change."""
        changes = self._capabilities.did_change_configuration
        if changes is not None and changes.dynamic_registration:
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration("settings", method, options)
            self._server.client_register_capability(types.RegistrationParams([registration]))
        if self._capabilities.configuration:
            self._session.set_pending_settings(self._ask())

    def changed(self, settings: object) -> None:
        """Take what the client sent, and ask where it wants to be asked."""
        self._sent = hlo_section(settings)
        if self._capabilities.configuration:
            self._session.set_pending_settings(self._ask())
        else:
            self._apply()

    async def _ask(self) -> None:
        self._asked += 1
        number = self._asked
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        try:
            answers = await self._server.workspace_configuration_async(params)
        except JsonRpcException as error:
            logger.info("the client does not say its settings: %s", error)
            answers = []
        if number == self._asked:  # an answer that a later question has overtaken is an old one
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
        """The first folder that the client has open."""
        return next(iter(workspace_folders(self._server)), None)
