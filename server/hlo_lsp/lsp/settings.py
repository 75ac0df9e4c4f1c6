"""What a user can set: the section ``hlo`` of the settings of an editor."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.ide.hints.hint import HintKind
from hlo_lsp.model.source import SourceMap

SECTION = "hlo"
_FOLDER = "${workspaceFolder}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings with their defaults.

    ``source_map`` is ``hlo.sourceMap``, ``{"path in the dump": "path here"}``. ``check`` is
    ``hlo.check``, with ``select``, ``ignore``, ``severity`` and ``thresholds`` as in
    ``hlo-lsp.toml``, whose word counts more in its folder. ``hints`` are the kinds that
    ``hlo.inlayHints`` does not turn off.
    """

    source_map: SourceMap = field(default_factory=SourceMap)
    check: CheckOptions = field(default_factory=CheckOptions)
    hints: frozenset[HintKind] = frozenset(HintKind)

    @classmethod
    def of(
        cls, sections: Sequence[object], folder: Path | None = None
    ) -> "tuple[Settings, list[str]]":
        """Read from sections, of which later ones count more, and say what cannot be used.

        What is missing, null or of no use has its default; unknown keys are left alone. ``folder``
        is the one that the editor has open, for ``${workspaceFolder}`` and relative paths.
        """
        found: dict[str, object] = {}
        problems: list[str] = []
        for section in sections:
            if isinstance(section, dict):
                found.update((key, said) for key, said in section.items() if said is not None)
            elif section is not None and section != []:  # Lua has one empty table for both
                problems.append(f"{SECTION}: must be an object of settings")
        source_map, wrong = SourceMap.of(
            found.get("sourceMap"), partial(_resolve_path, folder=folder)
        )
        problems += [f"{SECTION}.sourceMap: {problem}" for problem in wrong]
        check, wrong = _check(found.get("check"))
        problems += [f"{SECTION}.check{problem}" for problem in wrong]
        hints, wrong = _hints(found.get("inlayHints"))
        problems += [f"{SECTION}.inlayHints{problem}" for problem in wrong]
        return cls(source_map, check, hints), problems


def hlo_section(settings: object) -> object:
    """The section in what a client sends as its settings, or None: ``{"hlo": {...}}``."""
    return settings.get(SECTION) if isinstance(settings, dict) else None


def section_of_options(options: object) -> object:
    """The section in initialization options, where it may also stand without its name."""
    return options.get(SECTION, options) if isinstance(options, dict) else None


def _check(said: object) -> tuple[CheckOptions, list[str]]:
    """What is wished to be checked; unknown keys are left alone as those of the section are."""
    if said is None or said == []:
        return CheckOptions(), []
    if not isinstance(said, dict):
        return CheckOptions(), [": must be an object of settings"]
    known = {one.name: said.get(one.name) for one in fields(CheckOptions)}
    wishes, problems = CheckOptions.of(known)
    return wishes, [f".{'.'.join(one.keys)}: {one.message}" for one in problems]


def _hints(said: object) -> tuple[frozenset[HintKind], list[str]]:
    """The kinds of hints that are not turned off."""
    if said is None or said == []:
        return frozenset(HintKind), []
    if not isinstance(said, dict):
        return frozenset(HintKind), [": must be an object of settings"]
    problems = []
    wanted = set(HintKind)
    for kind in HintKind:
        word = said.get(kind.value)
        if word is False:
            wanted.discard(kind)
        elif word is not None and word is not True:
            problems.append(f".{kind.value}: must be true or false")
    return frozenset(wanted), problems


def _resolve_path(text: str, folder: Path | None) -> Path | None:
    """A path that the user wrote, or None where it would be relative to nothing."""
    if folder is not None:
        text = text.replace(_FOLDER, str(folder))
    path = Path(os.path.expanduser(text))
    if path.is_absolute():
        return path
    return None if folder is None or _FOLDER in text else folder / path
