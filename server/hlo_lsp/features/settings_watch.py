"""``hlo-lsp.toml`` files that come, go or change while dumps are open."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from hlo_lsp.checks.wishes.settings_file import settings_file_of
from hlo_lsp.features.session import Session

_PERIOD = 1.0  # seconds between two looks, of less than 0.1 ms for a folder

_Stamp = tuple[Path, int, int]


class SettingsWatch:
    """Looks for the settings file of each folder that has open dumps.

    Clients watch below the folders that they have open, and some watch nothing. Above those
    folders, and for these clients, nobody else would notice. ``changed`` is told when one has.
    """

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        self._session = session
        self._changed = changed
        self._known: dict[Path, _Stamp | None] = {}

    def start(self) -> None:
        """Look now, and again and again as long as the server runs."""
        self.look()
        asyncio.get_running_loop().call_later(_PERIOD, self.start)

    def look(self) -> None:
        """Look once. A folder that had no open dump before is no news."""
        paths = (file.path for file in self._session.library.open_files.values())
        folders = {path.parent for path in paths if path is not None and path.is_absolute()}
        found = {folder: _stamp(folder) for folder in folders}
        known, self._known = self._known, found
        if any(known.get(folder, stamp) != stamp for folder, stamp in found.items()):
            self._changed()


def _stamp(folder: Path) -> _Stamp | None:
    path = settings_file_of(folder)
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size
