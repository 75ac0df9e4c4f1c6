"""Tests for the exit status, the output, and the log of the server process."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.process import COMMAND
from e2e.wire import TIMEOUT_SECONDS, Json, Wire, did_open, hover, message

TEXT = "BufferAssignment:\nallocation 0: size 0, constant:\n"


@pytest.fixture
def start() -> Iterator[type[Wire]]:
    """Yield a class that starts servers, and kill these servers at the end."""
    started: list[Wire] = []

    class KilledWire(Wire):
        def __init__(self, *options: str) -> None:
            super().__init__(*options)
            started.append(self)

    yield KilledWire
    for wire in started:
        wire.process.kill()
        wire.process.wait()


def test_shutdown_and_exit_end_the_process_with_success(start: type[Wire]) -> None:
    wire = start()
    wire.initialize()
    wire.send(did_open("untitled:1", TEXT) + message("shutdown", None, 1))
    assert wire.reply(1)["result"] is None
    wire.send(message("exit"))
    assert wire.process.wait(TIMEOUT_SECONDS) == 0
    assert (wire.log, wire.stray_output) == ("", b"")


def test_exit_without_shutdown_is_a_failure(start: type[Wire]) -> None:
    wire = start()
    wire.initialize()
    wire.send(message("exit"))
    assert wire.process.wait(TIMEOUT_SECONDS) == 1
    assert "Traceback" not in wire.log


def test_end_of_input_inside_a_message_ends_the_process(start: type[Wire]) -> None:
    wire = start()
    wire.initialize()
    wire.send(b"Content-Length: 100\r\n\r\n{")
    wire.end()
    assert wire.process.returncode is not None
    assert "Traceback" not in wire.log


def test_end_of_input_before_initialize_ends_the_process(start: type[Wire]) -> None:
    wire = start()
    wire.end()
    assert "Traceback" not in wire.log


def test_closed_output_ends_the_process() -> None:
    lines = "".join(f"allocation {number}: size 0, constant:\n" for number in range(20_000))
    document = {"textDocument": {"uri": "untitled:1"}}
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
        process.stdin.write(message("initialize", params, 1))
        process.stdin.write(did_open("untitled:1", f"BufferAssignment:\n{lines}"))
        process.stdin.write(message("textDocument/documentSymbol", document, 2))
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Content-Length")
        process.stdout.close()
        _, log = process.communicate(timeout=TIMEOUT_SECONDS)
    assert b"Exception ignored" not in log


def test_keyboard_interrupt_prints_no_traceback(start: type[Wire]) -> None:
    # A shell starts background processes with SIGINT ignored, which the server would inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    wire = start()
    signal.signal(signal.SIGINT, before)
    wire.initialize()
    wire.process.send_signal(signal.SIGINT)
    wire.process.wait(TIMEOUT_SECONDS)
    assert "Traceback" not in wire.log


def test_standard_output_carries_the_protocol_only(start: type[Wire]) -> None:
    assert "no/such" in log_after_failed_request(start("serve", "-vv"))


def test_log_file_replaces_standard_error(start: type[Wire], tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    assert log_after_failed_request(start("serve", "-v", "--log-file", str(log))) == ""
    assert "no/such" in log.read_text("utf-8")


def log_after_failed_request(wire: Wire) -> str:
    """Return what a server prints on standard error until its end, with one failed request."""
    wire.initialize()
    wire.send(did_open("untitled:1", TEXT) + hover("untitled:1", 0, 0, 1))
    assert "BufferAssignment" in wire.reply(1)["result"]["contents"]["value"]
    wire.send(message("no/such", {}, 2))
    assert wire.reply(2)["error"]
    wire.send(message("shutdown", None, 3) + message("exit"))
    assert wire.process.wait(TIMEOUT_SECONDS) == 0
    assert wire.stray_output == b""
    return wire.log


def test_unwritable_log_file_is_reported_and_ignored(start: type[Wire], tmp_path: Path) -> None:
    wire = start("--log-file", str(tmp_path / "no folder" / "server.log"))
    wire.initialize()
    wire.send(message("shutdown", None, 1) + message("exit"))
    assert wire.process.wait(TIMEOUT_SECONDS) == 0
    assert "cannot log to" in wire.log
    assert "no folder" in wire.log
    assert "Traceback" not in wire.log


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_log_on_a_full_disk_is_ignored(start: type[Wire]) -> None:
    wire = start("-v", "--log-file", "/dev/full")
    wire.initialize()
    wire.send(message("no/such", {}, 1) + message("shutdown", None, 2) + message("exit"))
    assert wire.process.wait(TIMEOUT_SECONDS) == 0
    assert wire.log == ""
