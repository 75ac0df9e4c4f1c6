"""What extensions of a window of VS Code are told: the test extension asks, and answers in JSON."""

import asyncio
import hashlib
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editors.vscode.waiting import NotYet

_SECONDS = 120


@dataclass(frozen=True)
class Spot:
    """A place in a file: line and column from 0, as VS Code's own interface counts."""

    path: Path
    line: int
    column: int

    @property
    def position(self) -> dict[str, list[int]]:
        """For the test extension."""
        return {"$position": [self.line, self.column]}


def uri(path: Path | str) -> dict[str, str]:
    """A file, or a URI, for the test extension."""
    return {"$uri": str(path)}


def spot(path: Path, marked: str) -> Spot:
    """The place that `^` marks in a piece of text that occurs once in the file.

    `spot(module, "%fusion.3 = ^f32")` is where the shape of that instruction begins.
    """
    before, _, behind = marked.partition("^")
    text = path.read_text("utf-8")
    assert text.count(before + behind) == 1, f"{text.count(before + behind)} times {marked}"
    start = text.index(before + behind) + len(before)
    return Spot(path, text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1))


class Host:
    """The extension host of the window that shows a folder."""

    def __init__(self, ports: Path, folder: Path | None) -> None:
        name = "" if folder is None else str(folder)
        self._port = ports / hashlib.sha256(name.encode()).hexdigest()

    @property
    def process(self) -> int | None:
        """Id of the process; None before it has told."""
        try:
            return int(self._port.read_text("utf-8").split()[1])
        except FileNotFoundError:
            return None

    def forget(self) -> None:
        """Forgets where it listens: the window is loaded anew, and there will be another."""
        self._port.unlink(missing_ok=True)

    async def ask(self, name: str, *arguments: Any) -> Any:
        """What a request of probe/main.js answers.

        Raises NotYet while there is no extension host, AssertionError if the request failed.
        """
        return await asyncio.to_thread(self._ask, name, arguments)

    async def command(self, name: str, *arguments: Any) -> Any:
        """What a command of VS Code or of an extension answers."""
        return await self.ask("command", name, *arguments)

    def _ask(self, name: str, arguments: Sequence[Any]) -> Any:
        try:
            port = self._port.read_text("utf-8").split()[0]
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}", json.dumps({"name": name, "args": arguments}).encode()
            )
            with _OPENER.open(request, timeout=_SECONDS) as response:
                told = json.load(response)
        except (FileNotFoundError, ConnectionError, urllib.error.URLError) as problem:
            raise NotYet(f"no extension host: {problem}") from problem
        assert "error" not in told, told["error"]
        return told["result"]


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# What VS Code asks of language features, by its own names.


async def hover(host: Host, at: Spot) -> str:
    """All that is shown at a place, as markdown; empty if nothing is."""
    found = await host.command("vscode.executeHoverProvider", uri(at.path), at.position)
    return "\n\n".join(str(part) for each in found for part in each["contents"])


async def places(host: Host, what: str, at: Spot) -> list[tuple[Path, int]]:
    """Where `Definition`, `Declaration`, `TypeDefinition`, `Implementation`, `Reference` lead.

    Lines from 0.
    """
    found = await host.command(f"vscode.execute{what}Provider", uri(at.path), at.position)
    return [
        (Path(each.get("targetUri") or each["uri"]), (each.get("targetRange") or each["range"])[0])
        for each in found
    ]


async def problems(host: Host, path: Path) -> list[dict[str, Any]]:
    """Diagnostics of a file, those of all extensions, in the order of lines."""
    found = await host.ask("diagnostics", uri(path))
    return sorted(found, key=lambda each: (each["range"], each["message"]))
