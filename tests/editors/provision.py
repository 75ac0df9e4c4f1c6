"""Everything that the tests of editors need and pip does not install.

Only Python's standard library: this runs before anything is installed.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from editors import client, code_server, machine
from editors.node import Node
from environment import Environment, SetupError

END_OF_INSTALLATION = "HLO_LSP_END_OF_INSTALLATION"
"""The variable with the path of a file that exists when the installation has ended."""


class Provision:
    """An installation in the background: packages of the machine first, code-server after Node."""

    def __init__(self) -> None:
        self._beside = ThreadPoolExecutor()
        self._building = self._beside.submit(machine.install, machine.BUILDING)
        self._editors = self._beside.submit(self._install_editors)
        self._code_server: Future[str | None] | None = None

    def begin(self, environment: Environment) -> Node:
        """Install the client, and code-server in the background.

        Raises:
            SetupError: If the client cannot be installed.
        """
        node = Node(environment)
        self._code_server = self._beside.submit(self._make_code_server, node)
        client.install(node)
        return node

    def wait(self) -> list[str]:
        """Wait for the end of the installation, and return advice about everything missing."""
        lacks = [self._building.result(), self._editors.result()]
        missing = [lack.advice for lack in lacks if lack is not None]
        if self._code_server is not None and (problem := self._code_server.result()):
            missing.append(problem)
        self._beside.shutdown()
        return missing

    def _install_editors(self) -> machine.Lack | None:
        self._building.result()  # apt-get works for one at a time
        return machine.install(machine.EDITORS)

    def _make_code_server(self, node: Node) -> str | None:
        if self._building.result() is not None and not code_server.is_made(node):
            return "code-server cannot be compiled without the packages named above"
        try:
            code_server.make(node)
        except SetupError as problem:
            return str(problem)
        return None
