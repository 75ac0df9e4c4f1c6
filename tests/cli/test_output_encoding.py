"""Tests for output in encodings that lack some of its characters."""

import sys
from io import BytesIO, TextIOWrapper

import pytest

from hlo_lsp.cli.output_encoding import replace_missing_characters


def printed(text: str, encoding: str, errors: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return what a command prints for a text."""
    output = BytesIO()
    stream = TextIOWrapper(output, encoding=encoding, errors=errors, newline="\n")
    monkeypatch.setattr(sys, "stdout", stream)
    replace_missing_characters()
    print(text, end="", flush=True)
    return output.getvalue()


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "5×f32 · 1 → 2 … ü ☃"),
        ("ascii", "5xf32 | 1 -> 2 ... ? ?"),
        ("latin-1", "5×f32 · 1 -> 2 ... ü ?"),
        ("cp1252", "5×f32 · 1 -> 2 … ü ?"),
        ("cp437", "5xf32 · 1 -> 2 ... ü ?"),
    ],
)
def test_missing_characters_are_replaced(
    encoding: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "5×f32 · 1 → 2 … ü ☃"
    assert printed(text, encoding, "strict", monkeypatch).decode(encoding) == expected


def test_bytes_of_file_names_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    name = b"d\xff.txt".decode("utf-8", "surrogateescape")
    assert printed(f"{name} ·", "ascii", "surrogateescape", monkeypatch) == b"d\xff.txt |"


def test_chosen_handler_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed("1 · 2", "ascii", "backslashreplace", monkeypatch) == b"1 \\xb7 2"
