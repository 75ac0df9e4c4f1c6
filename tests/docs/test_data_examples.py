"""Tests for the TOML and JSON examples of settings in the pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs.pages import PAGES, Block, blocks
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME, read_config_file
from hlo_lsp.lsp.settings import Settings, section_of_options

TOML = [
    block
    for page in PAGES
    for block in blocks(page, "toml")
    if block.caption in {None, CONFIG_FILE_NAME}
]
JSON = [block for page in PAGES for block in blocks(page, "json") if block.caption is None]


@pytest.mark.parametrize("block", TOML, ids=str)
def test_toml_is_a_settings_file(block: Block, tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_text(block.text, "utf-8")
    file = read_config_file(path)
    assert file.errors == ()


@pytest.mark.parametrize("block", JSON, ids=str)
def test_json_is_a_section_of_settings(block: Block, tmp_path: Path) -> None:
    section = section_of_options(nest_keys(json.loads(block.text)))
    assert isinstance(section, dict)
    assert set(section) <= {"sourceMap", "check", "inlayHints"}
    _, errors = Settings.of([section], tmp_path)
    assert errors == []


def test_both_kinds_have_examples() -> None:
    assert TOML
    assert JSON


def nest_keys(settings: dict[str, Any]) -> dict[str, Any]:
    """Return VS Code settings with dotted keys as nested objects, as the server receives them."""
    result: dict[str, Any] = {}
    for key, value in settings.items():
        *parents, last = key.split(".")
        inner = result
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return result
