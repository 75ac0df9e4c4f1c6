"""The buffer assignments in the workspace folders, found by the names of files."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.file_names import DumpName, FileRole, sanitized_name, suffix_of
from hlo_lsp.text.disk import file_stamp

_RESCAN_INTERVAL_SECONDS = 3
_MAX_SCAN_SHARE = 0.05  # of the time between two scans
_MAX_SEARCH_SECONDS = 5  # in folders with very many files; the user waits


class AssignmentPaths:
    """Lists the buffer assignments below folders, again after a few seconds."""

    def __init__(self, folders: Callable[[], Iterable[Path]] = tuple) -> None:
        self._folders = folders
        self._paths: list[Path] = []
        self._next_scan = 0.0  # the time (monotonic) of the next scan

    def of_module(self, module: str) -> list[Path]:
        """Return the buffer assignments with the name of a module, the newest first."""
        start = time.monotonic()
        if start >= self._next_scan:
            self._paths = list(self._scan())
            end = time.monotonic()
            self._next_scan = end + max(_RESCAN_INTERVAL_SECONDS, (end - start) / _MAX_SCAN_SHARE)
        wanted = sanitized_name(module)
        names = {path: DumpName.of(path.name) for path in self._paths}
        found = [
            path
            for path, name in names.items()
            if (wanted in path.name if name is None else name.module_name == wanted)
        ]
        return sorted(found, key=lambda path: file_stamp(path) or (0, 0), reverse=True)

    def _scan(self) -> Iterator[Path]:
        end = time.monotonic() + _MAX_SEARCH_SECONDS
        for folder in self._folders():
            for compile_ in compiles_below(folder):
                if suffix_of(compile_.path.name).role is FileRole.ASSIGNMENT:
                    yield compile_.path
                if time.monotonic() > end:
                    return
