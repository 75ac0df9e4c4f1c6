"""Tests for the comparison of a folder, with dumps that agree and with one that was changed."""

import re
import shutil
from pathlib import Path

import pytest

from compilers.comparisons import Comparison, compare_folder
from compilers.records import Count
from oracles.xla_parser import XlaModule


@pytest.fixture
def folder(tmp_path: Path, corpus_compact_gte: Path) -> Path:
    """Return a copy of two compiles without ``get-tuple-element`` instructions."""
    return Path(shutil.copytree(corpus_compact_gte / "compact" / "cpu", tmp_path / "cpu"))


def _no_parser(text: str, path: Path) -> XlaModule | None:
    return None


def _change(folder: Path, suffix: str, pattern: str, replacement: str) -> str:
    """Change the first match in the first file with a suffix, and return its name."""
    path = min(folder.glob(f"*{suffix}"))
    text, count = re.subn(pattern, replacement, path.read_text("utf-8"), count=1)
    assert count == 1
    path.write_text(text, "utf-8")
    return path.name


def test_real_dumps_agree(folder: Path) -> None:
    counts = compare_folder(folder, {}, _no_parser).counts
    assert all(count.differ == 0 for count in counts.values())
    assert all(counts[name].agree > 5 for name in ("sizes", "uses"))
    assert counts["totals"].agree > 1
    assert counts["peaks"].agree > 1
    assert counts["parser"].agree == 0
    assert counts["parser"].unknown > 1


def test_other_size_total_and_use_differ(folder: Path) -> None:
    _change(folder, "-buffer-assignment.txt", r"size=\d+,offset", "size=3,offset")
    _change(folder, "-memory-usage-report.txt", r"Total bytes: \d+", "Total bytes: 7")
    _change(folder, "-buffer-assignment-values.txt", r" uses:\n  \S+,", " uses:\n  other,")
    comparison = compare_folder(folder, {}, _no_parser)
    assert {name: count.differ for name, count in comparison.counts.items()} == {
        "sizes": 1,
        "uses": 1,
        "totals": 1,
        "peaks": 0,
        "parser": 0,
    }
    assert [line.partition(":")[0] for line in comparison.differences] == [
        "sizes",
        "uses",
        "totals",
    ]


def test_other_memory_analysis_differs(folder: Path) -> None:
    name = min(folder.glob("*-buffer-assignment.txt")).name
    numbers = {"argument_size_in_bytes": 1, "peak_memory_in_bytes": 1}
    counts = compare_folder(folder, {name: numbers}, _no_parser).counts
    assert counts["totals"].differ == 1
    assert counts["peaks"].differ == 1


def test_unknown_facts_neither_agree_nor_differ() -> None:
    comparison = Comparison()
    comparison.add("sizes", [("a", 1, 1), ("b", None, 1), ("c", 1, 2)])
    assert comparison.counts["sizes"] == Count(1, 1, 1)
    assert comparison.differences == ["sizes: c: hlo-lsp 1, XLA 2"]
