"""Tests for the length and commands of README.md, and for links in pages outside of docs/."""

import re

import pytest

from docs.pages import ROOT

_MAX_LINES = 150
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
COMMANDS = ("    python3 nvim-client/try.py\n", "    python3 tests/run.py\n")


def test_readme_has_few_lines() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= _MAX_LINES


def test_readme_has_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert all(text.count(command) == 1 for command in COMMANDS)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_lead_to_files(name: str) -> None:
    links = _LINK.findall((ROOT / name).read_text("utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
