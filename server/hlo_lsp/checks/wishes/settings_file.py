"""``hlo-lsp.toml``: what is checked in the dumps of a folder and of those below it."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.checks.wishes.wishes import Complaint, Wishes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "hlo-lsp.toml"
_PLACE = re.compile(r" ?\(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class SettingsError:
    """What is wrong in a file; ``line`` counts from 1."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a file says, as far as it can be used, and what is wrong with the rest."""

    path: Path
    wishes: Wishes
    errors: tuple[SettingsError, ...] = ()


def settings_file_of(folder: Path) -> Path | None:
    """The nearest file for a folder: there, or in the first parent that has one."""
    start = Path(os.path.abspath(folder))
    for parent in (start, *start.parents):
        path = parent / NAME
        if os.path.isfile(path):  # no error where nobody may look
            return path
    return None


def read_settings_file(path: Path) -> SettingsFile:
    """Read a file. Whatever is wrong with it is in the result, with the line."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        return _useless(path, 1, error.strerror or str(error))
    except UnicodeDecodeError:
        return _useless(path, 1, "this is no UTF-8 text")
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = place["line"] if place else None
        number = int(line) if line else max(1, len(text.splitlines()))
        return _useless(path, number, _PLACE.sub("", message))
    wishes, complaints = Wishes.of(said)
    errors = [SettingsError(path, _line(text, complaint), _told(complaint))
              for complaint in complaints]  # fmt: skip
    return SettingsFile(path, wishes, tuple(errors))


def _useless(path: Path, line: int, message: str) -> SettingsFile:
    return SettingsFile(path, Wishes(), (SettingsError(path, line, message),))


def _told(complaint: Complaint) -> str:
    return f"{'.'.join(complaint.keys)}: {complaint.message}"


def _line(text: str, complaint: Complaint) -> int:
    """The line of a value, else of its key, else of the first key above that is written out.

    The parser of the standard library tells no lines of what it read well.
    """
    lines = text.splitlines()
    row = 0
    for key in complaint.keys:
        name = re.compile(rf"(?:^|[\[{{,.])\s*([\"']?){re.escape(key)}\1\s*[=.\]]")
        row = next((at for at in range(row, len(lines)) if name.search(lines[at])), row)
    if complaint.said is not None:
        quoted = re.compile(rf"([\"']){re.escape(complaint.said)}\1")
        row = next((at for at in range(row, len(lines)) if quoted.search(lines[at])), row)
    return row + 1
