"""The line of a Python stack that owns memory: library frames are skipped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hlo_lsp.model.source import SourceLine

_LIBRARY_FILE = re.compile(
    r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[.\d]*|python3\d+[/\\]lib)[/\\]|^<frozen ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """The frames of a Python stack that can own memory.

    If no frame of a stack can, its innermost frame does.

    Attributes:
        folders: The folders of the program. Frames in other folders are skipped, unless no frame of
            the stack is in one of them; empty if the folders are unknown.
        with_libraries: Frames of installed packages and of Python itself are not skipped.
    """

    folders: tuple[str, ...] = ()
    with_libraries: bool = False

    def line_of(self, stack: Sequence[SourceLine]) -> SourceLine | None:
        """Return the line that owns memory; the innermost one comes first in ``stack``."""
        candidates = [
            line for line in stack if self.with_libraries or not is_library_file(line.file)
        ]
        inside = (line for line in candidates if self._is_inside(line.file))
        return next((line for lines in (inside, candidates, stack) for line in lines), None)

    def _is_inside(self, file: str) -> bool:
        path = file.replace("\\", "/")
        return any(
            path.startswith(f"{folder.replace(chr(92), '/').rstrip('/')}/")
            for folder in self.folders
        )


PROGRAM_FRAMES = FrameChoice()


def is_library_file(file: str) -> bool:
    """Return whether a path is that of an installed package or of Python's standard library."""
    return _LIBRARY_FILE.search(file) is not None
