"""Findings of `hlo-lsp check`, as a reference for the problems of VS Code."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from editors.conftest import Compile

# Range (lines and columns from 0), severity, code, message.
Problem = tuple[tuple[int, int, int, int], str, str, str]
_SEVERITIES = ("error", "warning", "information", "hint")  # as VS Code counts them


def checked(dump: Compile, path: Path, text: str, folder: Path) -> list[Problem]:
    """Return the findings in a text beside its companion files, in the order of lines."""
    shutil.copytree(dump.folder, folder, ignore=shutil.ignore_patterns(".vscode"))
    (folder / path.name).write_text(text, "utf-8", newline="\n")
    command = [sys.executable, "-m", "hlo_lsp", "check", "--format", "json", "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode in {0, 1}, done.stderr
    lines = text.split("\n")
    return sorted(
        _printed(each, lines) for each in json.loads(done.stdout) if each["path"] == path.name
    )


def problems_of(diagnostics: Sequence[Any]) -> list[Problem]:
    """Return the problems of VS Code in the same form."""
    return sorted(
        (
            (*each["range"],),
            _SEVERITIES[each["severity"]],
            each["code"] if isinstance(each["code"], str) else each["code"]["value"],
            each["message"],
        )
        for each in diagnostics
    )


def _printed(each: Any, lines: Sequence[str]) -> Problem:
    place = (each["line"], each["column"], each["end_line"], each["end_column"])
    line, column, end_line, end_column = (number - 1 for number in place)
    # A finding after the end of a line has no place in an editor.
    end_column = min(end_column, len(lines[end_line]))
    return (line, column, end_line, end_column), each["severity"], each["code"], each["message"]
