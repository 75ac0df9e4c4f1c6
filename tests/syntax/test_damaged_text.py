"""Tests for the distinction between damaged lines and lines of unknown forms."""

import pytest

from hlo_lsp.syntax.damaged_text import is_damaged_line, outline
from hlo_lsp.syntax.scanners import memory_scanner

_ROW = "    fusion.2{}:3-14"
_LIVE = "    fusion.2{}: 64 bytes (cumulative: 43136 bytes)"


def is_damaged(line: str) -> bool:
    rules = memory_scanner().lines
    assert rules.read(line) is None
    failure = rules.explain(line)
    return is_damaged_line(line, lambda text: rules.read(text) is not None, failure, rules.openings)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("    fusion.2{}3-14", id="a sign is missing"),
        pytest.param("    fusion.2{:3-14", id="a bracket is missing"),
        pytest.param("    fusion.2{}:-14", id="a number is missing"),
        pytest.param("    fusion.2{}:3", id="the end is missing"),
        pytest.param("    fusion.2{}: 64 byt", id="the end of a word is missing"),
        pytest.param("  BufferLive", id="the end of a label is missing"),
        pytest.param("  BuferLiveRange:", id="a letter of a label is missing"),
        pytest.param(_LIVE.replace("cumulative", "comulative"), id="another letter"),
        pytest.param(_ROW + _ROW, id="two lines are joined"),
        pytest.param("I0000 00:00:00.0 1 service.cc:145] hello", id="a line of a log"),
        pytest.param(">>> hlo_lsp", id="a prompt"),
        pytest.param("@@ -1,3 @@", id="a mark of a diff"),
    ],
)
def test_damaged_line_lacks_a_part(line: str) -> None:
    assert is_damaged(line)


@pytest.mark.parametrize(
    "line",
    [
        "    fusion.2:3-14",
        "    fusion.2{}:3..14",
        "    fusion.2{}:[3, 14]",
        "    fusion.2{}:3-14 (12 steps)",
        "    fusion.2{}@1: 3-14, 20-22",
        _LIVE.replace("bytes (", "bytes on hbm ("),
        "  CoreSequence:",
        "Pools: 3, largest 5",
        "HloLiveRange (spaces 2, max 14):",
        "      ├── jit(f)/add (3%, 5 bytes)",
    ],
)
def test_line_of_a_new_form_is_not_damaged(line: str) -> None:
    assert not is_damaged(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    zeta.2{}:3-14", "    x.0{}:0-0"),
        ("total: 1 234 567 bytes", "total: 0 bytes"),
        ('%zq = zf32[8] zzz(%zb), zap="f({"', '%x = x0[0] x(%x), x=""'),
    ],
)
def test_rows_of_one_kind_have_one_outline(line: str, expected: str) -> None:
    assert outline(line) == expected
