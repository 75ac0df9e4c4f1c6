"""Scripts that run in an editor, whose driver writes their value or error to a JSON file."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(sys.executable).parent  # of the environment: `hlo-lsp`, and `nvim` if installed
PATH = os.pathsep.join((str(PROGRAMS), os.environ["PATH"]))
SECONDS = 180


def value_of(
    script: Path,
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Callable[[], str] = lambda: "",
) -> Any:
    """Run an editor whose driver runs a script, and return the value; a test fails on an error.

    ``log`` returns further text for the message about an error.
    """
    result = script.with_name("result.json")
    result.unlink(missing_ok=True)
    ended = subprocess.run(
        command,
        env={**environment, "HLO_TEST_SCRIPT": str(script), "HLO_TEST_RESULT": str(result)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    printed = f"{ended.stdout}{ended.stderr}"
    if not result.is_file():
        pytest.fail(f"{command[0]} ended with {ended.returncode}:\n{printed}")
    return value_in(result, lambda: printed + log())


def value_in(result: Path, log: Callable[[], str]) -> Any:
    """Return the value that a driver wrote; a test fails on an error."""
    outcome = json.loads(result.read_text("utf-8"))
    if "failure" in outcome:
        pytest.fail(f"{outcome['failure']}\n{log()}")
    return outcome.get("value")
