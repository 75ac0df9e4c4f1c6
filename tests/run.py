#!/usr/bin/env python3
"""Runs every check of this project: linters, types, layers, then all tests. Needs only Python.

`python3 tests/run.py` runs everything, `python3 tests/run.py quick` only the tests that need
neither the whole corpus nor an editor nor the server as a process. Further arguments go to
pytest. The first run makes a private environment in this checkout.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server"))

from environment import Environment, SetupError, provide  # noqa: E402  (found by the line above)

FOLDER = ROOT / ".venv-hlo-lsp-tests"
GROUPS = ("test", "lint", "editors")
SCRIPTS = ("server/environment.py", "nvim-client/try.py", "tests/run.py")
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),  # the package, as pyproject.toml says
    ("mypy", *SCRIPTS),
    ("lint-imports",),
)
TESTS = ("pytest", "-n", "2")
QUICK = ("-m", "not corpus and not editors and not e2e")


def main(arguments: Sequence[str]) -> int:
    """Runs the checks, then the tests; returns 0 when all of them passed."""
    quick = arguments[:1] == ["quick"]
    try:
        environment = provide(FOLDER, GROUPS)
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    checks = () if quick else CHECKS
    failed = [" ".join(check) for check in checks if _run(environment, check) != 0]
    # Said before the tests too: whoever follows along need not wait for them.
    _report(failed)
    # Last, so that the closing line on standard output is pytest's count.
    tests = _run(environment, (*TESTS, *(QUICK if quick else ()), *arguments[int(quick) :]))
    _report(failed)
    return 1 if failed or tests else 0


def _report(failed: Sequence[str]) -> None:
    for check in failed:
        print(f"FAILED: {check}", file=sys.stderr, flush=True)


def _run(environment: Environment, command: Sequence[str]) -> int:
    print(f"$ {' '.join(command)}", flush=True)
    started = time.monotonic()
    status = subprocess.run(
        [str(environment.program(command[0])), *command[1:]],
        cwd=ROOT,
        env=environment.variables(),
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode
    if command[0] != "pytest":
        print(f"  {time.monotonic() - started:.1f} s\n", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
