"""The memory map as one self-contained HTML file."""

from importlib.resources import files
from typing import Any

from hlo_lsp.text.inert import html_text, script_json

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
        ("TITLE", html_text(title)),
        ("STYLE", _asset("memoryMap.css")),
        ("SCRIPT", _asset("memoryMap.js")),
        ("DATA", script_json(document)),
    ):
        page = page.replace(f"<!--{mark}-->", text, 1)
    return page


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")
