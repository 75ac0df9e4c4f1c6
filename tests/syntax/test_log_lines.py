"""Prefixes of loggers, colors, and escaped line ends."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.syntax.log_lines import log_lines, split_prefix, unescaped_lines


@pytest.mark.parametrize(
    ("line", "source", "text"),
    [
        ("E1120 12:00:00.000000 123 file.cc:1]   1. Size: 6G", "", "  1. Size: 6G"),
        ("W0000 00:00:1756998431.440298    5182 remat.cc:3183] Can't", "", "Can't"),
        ("2020-05-04 09:05:40.721128: E    1578 a/b.cc:76]   Shape: x", "", "  Shape: x"),
        ("2025-09-04T01:02:03.123Z Shape: x", "", "Shape: x"),
        (
            "(EngineCore pid=106) ERROR 06-03 07:41:11 [core.py:1184] 5.",
            "(EngineCore pid=106)",
            "5.",
        ),
        ("INFO:tensorflow:Error", "", "Error"),
        ("> > Total", "", "Total"),
        ("host-3: Total", "host-3:", "Total"),
        ("12: Total", "12:", "Total"),
        ("[worker-1] Shape: x", "[worker-1]", "Shape: x"),
        ("worker-1  | Shape: x", "worker-1  |", "Shape: x"),
        ("RESOURCE_EXHAUSTED: E1001: x", "", "RESOURCE_EXHAUSTED: E1001: x"),
        ("E1001: CompileTimeScopedVmemOom:", "", "E1001: CompileTimeScopedVmemOom:"),
        ("Buffer 1:", "", "Buffer 1:"),
        ("[shape = 'f32[1]'", "", "[shape = 'f32[1]'"),
    ],
)
def test_prefix_is_split_from_text(line: str, source: str, text: str) -> None:
    assert split_prefix(line) == (source, text)


def test_colors_are_removed() -> None:
    colored = ["71\x1b[2m\x1b[36m(W pid=4)\x1b[0m Peak", "72[2m[36m(W pid=4)[0m Peak"]
    assert [line.text for line in log_lines(colored)][1:] == ["Peak"]


def test_fences_are_left_out() -> None:
    assert [line.text for line in log_lines(["```text", "a", "```"])] == ["a"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_repr_is_split_into_lines(depth: int) -> None:
    text = 'Ran out\n\nTotal hbm\n\tOperator: op_name="a[\\n  b]"\nSee x'
    escaped = text
    for _ in range(depth):
        escaped = repr(escaped)
    assert unescaped_lines(escaped)[1:3] == ["", "Total hbm"]
    assert '"a[\\n  b]"' in "\n".join(unescaped_lines(escaped))


def _read(*lines: str) -> list[tuple[str, str]]:
    found = log_lines(lines, lambda text: text.find("Ran out"))
    return [(line.source, line.raw) for line in found]


def test_prefix_of_message_is_learned() -> None:
    lines = ("06:10:09 train: Ran out", "06:10:10 train:", "06:10:10 train:   Shape", "other")
    assert _read(*lines) == [
        ("train:", "Ran out"), ("train:", ""), ("train:", "  Shape"), ("", "other"),
    ]  # fmt: skip


def test_prefix_of_one_line_is_kept() -> None:
    lines = [("", "train: Ran out"), ("", "Total"), ("", "  Shape")]
    assert _read(*(text for _, text in lines)) == lines


def test_repeated_message_is_no_prefix() -> None:
    lines = ("a: X: Ran out", "a: X: Ran out", "a: Total")
    assert [text for _, text in _read(*lines)] == ["X: Ran out", "X: Ran out", "Total"]


@given(st.text())
def test_any_text_has_lines(text: str) -> None:
    assert len(list(log_lines(text.split("\n")))) >= 0


def test_backslashes_take_linear_time() -> None:
    start = time.process_time()
    unescaped_lines("\\" * 200_000)
    assert time.process_time() - start < 2
