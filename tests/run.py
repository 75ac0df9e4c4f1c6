#!/usr/bin/env python3
"""Run the checks and the tests of this project.

Only Python is required: the first run creates a virtual environment in this checkout and, unless
it is quick, installs the editors under test (some with apt-get, if permitted).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server"))

from editors import client  # noqa: E402  (found by the line above)
from editors.node import Node  # noqa: E402
from editors.provision import END_OF_INSTALLATION, Provision  # noqa: E402
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
TESTS = (
    *("pytest", "-n", "3", "--dist", "loadgroup", "--no-loadscope-reorder"),
    *("--durations=10", "-m", "not growth"),
)
QUICK = ("-m", "not corpus and not editors and not e2e and not growth")


@dataclass(frozen=True)
class Check:
    """A finished check: its command, exit status, and output."""

    name: str
    status: int
    output: str


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments select, and return 0 if all of it passed."""
    parser = argparse.ArgumentParser(
        usage="run.py [-h] [quick] [-- PYTEST_ARGUMENT ...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "selection",
        nargs="?",
        choices=("quick", "all"),
        default="all",
        help="all (the default): all tests, linters, types, import contracts, pages, and clients; "
        "quick: the tests that need neither the corpus, an editor, nor the server as a process",
    )
    own, further = _divided(arguments)
    is_quick = parser.parse_args(own).selection == "quick"
    try:
        environment = provide(FOLDER, QUICK_GROUPS if is_quick else GROUPS)
        return _tests(environment, (*QUICK, *further)) if is_quick else _all(environment, further)
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1


def _divided(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the arguments before and after `--`."""
    if "--" not in arguments:
        return arguments, ()
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _all(environment: Environment, arguments: Sequence[str]) -> int:
    """Run the checks and the tests while the editors are installed; their tests wait."""
    provision = Provision()
    node = provision.begin(environment)
    # Before the checks and the tests: both use the server that packaging bundles.
    failed = [_npm(node, "package")]
    with TemporaryDirectory() as folder, ThreadPoolExecutor() as beside:
        end = Path(folder, "installed")
        finishing = beside.submit(_finish, provision, end)
        checks = beside.submit(lambda: list(_checks(environment, node)))
        tests = _tests(environment, arguments, {END_OF_INSTALLATION: str(end)})
        failed += checks.result()
        finishing.result()
    # On standard error, so that the last line on standard output is pytest's count.
    for check in failed:
        if check.status:
            print(f"\n{check.output}FAILED: {check.name}", file=sys.stderr, flush=True)
    return 1 if tests or any(check.status for check in failed) else 0


def _finish(provision: Provision, end: Path) -> None:
    """Wait for the end of the installation, print what is missing, and create a file."""
    try:
        for missing in provision.wait():
            print(f"MISSING: {missing}", file=sys.stderr, flush=True)
    finally:
        end.touch()


def _checks(environment: Environment, node: Node) -> Iterator[Check]:
    """Run the checks, one after another."""
    for script in client.CHECKS:
        yield _npm(node, script)
    for check in CHECKS:
        command = (str(environment.program(check[0])), *check[1:])
        yield _check(" ".join(check), command, environment.variables(), ROOT)


def _npm(node: Node, script: str) -> Check:
    """Run a script of the client for VS Code."""
    command = (*node.command("npm"), "run", "--silent", script)
    return _check(f"npm run {script}", command, node.variables(), client.FOLDER)


def _check(name: str, command: Sequence[str], variables: Mapping[str, str], folder: Path) -> Check:
    started = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    verdict = "failed" if ended.returncode else "passed"
    print(f"$ {name}: {verdict} in {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return Check(name, ended.returncode, ended.stdout)


def _tests(
    environment: Environment, arguments: Sequence[str], variables: Mapping[str, str] | None = None
) -> int:
    command = (*TESTS, *arguments)
    print(f"$ {' '.join(command)}", flush=True)
    return subprocess.run(
        (str(environment.program(command[0])), *command[1:]),
        cwd=ROOT,
        env={**environment.variables(), **(variables or {})},
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
