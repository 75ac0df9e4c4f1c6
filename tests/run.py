#!/usr/bin/env python3
"""Run every check of this project: linters, types, layers, pages, clients, then all tests.

`python3 tests/run.py` runs everything, `python3 tests/run.py quick` only the tests that need
neither the whole corpus, nor an editor, nor the server as a process. pytest gets further arguments.
Only Python is required: the first run creates a virtual environment in this checkout and, unless
it is quick, installs the editors under test (some with apt-get, if permitted).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server"))

from editors import client  # noqa: E402  (found by the line above)
from editors.provision import Provision  # noqa: E402
from environment import Environment, SetupError, provide  # noqa: E402

FOLDER = ROOT / ".venv-hlo-lsp-tests"
QUICK_GROUPS = ("test", "lint", "editors")
GROUPS = (*QUICK_GROUPS, "vscode", "docs")
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
    # -E reads every page again, so that warnings about unchanged pages are not lost.
    ("sphinx-build", "-q", "-E", "-W", "--keep-going", "-b", "html", "docs", "build/docs"),
)
TESTS = ("pytest", "-n", "2", "--dist", "loadgroup", "-m", "not growth")
QUICK = ("-m", "not corpus and not editors and not e2e and not growth")


def main(arguments: Sequence[str]) -> int:
    """Run the checks, then the tests, and return 0 if all of them passed."""
    if arguments[:1] == ["quick"]:
        return _quick(arguments[1:])
    provision = Provision()
    try:
        environment = provide(FOLDER, GROUPS)
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    failed = _client(provision, environment)
    failed += [" ".join(check) for check in CHECKS if _check(environment, check) != 0]
    _report(failed)  # before the tests too, which take long
    for missing in provision.wait():
        print(f"MISSING: {missing}", file=sys.stderr, flush=True)
    # Last, so that the closing line on standard output is pytest's count.
    tests = _tests(environment, arguments)
    _report(failed)
    return 1 if failed or tests else 0


def _quick(arguments: Sequence[str]) -> int:
    try:
        environment = provide(FOLDER, QUICK_GROUPS)
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    return _tests(environment, (*QUICK, *arguments))


def _client(provision: Provision, environment: Environment) -> list[str]:
    """Check and package the client for VS Code, and return the commands that failed."""
    try:
        node = provision.begin(environment)
    except SetupError as problem:
        print(problem, file=sys.stderr, flush=True)
        return ["npm ci in vscode-client"]
    variables = node.variables()
    commands = [(*node.command("npm"), "run", "--silent", each) for each in client.CHECKS]
    return [
        f"npm run {command[-1]}"
        for command in commands
        if _run(command, variables, f"npm run {command[-1]}", client.FOLDER) != 0
    ]


def _check(environment: Environment, check: Sequence[str]) -> int:
    command = (str(environment.program(check[0])), *check[1:])
    return _run(command, environment.variables(), " ".join(check))


def _tests(environment: Environment, arguments: Sequence[str]) -> int:
    command = (*TESTS, *arguments)
    print(f"$ {' '.join(command)}", flush=True)
    program = str(environment.program(command[0]))
    return subprocess.run(
        (program, *command[1:]),
        cwd=ROOT,
        env=environment.variables(),
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode


def _report(failed: Sequence[str]) -> None:
    for check in failed:
        print(f"FAILED: {check}", file=sys.stderr, flush=True)


def _run(
    command: Sequence[str], variables: Mapping[str, str], name: str, folder: Path = ROOT
) -> int:
    print(f"$ {name}", flush=True)
    started = time.monotonic()
    status = subprocess.run(
        command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, check=False
    ).returncode
    print(f"  {time.monotonic() - started:.1f} s\n", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
