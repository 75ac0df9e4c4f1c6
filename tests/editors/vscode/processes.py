"""The server process of a window, found by its parent and command line."""

import os
import signal
from pathlib import Path

from editors.vscode.waiting import NotYet, until
from editors.vscode.window import Window


async def server(window: Window, but: int | None = None) -> int:
    """Return the server process of a window, other than a previous one."""

    async def running() -> int:
        found = [each for each in _servers(window.host.process) if each != but]
        if len(found) != 1:
            raise NotYet(found)
        return found[0]

    return await until(running)


async def kill(window: Window, but: int | None = None) -> int:
    """Kill the server as the kernel does when memory is short, and return its process id."""
    process = await server(window, but)
    os.kill(process, signal.SIGKILL)
    return process


def is_served(window: Window) -> bool:
    """Return whether there is a server."""
    return bool(_servers(window.host.process))


def command(process: int) -> list[str]:
    """Return the command line of a process."""
    arguments = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    return arguments[:-1]  # each argument ends with a zero byte


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
        arguments = command(process)
    except OSError:
        return False
    return "--stdio" in arguments and any(
        each == "hlo_lsp" or each.endswith("hlo_lsp_main.py") for each in arguments
    )
