"""The marks of every test in VS Code: `pytestmark = vscode(1)`."""

import pytest


def vscode(group: int) -> list[pytest.MarkDecorator]:
    """Return the marks of a group; each has a code-server, a browser, and an event loop."""
    return [
        pytest.mark.editors,
        pytest.mark.xdist_group(f"vscode-{group}"),
        pytest.mark.asyncio(loop_scope="session"),
    ]
