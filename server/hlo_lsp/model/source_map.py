"""Where the Python files that a dump names lie on this machine.

A dump is read on another machine than it was made on as often as not, so the names in it may be of
another system, relative, or of folders that lie elsewhere here.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from hlo_lsp.model.source import SourceLine

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Prefixes of file names in dumps, the longest first, each with the path that it stands for."""

    rules: tuple[tuple[str, Path], ...] = ()

    @classmethod
    def of(
        cls, setting: object, here: Callable[[str], Path | None] = Path
    ) -> "tuple[SourceMap, list[str]]":
        """The map of a setting ``{"path in the dump": "path here"}``, and what is wrong with it.

        ``here`` makes a path of what the user wrote, or None where that leads nowhere. Nothing is
        raised: what cannot be used is left out and told in a sentence.
        """
        if setting is None or setting == []:  # Lua has one empty table for both
            return cls(), []
        if not isinstance(setting, dict):
            return cls(), ['it must be an object {"path in the dump": "path here"}']
        rules: list[tuple[str, Path]] = []
        complaints: list[str] = []
        for prefix, target in setting.items():
            path = here(target) if isinstance(target, str) and target else None
            if path is not None:
                rules.append((str(prefix), path))
            elif isinstance(target, str):
                complaints.append(f'the path "{target}" for "{prefix}" leads nowhere')
            else:
                complaints.append(f'what "{prefix}" stands for must be a path in quotes')
        rules.sort(key=lambda rule: -len(_pure(rule[0]).parts))
        return cls(tuple(rules)), complaints

    def candidates(self, source_file: str) -> list[Path]:
        """Where a file of a dump may be, the likeliest first: by the longest prefix, and as named.

        A prefix covers whole components of a path. The prefix ``.`` covers all relative names.
        """
        name = _pure(source_file)
        found = []
        for prefix, path in self.rules:
            start = type(name)(prefix)
            if name.is_relative_to(start):
                found.append(path.joinpath(*name.relative_to(start).parts))
                break
        itself = Path(source_file)
        return [*found, itself] if itself.is_absolute() else found


class SourceFiles:
    """The files of dumps that are here, each looked for once.

    Made anew for every request: what it remembers of the disk is never older than that.
    """

    def __init__(self, source_map: SourceMap) -> None:
        self._map = source_map
        self._known: dict[str, Path | None] = {}

    def resolve(self, source_file: str) -> Path | None:
        """The file that a dump names, or None if it is not on this machine."""
        if source_file not in self._known:
            candidates = self._map.candidates(source_file)
            self._known[source_file] = next(filter(os.path.isfile, candidates), None)
        return self._known[source_file]

    def uri(self, source: SourceLine) -> str | None:
        """A link to a Python line (``#L7`` as VS Code reads it), or None if there is no file."""
        path = self.resolve(source.file)
        return None if path is None else f"{path.as_uri()}#L{source.line}"


def _pure(name: str) -> PurePath:
    """A path of the machine that a name was written on."""
    windows = _WINDOWS.match(name) or ("\\" in name and "/" not in name)
    return PureWindowsPath(name) if windows else PurePosixPath(name)
