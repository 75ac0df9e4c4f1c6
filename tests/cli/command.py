"""The command line as a process with its output in a pipe."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.process import COMMAND

_TERMINAL_VARIABLES = (
    "COLUMNS",
    "LINES",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "TTY_COMPATIBLE",
)


@dataclass(frozen=True)
class CommandResult:
    """The output and exit status of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The standard output, parsed as JSON."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """Return the environment without variables that change widths and colors."""
    return {**{k: v for k, v in os.environ.items() if k not in _TERMINAL_VARIABLES}, **more}


def run(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> CommandResult:
    """Run ``hlo-lsp`` without input, and require that it prints no traceback."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment(**variables),
        check=False,
        timeout=120,
    )
    assert "Traceback" not in ended.stderr
    return CommandResult(ended.returncode, ended.stdout, ended.stderr)
