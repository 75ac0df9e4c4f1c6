"""Folders on disk: listed once, and again when they changed."""

import os
import time
from pathlib import Path

from hlo_lsp.model.compiles import Compile, Listing, compile_of

# For so long after a change another one may leave the time of change as it is.
_SETTLED = 2_000_000_000  # ns: the coarsest file system counts two seconds


class Folders:
    """The names in folders, and which of them belong together."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, Listing]] = {}

    def compile_of(self, path: Path) -> Compile:
        """What belongs to a file; it need not be written yet."""
        listing = self.listing(path.parent)
        if path.name in listing:
            return listing.compile(path.name)
        return compile_of(path, listing.names())

    def listing(self, folder: Path) -> Listing:
        """The names in a folder; none where it cannot be read."""
        try:
            changed = os.stat(folder).st_mtime_ns
            known = self._known.get(folder)
            if known is not None and known[0] == changed:
                return known[1]
            listing = Listing(folder, os.listdir(folder))
        except OSError:
            self._known.pop(folder, None)
            return Listing(folder, ())
        if changed + _SETTLED < time.time_ns():
            self._known[folder] = changed, listing
        return listing
