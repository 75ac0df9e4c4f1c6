"""What ``hlo-lsp inspect`` and ``hlo-lsp check`` print, for editors that have no terminal."""

import asyncio
import os
import sys

from lsprotocol import types

from hlo_lsp.features.refusal import RefusedError
from hlo_lsp.features.session import Session
from hlo_lsp.features.uris import path_of

INSPECT = "hlo.server.inspect"
CHECK = "hlo.server.check"
_FOUND = 1  # the status of a check that found something
# A process of its own: it is as quick as in a terminal, and the server answers meanwhile.
_COMMAND = (sys.executable, "-m", "hlo_lsp")


async def inspected(session: Session, uri: str, position: types.Position) -> str:
    """What is known of a place in a file, as it is on disk.

    Raises:
        RefusedError: nothing is, or the file is no dump on disk.
    """
    document = types.TextDocumentIdentifier(uri)
    path = path_of(uri)
    asked = await session.ask(document, position.line, closed=True)
    if path is None or asked is None:
        raise RefusedError(f"{uri}: this is no HLO or memory dump on disk")
    line, column = asked.convert.column(asked.file, position)
    place = f"{asked.file.first_line + line + 1}:{column + 1}"
    status, printed, complaints = await _run("inspect", "--at", place, "--", str(path))
    if status:
        raise RefusedError(complaints)
    return printed


async def checked(uri: str) -> str:
    """What does not add up in a file or the files of a folder, as they are on disk.

    Raises:
        RefusedError: there is nothing that can be checked.
    """
    path = path_of(uri)
    if path is None:
        raise RefusedError(f"{uri}: this lies nowhere on disk")
    status, printed, complaints = await _run("check", "--", str(path))
    if status not in {0, _FOUND}:
        raise RefusedError(complaints)
    return printed


async def _run(*arguments: str) -> tuple[int, str, str]:
    """The exit status of a command, what it prints, and what it complains of."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in {"COLUMNS", "FORCE_COLOR"}}  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        *arguments,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()  # nobody waits for it any more
    return process.returncode or 0, output.decode(), errors.decode().strip()
