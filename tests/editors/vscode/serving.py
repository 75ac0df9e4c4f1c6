"""A running code-server."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from editors.code_server import ENTRY
from editors.node import NODE
from editors.vscode.waiting import NotYet, until

# No animations, notifications, or welcome pages, and no work that no test shows: extensions in the
# browser, guesses of languages, and updates. The explorer does not follow the active editor,
# because it fails to show a file that a test has just deleted.
SETTINGS: Mapping[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.cursorBlinking": "solid",
    "editor.minimap.enabled": False,
    "explorer.autoReveal": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "extensions.webWorker": False,
    "files.autoSave": "off",  # as in VS Code on the desktop
    "git.enabled": False,
    "security.workspace.trust.enabled": False,
    "terminal.integrated.gpuAcceleration": "off",  # renders text in the page
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.editor.languageDetection": False,
    "workbench.enableExperiments": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
_OPTIONS = (
    *("--bind-addr", "127.0.0.1:0", "--auth", "none"),
    # The extension host of a page that vanishes without notice waits for three hours by default.
    *("--reconnection-grace-time", "20"),
    *("--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"),
)
_LISTENS = re.compile(r"HTTP server listening on (http://127\.0\.0\.1:\d+)")


@dataclass
class CodeServer:
    """A code-server with its own folders below `folder`, independent of the user's.

    `path` is the PATH of it and of its processes, such as the language server.
    """

    folder: Path
    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    _process: subprocess.Popen[bytes] | None = None

    @property
    def ports(self) -> Path:
        """Return the folder in which the test extension writes its ports."""
        return self.folder / "ports"

    async def start(self, extensions: Sequence[Path]) -> None:
        """Install extensions, start, and wait for the port."""
        self.ports.mkdir(parents=True)
        self.configure(self.settings)
        await self.install(extensions)
        self._process = self._popen("server.log", *_OPTIONS)
        self.address = await until(self._listens)

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Replace the user's settings, for windows that are opened later."""
        for name in ("User", "Machine"):
            path = self.folder / "user" / name / "settings.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**SETTINGS, **settings}, indent=1), "utf-8")

    async def install(self, extensions: Sequence[Path]) -> None:
        """Install extensions; open windows keep the loaded ones."""
        packages = [argument for each in extensions for argument in ("--install-extension", each)]
        installing = self._popen("install.log", *packages, "--force")
        status = await asyncio.to_thread(installing.wait, 120)
        assert status == 0, (self.folder / "install.log").read_text("utf-8", "replace")[-2000:]

    def stop(self) -> None:
        """Stop the code-server and its processes."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    async def _listens(self) -> str:
        log = (self.folder / "server.log").read_text("utf-8", "replace")
        assert self._process is not None
        assert self._process.poll() is None, log[-2000:]
        found = _LISTENS.search(log)
        if found is None:
            raise NotYet(log[-500:])
        return found[1]

    def _popen(self, log: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        folders = ("--user-data-dir", self.folder / "user", "--extensions-dir")
        with (self.folder / log).open("wb") as out:
            return subprocess.Popen(
                [NODE, ENTRY, *folders, self.folder / "extensions", *arguments],
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def _variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        home = str(self.folder / "home")
        private = {
            f"XDG_{each}_HOME": f"{home}/{each.lower()}" for each in ("DATA", "CONFIG", "CACHE")
        }
        Path(home).mkdir(exist_ok=True)
        return {
            **kept,
            **private,
            "HOME": home,
            "PATH": self.path,
            "SHELL": "/bin/sh",
            "VSCODE_CLI": "1",  # as if started from a shell, so that no other shell sets the PATH
            "PROBE_PORTS": str(self.ports),
            **self.variables,
        }
