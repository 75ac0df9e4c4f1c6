"""The file ``hlo-lsp.toml``, which has the options of the checks for a folder."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.checks.framework.options import CheckOptions, OptionError
from hlo_lsp.text.disk import UnreadableError, open_regular_file
from hlo_lsp.text.remote import parent_of, shown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG_FILE_NAME = "hlo-lsp.toml"
MAX_CONFIG_BYTES = 1 << 20
_PLACE = re.compile(r" ?\(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class ConfigError:
    """A setting that cannot be used, or has another name now; ``line`` counts from 1."""

    path: Path
    line: int
    message: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{shown(self.path)}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The usable options of a file, and the errors in the rest."""

    options: CheckOptions
    errors: tuple[ConfigError, ...] = ()


def find_config_file(folder: Path) -> Path | None:
    """Return the nearest file for a folder: in it, or in the first parent that has one.

    The parents of a remote folder end with the current folder and its parents.
    """
    parent, below = os.path.abspath(folder), ""
    while parent != below:  # no paths of pathlib: each request looks for the file
        path = os.path.join(parent, CONFIG_FILE_NAME)
        if os.path.isfile(path):  # false, and no error, where access is denied
            return Path(path)
        parent, below = parent_of(parent), parent
    return None


def read_config_file(path: Path) -> ConfigFile:
    """Read a file. Errors are in the result, with their lines."""
    try:
        with open_regular_file(path) as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            return _unusable(path, 1, f"larger than {MAX_CONFIG_BYTES:,} bytes")
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        return _unusable(path, 1, error.strerror or str(error))
    except UnreadableError as error:
        return _unusable(path, 1, str(error))
    except UnicodeDecodeError:
        return _unusable(path, 1, "not UTF-8 text")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        return _unusable(path, 1, "nested too deeply")
    except ValueError as error:  # also for a number of more than 4,300 digits
        message = str(error).partition(";")[0]
        place = _PLACE.search(message)
        line = place["line"] if place else None
        number = int(line) if line else max(1, len(text.splitlines()))
        return _unusable(path, number, _PLACE.sub("", message))
    options, problems = CheckOptions.of(data)
    errors = (
        ConfigError(
            *(path, _line_of(text, error), f"{'.'.join(error.keys)}: {error.message}"),
            error.is_warning,
        )
        for error in problems
    )
    return ConfigFile(options, tuple(errors))


def _unusable(path: Path, line: int, message: str) -> ConfigFile:
    return ConfigFile(CheckOptions(), (ConfigError(path, line, message),))


def _line_of(text: str, error: OptionError) -> int:
    """Return the line (from 1) of a value, else of its key, else of the first key above it.

    The parser gives no lines for what it could read.
    """
    lines = text.splitlines()
    row = 0
    for key in error.keys:
        name = re.compile(rf"(?:^|[\[{{,.])\s*([\"']?){re.escape(key)}\1\s*[=.\]]")
        row = next((at for at in range(row, len(lines)) if name.search(lines[at])), row)
    if error.value is not None:
        quoted = re.compile(rf"([\"']){re.escape(error.value)}\1")
        row = next((at for at in range(row, len(lines)) if quoted.search(lines[at])), row)
    return row + 1


def with_ignored_code(text: str, code: str) -> str | None:
    """Return the text of a file with one more code to ignore; all else stays as it is.

    None if the code is ignored already, or if the text is not such a file.
    """
    import tomlkit  # noqa: PLC0415  # only this function needs it, and loading it takes 6 ms

    try:
        document = tomlkit.parse(text)
    except (tomlkit.exceptions.TOMLKitError, RecursionError, ValueError):
        return None
    ignored = document.setdefault("ignore", tomlkit.array())
    if not isinstance(ignored, tomlkit.items.Array) or code in ignored:
        return None
    ignored.append(code)
    return tomlkit.dumps(document)
