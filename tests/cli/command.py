"""The command line with its output in a pipe: in this process, or as a process."""

import gc
import json
import logging
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

from e2e.process import COMMAND
from hlo_lsp.cli.main import main

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

    @property
    def findings(self) -> Any:
        """The findings of ``hlo-lsp check --format json``."""
        return self.json["findings"]


def environment(**more: str) -> dict[str, str]:
    """Return the environment without variables that change widths and colors."""
    return {**{k: v for k, v in os.environ.items() if k not in _TERMINAL_VARIABLES}, **more}


def run(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> CommandResult:
    """Run ``hlo-lsp`` in this process; an exception or a printed traceback fails the test."""
    out, err = _pipe(), _pipe()
    with _changed_process(cwd, variables), redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as ended:  # argparse
            status = int(ended.code or 0)
    return _result(status, _written(out), _written(err))


def run_process(
    *arguments: str | Path, cwd: Path | None = None, text: str = "", **variables: str
) -> CommandResult:
    """Run ``hlo-lsp`` as a process with an input, and require that it prints no traceback."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=text,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment(**variables),
        check=False,
        timeout=120,
    )
    return _result(ended.returncode, ended.stdout, ended.stderr)


def _result(status: int, out: str, err: str) -> CommandResult:
    assert "Traceback" not in err
    return CommandResult(status, out, err)


@contextmanager
def _changed_process(folder: Path | None, variables: dict[str, str]) -> Iterator[None]:
    """Set the current folder and the environment, and undo these and what the command sets."""
    before = Path.cwd()
    thresholds, raises, root = gc.get_threshold(), logging.raiseExceptions, logging.getLogger()
    handlers, level = root.handlers, root.level
    with patch.dict(os.environ, environment(**variables), clear=True):
        os.chdir(folder or before)
        root.handlers = []  # The command adds its own, which writes to standard error.
        try:
            yield
        finally:
            root.handlers = handlers
            root.setLevel(level)
            os.chdir(before)
            gc.set_threshold(*thresholds)
            logging.raiseExceptions = raises


def _pipe() -> TextIOWrapper:
    return TextIOWrapper(BytesIO(), encoding="utf-8", newline="\n", write_through=True)


def _written(pipe: TextIOWrapper) -> str:
    assert isinstance(pipe.buffer, BytesIO)
    return pipe.buffer.getvalue().decode()
