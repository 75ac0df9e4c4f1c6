"""Requests to the extension host of a window, which the test extension answers in JSON."""

import asyncio
import hashlib
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editors.vscode.waiting import NotYet

_SECONDS = 120


@dataclass(frozen=True)
class Spot:
    """A place in a file: line and column from 0, as in the API of VS Code."""

    path: Path
    line: int
    column: int

    @property
    def position(self) -> dict[str, list[int]]:
        """Return the position as the test extension expects it."""
        return {"$position": [self.line, self.column]}


def uri(path: Path | str) -> dict[str, str]:
    """Return a file or a URI as the test extension expects it."""
    return {"$uri": str(path)}


def spot(path: Path, marked: str) -> Spot:
    """Return the place that `^` marks in a text that occurs once in the file.

    `spot(module, "%fusion.3 = ^f32")` is the start of the shape of that instruction.
    """
    before, _, after = marked.partition("^")
    text = path.read_text("utf-8")
    assert text.count(before + after) == 1, f"{text.count(before + after)} times {marked}"
    start = text.index(before + after) + len(before)
    return Spot(path, text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1))


class Host:
    """The extension host of the window that shows a folder."""

    def __init__(self, ports: Path, folder: Path | None) -> None:
        name = "" if folder is None else str(folder)
        self._port = ports / hashlib.sha256(name.encode()).hexdigest()

    @property
    def process(self) -> int | None:
        """Return the process id, or None before the test extension has reported it."""
        try:
            return int(self._port.read_text("utf-8").split()[1])
        except FileNotFoundError:
            return None

    def forget(self) -> None:
        """Forget the port, since a reloaded window has another."""
        self._port.unlink(missing_ok=True)

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of probe/main.js to a request.

        Raises:
            NotYet: If there is no extension host.
            AssertionError: If the request failed.
        """
        return await asyncio.to_thread(self._ask, name, arguments)

    async def command(self, name: str, *arguments: Any) -> Any:
        """Run a command of VS Code or of an extension, and return its result."""
        return await self.ask("command", name, *arguments)

    async def configure(self, settings: Mapping[str, object], where: str = "Workspace") -> None:
        """Change settings of the workspace or of the user (`Global`) until the window is reset."""
        await self.ask("configure", settings, where)

    def _ask(self, name: str, arguments: Sequence[Any]) -> Any:
        try:
            port = self._port.read_text("utf-8").split()[0]
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}", json.dumps({"name": name, "args": arguments}).encode()
            )
            with _OPENER.open(request, timeout=_SECONDS) as response:
                reply = json.load(response)
        except (FileNotFoundError, ConnectionError, urllib.error.URLError) as problem:
            raise NotYet(f"no extension host: {problem}") from problem
        assert "error" not in reply, reply["error"]
        return reply["result"]


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# Commands of VS Code for language features.


async def hover(host: Host, at: Spot) -> str:
    """Return the hovers at a place as markdown."""
    found = await host.command("vscode.executeHoverProvider", uri(at.path), at.position)
    return "\n\n".join(str(part) for each in found for part in each["contents"])


async def places(host: Host, what: str, at: Spot) -> list[tuple[Path, int]]:
    """Return the results of a provider, such as `Definition` or `Reference`.

    Lines count from 0.
    """
    found = await host.command(f"vscode.execute{what}Provider", uri(at.path), at.position)
    return [
        (Path(each.get("targetUri") or each["uri"]), (each.get("targetRange") or each["range"])[0])
        for each in found
    ]


async def problems(host: Host, path: Path) -> list[dict[str, Any]]:
    """Return the diagnostics of a file from all extensions, in the order of lines."""
    found = await host.ask("diagnostics", uri(path))
    return sorted(found, key=lambda each: (each["range"], each["message"]))
