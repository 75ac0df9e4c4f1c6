"""Tests for messages as bytes: in chunks, joined, outside ASCII, and long."""

import re

import pytest

from e2e.wire import Json, Wire, did_open, hover, message

TEXT = """\
BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}
"""
UTF8 = {"general": {"positionEncodings": ["utf-8"]}}


def hovered_value(reply: dict[str, dict[str, dict[str, str]]]) -> str:
    """Return the name of the value that a hover describes."""
    (name,) = re.findall(r"result of (\S+)", reply["result"]["contents"]["value"])
    return str(name)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_messages_may_come_in_chunks_of_any_size(shared_wire: Wire, size: int) -> None:
    uri = f"untitled:é{size}"
    data = did_open(uri, TEXT, ascii_only=False) + hover(uri, 2, 9, 1)
    for start in range(0, len(data), size):
        shared_wire.send(data[start : start + size])
    assert hovered_value(shared_wire.reply(1)) == "x"


def test_lengths_count_bytes(wire: Wire) -> None:
    wire.initialize(**UTF8)
    body = "│├─𝔸é" * 50
    wire.send(did_open("untitled:1", TEXT + body, ascii_only=False))
    changes: list[Json] = [{"range": span(3, 0, 3, len((body[:-1]).encode())), "text": "x"}]
    wire.send(did_change("untitled:1", changes))
    wire.send(hover("untitled:1", 2, 9, 1))
    assert hovered_value(wire.reply(1)) == "x"
    wire.send(message("textDocument/diagnostic", {"textDocument": {"uri": "untitled:1"}}, 2))
    (found,) = [d for d in wire.reply(2)["result"]["items"] if d["range"]["start"]["line"] == 3]
    assert found["range"]["end"] == {
        "line": 3,
        "character": 3,
    }  # "xé" is left: one byte and two bytes.


def test_replies_are_framed_by_their_length_in_bytes(shared_wire: Wire) -> None:
    wire = shared_wire
    name = "jit(f)/模型/│├─𝔸é"
    entry = (
        f"<1 x @0>\n positions:\n  x\n uses:\n from instruction: %x = f32[4]{{0:T(128)}} "
        f'parameter(0), metadata={{op_name="{name}"}}\n'
    )
    wire.send(did_open("untitled:framed", f"{TEXT}\nUsed values:\n{entry}", ascii_only=False))
    wire.send(hover("untitled:framed", 2, 9, 1) + hover("untitled:framed", 2, 9, 2))
    assert name in wire.reply(1)["result"]["contents"]["value"]
    assert name in wire.reply(2)["result"]["contents"]["value"]


def test_text_of_megabytes_arrives_whole(shared_wire: Wire) -> None:
    text = TEXT + "".join(
        f" value: <{number} v.{number} @0> (size=512,offset=0): f32[4]{{0:T(128)}}\n"
        for number in range(2, 60_000)
    )
    assert len(text) > 3_000_000
    data = did_open("untitled:megabytes", text)
    for start in range(0, len(data), 50_000):
        shared_wire.send(data[start : start + 50_000])
    shared_wire.send(hover("untitled:megabytes", 60_000, 12, 1))
    assert hovered_value(shared_wire.reply(1)) == "v.59999"


@pytest.mark.parametrize("request_id", [0, -5, 2**31 - 1, "", "ü"])
def test_reply_carries_the_id_of_its_request(shared_wire: Wire, request_id: int | str) -> None:
    shared_wire.send(hover("untitled:none", 0, 0, request_id))
    assert shared_wire.reply(request_id) == {"id": request_id, "jsonrpc": "2.0", "result": None}


def span(*numbers: int) -> dict[str, dict[str, int]]:
    start, end = numbers[:2], numbers[2:]
    return {
        "start": {"line": start[0], "character": start[1]},
        "end": {"line": end[0], "character": end[1]},
    }


def did_change(uri: str, changes: list[dict[str, object]]) -> bytes:
    document = {"uri": uri, "version": 2}
    params = {"textDocument": document, "contentChanges": changes}
    return message("textDocument/didChange", params)
