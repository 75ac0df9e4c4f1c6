"""Tests for the server on a TCP socket."""

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Iterator

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from e2e.process import COMMAND
from e2e.wire import TIMEOUT_SECONDS

Process = subprocess.Popen[bytes]


@pytest.fixture
def port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


@pytest.fixture
def server(port: int) -> Iterator[Process]:
    command = [*COMMAND, "serve", "--tcp", "--port", str(port), "-v"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


async def wait_until_listening(server: Process) -> str:
    """Wait until the server listens, and return its log message."""

    def wait() -> str:
        assert server.stderr is not None
        for line in server.stderr:
            if b"erving on" in line:
                return line.decode()
        raise AssertionError("the server does not listen")

    return await asyncio.wait_for(asyncio.to_thread(wait), TIMEOUT_SECONDS)


async def initialize_and_hover(client: LanguageClient) -> str:
    """Initialize the server, open a dump, and return the text of a hover."""
    result = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    assert result.server_info is not None
    assert result.server_info.name == "hlo-lsp"
    client.initialized(types.InitializedParams())
    item = types.TextDocumentItem("untitled:1", "hlo", 1, "BufferAssignment:\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    document = types.TextDocumentIdentifier("untitled:1")
    found = await client.text_document_hover_async(
        types.HoverParams(document, types.Position(0, 0))
    )
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_server_on_loopback_ends_with_the_client(server: Process, port: int) -> None:
    line = await wait_until_listening(server)
    assert "127.0.0.1" in line
    assert "0.0.0.0" not in line
    client = LanguageClient("test", "1")
    await client.start_tcp("127.0.0.1", port)
    assert (await initialize_and_hover(client)).startswith("BufferAssignment")
    await client.shutdown_async(None)
    client.exit(None)
    out, err = await asyncio.to_thread(server.communicate, None, TIMEOUT_SECONDS)
    assert server.returncode == 0
    assert out == b""
    assert b"Traceback" not in err
    with contextlib.suppress(Exception):
        await client.stop()


async def test_disconnect_of_the_client_ends_the_server(server: Process, port: int) -> None:
    await wait_until_listening(server)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await writer.wait_closed()
    out, err = await asyncio.to_thread(server.communicate, None, TIMEOUT_SECONDS)
    assert server.returncode is not None
    assert out == b""
    assert b"Traceback" not in err


def test_occupied_port_is_reported(port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        ended = subprocess.run(
            [*COMMAND, "--tcp", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
    assert ended.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
