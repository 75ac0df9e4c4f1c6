"""The section ``hlo`` of the settings of an editor, and the rules that follow from them."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TypeVar

from hlo_lsp.checks.config_file import ConfigFile, find_config_file, read_config_file
from hlo_lsp.checks.framework.options import CheckOptions, Selection
from hlo_lsp.ide.code_lenses import LensChoice
from hlo_lsp.ide.inlay_hints import HintKind
from hlo_lsp.model.source import SourceMap
from hlo_lsp.text.disk import file_stamp

SECTION = "hlo"
E = TypeVar("E", bound=Enum)
T = TypeVar("T")
_FOLDER = "${workspaceFolder}"


class PythonNotes(Enum):
    """The Python lines that show their memory: those with at least 1% of a peak are large."""

    OFF = "off"
    LARGE = "large"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings with their defaults.

    ``source_map`` is ``hlo.sourceMap``, ``{"path in the dump": "local path"}``. ``check`` is
    ``hlo.check``, with the keys of ``hlo-lsp.toml``, which takes precedence in its folder; without
    a chip, it has that of ``hlo.chip``. ``hints`` are the kinds that ``hlo.inlayHints`` does not
    disable. ``python_notes`` is ``hlo.pythonNotes``, ``code_lens`` is ``hlo.codeLens``.
    ``workspace`` is ``hlo.workspace``, the folders of the program with their paths in the dump.
    ``embedded_hlo`` is ``hlo.embeddedHlo``: whether the editor shows facts about HLO in other
    languages. ``profile`` is ``hlo.profile``, a file or folder. ``python`` is
    ``hlo.compile.python``, the Python with jax that compiles texts, None for the first one found.
    """

    source_map: SourceMap = field(default_factory=SourceMap)
    check: CheckOptions = field(default_factory=CheckOptions)
    hints: frozenset[HintKind] = frozenset(HintKind)
    python_notes: PythonNotes = PythonNotes.LARGE
    code_lens: LensChoice = LensChoice.LARGE
    workspace: tuple[str, ...] = ()
    embedded_hlo: bool = True
    profile: Path | None = None
    python: str | None = None

    @classmethod
    def of(
        cls, sections: Sequence[object], folder: Path | None = None
    ) -> "tuple[Settings, list[str]]":
        """Read settings from sections in ascending precedence, and collect their problems.

        Missing, null, and invalid settings have their defaults; unknown keys are ignored.
        ``folder`` is the workspace folder, for ``${workspaceFolder}`` and relative paths.
        """
        found: dict[str, object] = {}
        problems: list[str] = []
        for section in sections:
            if isinstance(section, dict):
                found.update((key, value) for key, value in section.items() if value is not None)
            elif section is not None and section != []:  # an empty Lua table is sent as []
                problems.append(f"{SECTION}: must be an object")

        def read(key: str, reader: Callable[[object], tuple[T, list[str]]]) -> T:
            value, wrong = reader(found.get(key))
            problems.extend(f"{SECTION}.{key}{problem}" for problem in wrong)
            return value

        check, chip = read("check", _check), read("chip", _chip)
        settings = cls(
            read("sourceMap", partial(_source_map, folder=folder)),
            replace(check, chip=check.chip or chip),
            read("inlayHints", _hints),
            read("pythonNotes", partial(_choice, PythonNotes.LARGE)),
            read("codeLens", partial(_choice, LensChoice.LARGE)),
            read("workspace", _paths),
            read("embeddedHlo", _flag),
            read("profile", partial(_path, folder=folder)),
            read("compile", _python),
        )
        return settings, problems


def hlo_section(settings: object) -> object:
    """Return the section in ``{"hlo": {...}}``, or None."""
    return settings.get(SECTION) if isinstance(settings, dict) else None


def section_of_options(options: object) -> object:
    """Return the section in initialization options, where its name is optional."""
    return options.get(SECTION, options) if isinstance(options, dict) else None


def _source_map(value: object, folder: Path | None) -> tuple[SourceMap, list[str]]:
    source_map, problems = SourceMap.of(value, partial(_resolve_path, folder=folder))
    return source_map, [f": {problem}" for problem in problems]


def _flag(value: object) -> tuple[bool, list[str]]:
    """Return a setting that is true by default."""
    if value is None or isinstance(value, bool):
        return value is not False, []
    return True, [": must be true or false"]


def _python(value: object) -> tuple[str | None, list[str]]:
    """Return ``python`` of the settings for compiles."""
    found = value.get("python") if isinstance(value, dict) else None
    if found is None or isinstance(found, str):
        return found or None, []
    return None, [".python: must be a path in quotes"]


def _check(value: object) -> tuple[CheckOptions, list[str]]:
    if value is None or value == []:
        return CheckOptions(), []
    if not isinstance(value, dict):
        return CheckOptions(), [": must be an object"]
    known = {one.name: value.get(one.name) for one in fields(CheckOptions)}
    options, problems = CheckOptions.of(known)
    return options, [f".{'.'.join(one.keys)}: {one.message}" for one in problems]


def _hints(value: object) -> tuple[frozenset[HintKind], list[str]]:
    if value is None or value == []:
        return frozenset(HintKind), []
    if not isinstance(value, dict):
        return frozenset(HintKind), [": must be an object"]
    found = {kind: _flag(value.get(kind.value)) for kind in HintKind}
    problems = [f".{kind.value}{text}" for kind, (_, wrong) in found.items() for text in wrong]
    return frozenset(kind for kind, (is_enabled, _) in found.items() if is_enabled), problems


def _choice(default: E, value: object) -> tuple[E, list[str]]:
    """Return the member with this value, or the default and the problem."""
    if value is None:
        return default, []
    try:
        return type(default)(value), []
    except ValueError:
        *names, last = (str(member.value) for member in type(default))
        return default, [f": must be {', '.join(names)}, or {last}"]


def _paths(value: object) -> tuple[tuple[str, ...], list[str]]:
    """Return the paths of a list, or an empty tuple and the problem."""
    if value is None:
        return (), []
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        return (), [": must be a list of paths in quotes"]
    return tuple(value), []


def _path(value: object, folder: Path | None) -> tuple[Path | None, list[str]]:
    """Return the path of a setting that is empty by default, or the problem."""
    if value is None or value == "":
        return None, []
    path = _resolve_path(value, folder) if isinstance(value, str) else None
    if path is None:
        return None, [": must be an absolute path, or one in the workspace folder"]
    return path, []


def _chip(value: object) -> tuple[str | None, list[str]]:
    """Return the chip of a setting that is empty by default."""
    options, problems = CheckOptions.of({"chip": None if value == "" else value})
    return options.chip, [f": {one.message}" for one in problems]


def _resolve_path(text: str, folder: Path | None) -> Path | None:
    """Return a path from the settings as absolute, or None if it is relative without a folder."""
    if folder is not None:
        text = text.replace(_FOLDER, str(folder))
    path = Path(os.path.expanduser(text))
    if path.is_absolute():
        return path
    return None if folder is None or _FOLDER in text else folder / path


FileStamp = tuple[Path, int, int]


def config_stamp(folder: Path) -> FileStamp | None:
    """Return the ``hlo-lsp.toml`` of a folder with its time and size, or None."""
    path = find_config_file(folder)
    stamp = None if path is None else file_stamp(path)
    return None if path is None or stamp is None else (path, *stamp)


class Selections:
    """The rules that apply to a file, from the editor's settings and from ``hlo-lsp.toml``.

    Each ``hlo-lsp.toml`` is read once until it changes; ``report_problem`` receives its errors. For
    the folders of the last call of ``look_again``, no request looks for the file.
    """

    def __init__(self, report_problem: Callable[[str], None] = lambda _: None) -> None:
        self._report_problem = report_problem
        self._read: dict[Path, tuple[FileStamp, ConfigFile]] = {}
        self._stamps: dict[Path, FileStamp | None] = {}

    def look_again(self, folders: Iterable[Path]) -> bool:
        """Look for the ``hlo-lsp.toml`` of folders; return whether one that was known changed."""
        known, self._stamps = self._stamps, {folder: config_stamp(folder) for folder in folders}
        return any(known.get(folder, stamp) != stamp for folder, stamp in self._stamps.items())

    def of(self, path: Path | None, options: CheckOptions) -> Selection:
        """Return the selection for a file; ``hlo-lsp.toml`` takes precedence over the settings."""
        # A text that was never saved has no folder; the working directory is not its folder.
        if path is None or not path.is_absolute():
            return Selection.of([options])
        return self.of_folder(path.parent, options)

    def of_folder(self, folder: Path, options: CheckOptions) -> Selection:
        """Return the selection for the files in a folder."""
        stamp = self._stamps[folder] if folder in self._stamps else config_stamp(folder)
        found = [options]
        if stamp is not None:
            known = self._read.get(stamp[0])
            if known is None or known[0] != stamp:
                known = self._read[stamp[0]] = stamp, read_config_file(stamp[0])
                if known[1].errors:
                    self._report_problem("\n".join(map(str, known[1].errors)))
            found.append(known[1].options)
        return Selection.of(found)
