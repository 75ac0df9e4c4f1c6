"""Tests that package.json of the VS Code client matches the server."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import ALL, DEFAULT, DEFAULTS, Thresholds
from hlo_lsp.lsp.settings import Settings
from language_model_tools import with_tools

CLIENT = Path(__file__).resolve().parent.parent / "vscode-client"


@pytest.fixture(scope="module")
def contributes() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CLIENT / "package.json").read_text("utf-8"))["contributes"]
    return found


@pytest.fixture(scope="module")
def properties(contributes: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = contributes["configuration"]["properties"]
    return found


def test_thresholds_match_the_server(properties: dict[str, Any]) -> None:
    prefix = "hlo.check.thresholds."
    declared = {
        name.removeprefix(prefix): (setting["default"], setting["type"])
        for name, setting in properties.items()
        if name.startswith(prefix)
    }
    assert declared == {
        one.name: (getattr(DEFAULTS, one.name), "integer" if one.type is int else "number")
        for one in fields(Thresholds)
    }


def test_codes_and_severities_match_the_server(properties: dict[str, Any]) -> None:
    def codes(setting: str) -> list[str]:
        enum: list[str] = properties[setting]["items"]["anyOf"][0]["enum"]
        return enum

    assert codes("hlo.check.ignore") == list(explanations())
    assert codes("hlo.check.select") == [DEFAULT, ALL, *explanations()]
    assert properties["hlo.check.severity"]["enum"] == [*(each.value for each in Severity), None]


def test_defaults_match_the_server(properties: dict[str, Any]) -> None:
    """VS Code sends the defaults of all settings."""
    section: dict[str, Any] = {}
    for name, setting in properties.items():
        *path, last = name.split(".")[1:]
        place = section
        for key in path:
            place = place.setdefault(key, {})
        place[last] = setting["default"]
    settings, problems = Settings.of([section])
    assert problems == []
    assert settings.source_map == Settings().source_map
    assert settings.check.select is None
    assert not settings.check.ignore
    assert settings.check.severity is None


def test_language_model_tools_match_the_server() -> None:
    """Compare the tools; to update them, run ``python tools/language_model_tools.py``."""
    text = (CLIENT / "package.json").read_text("utf-8")
    assert with_tools(text) == text


def test_contributed_files_exist(contributes: dict[str, Any]) -> None:
    named = [grammar["path"] for grammar in contributes["grammars"]]
    for language in contributes["languages"]:
        named += [language["configuration"], *language["icon"].values()]
    for walkthrough in contributes["walkthroughs"]:
        named += [step["media"]["markdown"] for step in walkthrough["steps"]]
    assert [path for path in named if not (CLIENT / path).is_file()] == []


def test_readme_lists_the_palette(contributes: dict[str, Any]) -> None:
    rows = (CLIENT / "README.md").read_text("utf-8").split("\n")
    listed = [row.split(" | ")[0].removeprefix("| HLO: ") for row in rows if "| HLO: " in row]
    outside = outside_palette(contributes)
    assert sorted(listed) == sorted(
        each["title"] for each in contributes["commands"] if each["command"] not in outside
    )


def test_commands_about_a_place_are_in_menus(contributes: dict[str, Any]) -> None:
    outside = outside_palette(contributes)
    assert {"hlo.inspectAtCursor", "hlo.nextPass", "hlo.closeRemoteDumps"} < outside
    menus = contributes["menus"].items()
    elsewhere = [each for name, menu in menus if name != "commandPalette" for each in menu]
    assert outside <= {each["command"] for each in elsewhere}


def outside_palette(contributes: dict[str, Any]) -> set[str]:
    """Return the commands that the command palette does not list."""
    palette = contributes["menus"]["commandPalette"]
    return {each["command"] for each in palette if each["when"] == "false"}
