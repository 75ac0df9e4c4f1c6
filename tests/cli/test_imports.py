"""The modules that commands import, which are most of the time of a short answer."""

import subprocess
import sys
from pathlib import Path

import pytest

_CODE = """
import contextlib, io, sys
from hlo_lsp.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(*sys.modules)
"""
pytestmark = pytest.mark.e2e  # each test starts a process


def _imported(*arguments: str | Path) -> set[str]:
    ended = subprocess.run(
        [sys.executable, "-c", _CODE, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(ended.stdout.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_no_reader(option: str) -> None:
    found = _imported(option)
    assert len([name for name in found if name.startswith("hlo_lsp")]) <= 20
    assert not found & {"lark", "rich", "dataclasses", "tempfile", "difflib", "google.protobuf"}


@pytest.mark.parametrize(
    ("command", "count"),
    [("summary", 138), ("summary --padding", 94), ("cost", 117), ("find b", 98)],
)
def test_command_imports_what_it_needs(command: str, count: int, dump: Path) -> None:
    found = _imported(*command.split(), dump)
    assert len([name for name in found if name.startswith("hlo_lsp")]) <= count
    others = {"pygls", "lsprotocol", "google.protobuf", "rich.console", "multiprocessing.pool"}
    others |= {"lark", "subprocess", "tarfile", "tempfile"}
    assert not found & {*others, "hlo_lsp.reports.oom_report", "hlo_lsp.checks.run"}
