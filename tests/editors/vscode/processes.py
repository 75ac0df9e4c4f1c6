"""The server's process below a window: found by what started it and by its command line."""

import os
import signal
from pathlib import Path

from editors.vscode.waiting import NotYet, until
from editors.vscode.window import Window


async def server(window: Window, but: int | None = None) -> int:
    """The process of the server of a window, other than the one that was there before."""

    async def running() -> int:
        found = [each for each in _servers(window.host.process) if each != but]
        if len(found) != 1:
            raise NotYet(found)
        return found[0]

    return await until(running)


async def kill(window: Window, but: int | None = None) -> int:
    """Ends it as the kernel does when memory is short; returns which it was."""
    process = await server(window, but)
    os.kill(process, signal.SIGKILL)
    return process


def is_served(window: Window) -> bool:
    """Whether there is a server now."""
    return bool(_servers(window.host.process))


def _servers(host: int | None) -> list[int]:
    return [
        process for process, parent in _parents().items() if parent == host and _is_ours(process)
    ]


def _parents() -> dict[int, int]:
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in brackets, may hold blanks and brackets.
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    return parents


def _is_ours(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"hlo_lsp" in command and b"--stdio" in command
