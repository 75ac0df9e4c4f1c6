"""Which rules run on a file: what the editor's settings and ``hlo-lsp.toml`` say."""

import os
from collections.abc import Callable
from pathlib import Path

from hlo_lsp.checks.wishes.selection import Selection
from hlo_lsp.checks.wishes.settings_file import SettingsFile, read_settings_file, settings_file_of
from hlo_lsp.checks.wishes.wishes import Wishes

_Stamp = tuple[int, int]


class Selections:
    """Looks for settings files, and reads each once until it changes.

    ``complain`` is told what is wrong in one, once.
    """

    def __init__(self) -> None:
        self.complain: Callable[[str], None] = lambda _: None
        self._read: dict[Path, tuple[_Stamp, SettingsFile]] = {}
        self._numbers: dict[Selection, int] = {}

    def of(self, path: Path | None, wishes: Wishes) -> Selection:
        """What is checked in a file; the file in its folder has the last word over ``wishes``."""
        # What was never saved lies nowhere; the folder that the server runs in is not its own.
        if path is None or not path.is_absolute():
            return Selection.of([wishes])
        return self.of_folder(path.parent, wishes)

    def of_folder(self, folder: Path, wishes: Wishes) -> Selection:
        """The same for all files in a folder."""
        path = settings_file_of(folder)
        if path is None:
            return Selection.of([wishes])
        return Selection.of([wishes, self._file(path).wishes])

    def number(self, selection: Selection) -> int:
        """A number that equal selections have, and no other."""
        return self._numbers.setdefault(selection, len(self._numbers))

    def _file(self, path: Path) -> SettingsFile:
        try:
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size
        except OSError:
            stamp = 0, 0
        known = self._read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        file = read_settings_file(path)
        self._read[path] = stamp, file
        if file.errors:
            self.complain("\n".join(map(str, file.errors)))
        return file
