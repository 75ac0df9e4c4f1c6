"""Tests for the paths and packages in docs/architecture.md."""

import re

from docs.pages import DOCS, ROOT

_PATH = re.compile(r"`([\w\-]+(?:/[\w\-]+)*(?:/|\.py))`")
_PACKAGE = ROOT / "server" / "hlo_lsp"


def test_named_paths_exist() -> None:
    named = _PATH.findall((DOCS / "architecture.md").read_text("utf-8"))
    assert len(named) > 50
    assert [
        path for path in named if not ((_PACKAGE / path).exists() or (ROOT / path).exists())
    ] == []


def test_every_package_is_listed() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))
    assert listed == {path.parent.name for path in _PACKAGE.glob("*/__init__.py")}
