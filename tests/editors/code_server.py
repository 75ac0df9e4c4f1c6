"""VS Code as code-server, which npm installs into this checkout.

Only Python's standard library: this runs before anything is installed.
"""

from __future__ import annotations

import json
import shutil

from editors.node import MADE, Node

VERSION = "4.139.1"
"""Of code-server; VS Code in it is 1.139.1."""
_FOLDER = MADE / "code-server"
ENTRY = _FOLDER / "node_modules" / "code-server" / "out" / "node" / "entry.js"
"""The entry point of code-server, for Node."""
_STAMP = _FOLDER / "made-for.json"


def is_made(node: Node) -> bool:
    """Return whether this version is completely installed for this Node."""
    try:
        return bool(json.loads(_STAMP.read_text("utf-8")) == _description(node))
    except (OSError, ValueError):
        return False


def make(node: Node) -> None:
    """Install code-server, which takes about two minutes, unless it is installed.

    Raises:
        SetupError: If npm fails.
    """
    if is_made(node):
        return
    print(f"npm installs code-server {VERSION} (once, about two minutes)", flush=True)
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    (_FOLDER / "package.json").write_text('{"private": true}\n', "utf-8")
    node.npm(_FOLDER, MADE / "code-server.log", "install", f"code-server@{VERSION}")
    # Last of all: what was cut short must not look finished.
    _STAMP.write_text(json.dumps(_description(node)), "utf-8")


def _description(node: Node) -> dict[str, str]:
    return {"code-server": VERSION, "node": node.version}
