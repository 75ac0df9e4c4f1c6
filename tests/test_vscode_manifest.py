"""Tests that package.json of the VS Code client matches the server."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import ALL, DEFAULT, DEFAULTS, Thresholds
from hlo_lsp.cli.agent_tools import TOOLS
from hlo_lsp.lsp.settings import Settings

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


def tool_parts(tool: Callable[..., str]) -> tuple[str, dict[str, str]]:
    """Return the summary of a tool, and the descriptions of its arguments."""
    summary, _, rest = inspect.cleandoc(tool.__doc__ or "").partition("\n\nArgs:\n")
    rows = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", rest, re.MULTILINE)
    return summary, {name: " ".join(text.split()) for name, text in rows}


def tool_schema(tool: Callable[..., str]) -> dict[str, Any]:
    """Return the JSON schema of the arguments of a tool."""
    described = tool_parts(tool)[1]
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(tool).parameters.items():
        is_text = parameter.annotation in {str, "str"}
        schema = {"type": "string" if is_text else "integer", "description": described[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif parameter.default not in {None, ""}:
            schema["default"] = parameter.default
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required}


def test_language_model_tools_match_the_server(contributes: dict[str, Any]) -> None:
    declared = contributes["languageModelTools"]
    assert [tool["name"] for tool in declared] == [f"hlo_{tool.__name__}" for tool in TOOLS]
    for tool, contributed in zip(TOOLS, declared, strict=True):
        assert contributed["inputSchema"] == tool_schema(tool)
        assert contributed["modelDescription"].startswith(tool_parts(tool)[0])


def test_contributed_files_exist(contributes: dict[str, Any]) -> None:
    named = [grammar["path"] for grammar in contributes["grammars"]]
    for language in contributes["languages"]:
        named += [language["configuration"], *language["icon"].values()]
    for walkthrough in contributes["walkthroughs"]:
        named += [step["media"]["markdown"] for step in walkthrough["steps"]]
    assert [path for path in named if not (CLIENT / path).is_file()] == []
