"""A service of the server, which answers requests and reacts to changes."""

from collections.abc import Awaitable, Callable
from typing import Any

from hlo_lsp.model.dump_file import DumpFile

Handler = Callable[[Any], Awaitable[Any]]


class Service:
    """A part of the server with a state; by default, it has no requests and ignores changes."""

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests by method."""
        return {}

    def initialized(self) -> None:
        """Start background work."""

    def opened(self, file: DumpFile) -> None:
        """Handle that a dump was opened; ``changed`` follows."""

    def changed(self, file: DumpFile) -> None:
        """Handle that the text of an open dump changed."""

    def closed(self, file: DumpFile) -> None:
        """Handle that a dump was closed; its text on disk applies again."""

    def files_changed(self) -> None:
        """Handle that files on disk changed."""

    def folders_changed(self) -> None:
        """Handle that the workspace folders changed; by default, as if files did."""
        self.files_changed()

    def settings_changed(self) -> None:
        """Handle that settings changed, or profiles were read."""

    def reload(self) -> None:
        """Handle that everything that was read is discarded."""
