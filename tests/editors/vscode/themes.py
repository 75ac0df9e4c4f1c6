"""The colors of the themes of VS Code, from their files."""

import json
import re
from pathlib import Path
from typing import Any

from editors.code_server import ENTRY

_THEMES = ENTRY.parents[2] / "lib/vscode/extensions/theme-defaults/themes"


def colors(theme: str) -> dict[str, str]:
    """Return the colors of a theme by scope, as CSS."""
    by_scope: dict[str, str] = {}
    _add(_THEMES / theme, by_scope)
    return by_scope


def color_of(scopes: list[str], by_scope: dict[str, str]) -> str:
    """Return the color of the first scope that the theme has, or a prefix of it."""
    for scope in scopes:
        names = scope.split(".")
        for end in range(len(names), 0, -1):
            found = by_scope.get(".".join(names[:end]))
            if found is not None:
                return found
    return by_scope[""]


def _add(path: Path, by_scope: dict[str, str]) -> None:
    theme: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if "include" in theme:
        _add(path.parent / theme["include"], by_scope)
    if "editor.foreground" in theme.get("colors", {}):
        by_scope[""] = _css(theme["colors"]["editor.foreground"])
    for rule in theme.get("tokenColors", []):
        scopes = rule.get("scope", [])
        named = scopes if isinstance(scopes, list) else re.split(r",\s*", scopes)
        for scope in named:
            if "foreground" in rule["settings"]:
                by_scope[scope] = _css(rule["settings"]["foreground"])


def _css(color: str) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"
