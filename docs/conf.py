"""Sphinx configuration: ``sphinx-build -W --keep-going -b html docs build/docs``."""

import re
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1] / "server" / "hlo_lsp" / "__init__.py"
_VERSION = re.search(r'__version__ = "(.+)"', _PACKAGE.read_text("utf-8"))
assert _VERSION is not None

project = "hlo-lsp"
release = version = _VERSION[1]
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"hlo-lsp {release}"
# Pages link to headings, and docs/rules.md to the heading of each rule.
myst_heading_anchors = 3
# A link to a heading that does not exist is a warning, and warnings are errors.
nitpicky = True
