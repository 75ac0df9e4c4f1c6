"""The marks of every test in VS Code: `pytestmark = VSCODE`."""

import pytest

VSCODE = [
    pytest.mark.editors,
    # One code-server, one browser and one event loop serve all of them.
    pytest.mark.xdist_group("vscode"),
    pytest.mark.asyncio(loop_scope="session"),
    # A window loses a key or a click when the machine is busy. The summary lists what ran twice.
    pytest.mark.flaky(reruns=1),
]
