"""The command line as a process, as a user runs it with its output in a pipe."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.process import COMMAND

_MOODS = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE")


@dataclass(frozen=True)
class Ran:
    """What a command said, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, read as JSON."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """The environment without what would change widths and colours."""
    return {**{k: v for k, v in os.environ.items() if k not in _MOODS}, **more}


def run(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Ran:
    """Run ``hlo-lsp`` to its end. There is no input, and never a traceback."""
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
    return Ran(ended.returncode, ended.stdout, ended.stderr)
