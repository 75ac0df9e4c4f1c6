"""The VS Code client: its npm packages, its checks, and the packaged extension.

Only Python's standard library: this runs before anything is installed.
"""

from __future__ import annotations

import hashlib

from editors.node import MADE, ROOT, Node

FOLDER = ROOT / "vscode-client"
VSIX = FOLDER / "hlo-lsp.vsix"
LOG = MADE / "client.log"
CHECKS = ("lint", "check", "test", "test:grammar")
"""Scripts of the client's package.json that check it, once it is packaged."""
_STAMP = FOLDER / "node_modules" / ".made-for"


def install(node: Node) -> None:
    """Install the npm packages of the client, unless they are up to date.

    Raises:
        SetupError: If npm fails.
    """
    lock = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    if _STAMP.is_file() and _STAMP.read_text("utf-8") == lock:
        return
    node.npm(FOLDER, LOG, "ci")
    _STAMP.write_text(lock, "utf-8")
