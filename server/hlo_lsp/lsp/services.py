"""The services of a connection: refreshes, settings, watched files, and reactions to changes."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.lsp.client import Json, path_of, workspace_folders
from hlo_lsp.lsp.compiler import Compiler
from hlo_lsp.lsp.diagnostics import OpenFileDiagnostics
from hlo_lsp.lsp.embedded_hlo import EmbeddedHlo
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.module_list import ModuleList
from hlo_lsp.lsp.progress import BackgroundProgress
from hlo_lsp.lsp.scheduling import start_task
from hlo_lsp.lsp.semantic_tokens import SemanticTokens
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import (
    SECTION,
    Settings,
    hlo_section,
    section_of_options,
)
from hlo_lsp.lsp.shown_views import ShownView
from hlo_lsp.lsp.source_lines import SourceLines
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.protos.names import TRACE_ENDINGS, XPLANE_ENDINGS
from hlo_lsp.text.inert import notification_text

logger = logging.getLogger(__name__)

_DIAGNOSTICS_DEBOUNCE_SECONDS = 0.03  # without a change, before clients pull them
_POLL_SECONDS = 1.0  # a poll takes less than 0.1 ms per folder
_WATCHED_PATTERNS = (
    "**/*.txt",
    "**/*.hlo",
    f"**/{CONFIG_FILE_NAME}",
    *(f"**/*{ending}" for ending in (*XPLANE_ENDINGS, *TRACE_ENDINGS)),
)


class Configuration:
    """The settings of a session as the client has them.

    If a setting has several values, the answer to ``workspace/configuration`` takes precedence over
    ``workspace/didChangeConfiguration``, and that over the initialization options.
    """

    def __init__(
        self, server: LanguageServer, session: Session, on_change: Callable[[Settings], None]
    ) -> None:
        self._server = server
        self._session = session
        self._on_change = on_change
        self._options: object = None
        self._sent: object = None
        self._answer: object = None
        self._request_count = 0
        self._last_problem = ""

    def start(self, params: types.InitializeParams) -> None:
        """Read the initialization parameters."""
        self._options = section_of_options(params.initialization_options)
        self.apply()

    def initialized(self) -> None:
        """Request the settings, and register for their changes."""
        if _has(self._server, "did_change_configuration.dynamic_registration"):
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            _register(self._server, types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
        self._request()

    def changed(self, settings: object) -> None:
        """Apply changed settings, or request them if the client supports it."""
        self._sent = hlo_section(settings)
        if not self._request():
            self.apply()

    def _request(self) -> bool:
        """Request the settings if the client supports it, and return whether it does."""
        if _has(self._server, "configuration"):
            self._session.set_pending_settings(self._ask())
            return True
        return False

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
            self.apply()

    def apply(self) -> None:
        """Update the settings of the session; relative paths are in the first workspace folder."""
        folder = next(iter(workspace_folders(self._server)), None)
        sections = (self._options, self._sent, self._answer)
        before = self._session.settings
        self._session.settings, problems = Settings.of(sections, folder)
        self._on_change(before)
        problem = "\n".join(problems)
        if problem and problem != self._last_problem:
            _show_warning(self._server, problem)
        self._last_problem = problem


class Services(SessionListener):
    """The services of one connection, and their reactions to changed files.

    ``notify`` sends a notification.
    """

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        view = partial(ShownView, session)
        self.tokens = view("can_refresh_tokens", server.workspace_semantic_tokens_refresh_async)
        self.hints = view("can_refresh_hints", server.workspace_inlay_hint_refresh_async)
        self.lenses = view("can_refresh_lenses", server.workspace_code_lens_refresh_async)
        self.reports = view(
            "can_refresh_diagnostics",
            server.workspace_diagnostic_refresh_async,
            _DIAGNOSTICS_DEBOUNCE_SECONDS,
        )
        self.diagnostics = OpenFileDiagnostics(
            session,
            partial(notify, types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS),
            self.reports.schedule,
        )
        session.index.workspace_folders = partial(workspace_folders, server)
        # The index reads facts in this order.
        self._services: list[Service] = [
            SemanticTokens(session, self.tokens),
            ModuleList(session, notify),
            WorkspaceDiagnostics(session, notify),
            SourceLines(session, notify),
            WorkspaceSymbols(session),
            Compiler(session, self._compiled),
        ]
        self.configuration = Configuration(server, session, self._settings_changed)
        self._embedded_hlo = EmbeddedHlo(server, session)
        session.listener = self

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of the requests of all services."""
        return {
            method: handler
            for service in self._services
            for method, handler in service.requests().items()
        }

    def initialized(self) -> None:
        """Start the services that send requests to the client."""
        self.configuration.initialized()
        start_task(self._embedded_hlo.start())
        self._watch_config_files()
        if _has(self._server, "did_change_watched_files.dynamic_registration"):
            patterns = [types.FileSystemWatcher(pattern) for pattern in _WATCHED_PATTERNS]
            options = types.DidChangeWatchedFilesRegistrationOptions(patterns)
            _register(self._server, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        for service in self._services:
            service.initialized()

    def opened(self, file: DumpFile) -> None:
        """Update all services after a file was opened."""
        self._poll_config_files()
        self._session.times.profiles.look_again()
        self.changed(file)
        if file.host is None:
            self._session.index.files_changed()
            for service in self._services:
                service.opened(file)

    def changed(self, file: DumpFile) -> None:
        """Update all services after the text of an open file changed."""
        self.diagnostics.changed(file)
        if file.host is not None:
            return
        for service in self._services:
            service.changed(file)
        if any(other is not file for other in self._session.open_companions(file)):
            self._refresh_views()

    def closed(self, file: DumpFile) -> None:
        """Update all services after a file was closed; its text on disk applies again."""
        self.diagnostics.closed(file)
        if file.host is not None:
            return
        self._session.index.files_changed()
        for service in self._services:
            service.closed(file)
        if self._session.open_companions(file):
            self._refresh_views()

    def files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Handle changed files on disk; of an open file, the open text still applies."""
        workspace = self._session.workspace
        self._session.index.files_changed()
        paths = {
            path
            for event in params.changes
            if (path := path_of(event.uri)) is not None
            and not (event.type is types.FileChangeType.Changed and path in workspace.open_paths)
        }
        if any(path.name.endswith((*XPLANE_ENDINGS, *TRACE_ENDINGS)) for path in paths):
            self._session.times.profiles.look_again()
            self.profiles_changed()
        if paths:
            self._poll_config_files()
        for path in paths:
            if path.name == CONFIG_FILE_NAME:
                self._config_changed(path.parent)
        by_folder: dict[Path, list[Path]] = {}
        for path in paths:
            by_folder.setdefault(path.parent, []).append(path)
        for file in list(workspace.open_files.values()):
            changed = [] if file.path is None else by_folder.get(file.path.parent, [])
            if file.path is not None and workspace.is_compile_of_any(file.path, changed):
                self.diagnostics.changed(file)
                self._refresh_views()
        if paths:
            self.reports.refresh()
        for service in self._services:
            service.files_changed()

    def folders_changed(self) -> None:
        """Update all services after the workspace folders changed."""
        self.configuration.apply()
        self._session.index.resume()
        for service in self._services:
            service.folders_changed()
        self.reports.refresh()

    def reload(self) -> None:
        """Discard everything that was read, for changes of files that were not noticed."""
        self._session.reload()
        self._session.index.reload()
        self._session.times.profiles.look_again()
        for service in self._services:
            service.reload()
        self.diagnostics.all_changed()
        self._refresh_views()

    def _watch_config_files(self) -> None:
        """Poll periodically: clients watch only their workspace folders, and some watch nothing."""
        self._poll_config_files()
        asyncio.get_running_loop().call_later(_POLL_SECONDS, self._watch_config_files)

    def _poll_config_files(self) -> None:
        if self._session.look_for_config_files():
            self._config_changed()

    def _config_changed(self, below: Path | None = None) -> None:
        """Update what ``hlo-lsp.toml`` selects: the rules, and the chip for times."""
        self.diagnostics.all_changed(below)
        self.profiles_changed()

    def _settings_changed(self, before: Settings) -> None:
        settings = self._session.settings
        if settings.check != before.check:
            self.diagnostics.all_changed()
        self._embedded_hlo.update()
        self._refresh_views()
        if settings.check.chip != before.check.chip or settings.profile != before.profile:
            self.profiles_changed()
        for service in self._services:
            service.settings_changed()
        self._choose_frames()

    def _choose_frames(self) -> None:
        """Let Python lines in the folders of the program precede others."""
        settings, workspace = self._session.settings, self._session.workspace
        mapped = (prefix for prefix, _ in settings.source_map.rules)
        local = (*map(str, workspace_folders(self._server)), *mapped)
        frames = FrameChoice(settings.workspace or local)
        if frames != workspace.frames:
            workspace.choose_frames(frames)
            self._refresh_views()

    def progress(self, title: str, *, is_indefinite: bool = False) -> BackgroundProgress:
        """Return the progress of a long task; if it is indefinite, it has no percentage."""
        return BackgroundProgress(self._server, title, is_indefinite=is_indefinite)

    def _compiled(self, uri: str) -> None:
        """Show the result of a compile."""
        file = self._session.workspace.opened(uri)
        if file is not None:
            self.diagnostics.changed(file)
            self.lenses.schedule()

    def file_loaded(self, path: Path) -> None:
        """Update all services after a large file was read."""
        self.diagnostics.companion_read(path)
        self._refresh_views()

    def profiles_changed(self) -> None:
        """Show other times of programs after a profile was read."""
        self.times_computed()
        for service in self._services:
            service.settings_changed()

    def times_computed(self) -> None:
        """Show the times of a large compile."""
        self.hints.schedule()
        self.lenses.schedule()

    def problem_found(self, message: str) -> None:
        """Show a problem in a configuration file."""
        _show_warning(self._server, message)

    def _refresh_views(self) -> None:
        for view in (self.tokens, self.hints, self.lenses):
            view.schedule()


def _has(server: LanguageServer, capability: str) -> bool:
    return bool(get_capability(server.client_capabilities, f"workspace.{capability}"))


def _register(server: LanguageServer, method: str, options: object) -> None:
    registration = types.Registration(method, method, options)
    server.client_register_capability(types.RegistrationParams([registration]))


def _show_warning(server: LanguageServer, problem: str) -> None:
    text = "\n".join(map(notification_text, problem.split("\n")))
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))
