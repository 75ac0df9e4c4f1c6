"""Bytes between a client and the server, cut into messages."""

import asyncio

import pytest

from hlo_lsp.lsp.protocol.connection import read_bodies


async def read(data: bytes, limit: int = 1 << 16) -> list[bytes | None]:
    reader = asyncio.StreamReader(limit=limit)
    reader.feed_data(data)
    reader.feed_eof()
    return [body async for body in read_bodies(reader)]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Type: x; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: x\r\n\r\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
async def test_a_header_says_how_long_the_body_is(header: bytes) -> None:
    assert await read(header + b"{}" + header + b"[]") == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "header",
    [
        b"X: y\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    ],
)  # fmt: skip
async def test_one_that_does_not_is_told_and_passed_over(header: bytes) -> None:
    assert await read(header + b"Content-Length: 2\r\n\r\n{}") == [None, b"{}"]


async def test_a_body_that_is_longer_than_said_costs_itself_only() -> None:
    data = b"Content-Length: 3\r\n\r\n{1234}Content-Length: 2\r\n\r\n{}"
    assert await read(data) == [b"{12", b"{}"]


async def test_a_line_without_an_end_is_passed_over() -> None:
    data = b"x" * 5000 + b"\r\n\r\nContent-Length: 2\r\n\r\n{}"
    assert await read(data, limit=1000) == [None, b"{}"]


async def test_the_end_in_the_middle_of_a_body_is_said() -> None:
    with pytest.raises(asyncio.IncompleteReadError):
        await read(b"Content-Length: 3\r\n\r\n{}")
