"""Tests for standard output whose lines no CI system runs as commands."""

import sys
from io import StringIO
from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.cli.inert_streams import guard_standard_streams, unguarded_output


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["::error::x\n"], ":\\x3aerror::x\n"),
        (["\u00a0", ":", ":error::x\n"], "\u00a0:\\x3aerror::x\n"),
        (["a", "::b\n", "::c"], "a::b\n:\\x3ac"),
        (["x" * 1000, "#", "#[x]"], f"{'x' * 1000}##\\x5bx]"),
        ([" " * 1000, "::x"], f"{' ' * 1000}:\\x3ax"),
    ],
)
def test_commands_in_several_parts_are_escaped(
    parts: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", StringIO())
    guard_standard_streams()
    sys.stdout.writelines(parts)
    assert unguarded_output().getvalue() == expected  # type: ignore[attr-defined]


def test_usage_error_prints_no_command(tmp_path: Path) -> None:
    found = run("check", tmp_path, "--x\n\u00a0::error::spoofed")
    assert "\n\u00a0:\\x3aerror::spoofed" in found.err


def test_wrapped_lines_are_no_commands(tmp_path: Path) -> None:
    name = f"{'x' * 40} ::error::spoofed"
    (tmp_path / name).write_bytes(b"HloModule m\n\nENTRY %e {\n}\n}\n")
    found = run("check", tmp_path / name, COLUMNS="40")
    assert not [line for line in found.out.split("\n") if line.startswith("::")]
