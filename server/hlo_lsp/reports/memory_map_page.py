"""The memory map as one self-contained HTML file."""

import json
from html import escape
from importlib.resources import files
from typing import Any

_ASSETS = files("hlo_lsp.reports") / "assets"


def memory_map_page(document: dict[str, Any]) -> str:
    """Return an HTML file that shows a document of memory maps without a network.

    The script and the style are built from ``vscode-client/src/memoryMap`` (``npm run assets``).
    """
    names = ", ".join(module["name"] for module in document["modules"])
    title = f"Memory map of {names}" if names else "Memory map"
    page = _asset("memoryMap.html")
    # The data last, so that nothing in it is replaced.
    for mark, text in (
        ("TITLE", escape(title, quote=False)),
        ("STYLE", _asset("memoryMap.css")),
        ("SCRIPT", _asset("memoryMap.js")),
        ("DATA", script_json(document)),
    ):
        page = page.replace(f"<!--{mark}-->", text, 1)
    return page


def script_json(document: dict[str, Any]) -> str:
    """Return JSON for a script element."""
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")
