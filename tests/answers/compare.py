#!/usr/bin/env python3
"""Compare every answer of two versions of the server and the commands, over the corpus.

python tests/answers/compare.py COMMIT            this checkout and a commit
python tests/answers/compare.py COMMIT FOLDER...  on other dumps

A change of the mechanism must not change an answer. Requests about places are sent at the same
places, which are spread over each file; requests about a whole file are sent once. Both versions
run as processes, through the protocol and the command line alone.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path[0] = str(TESTS)

from bench.requests import (  # noqa: E402  (found by the line above)
    DOCUMENT_METHODS,
    POSITION_METHODS,
    capabilities,
    request_params,
)
from bench.wire import Client  # noqa: E402
from dumps import CORPUS, unpacked  # noqa: E402
from hlo_lsp.model.compile_files import compiles_below  # noqa: E402

Answers = dict[str, Any]

_PLACES = 12  # for each request about a place and each file
_WORD = re.compile(r"%?[\w.\-#]+")
_LENSES_RESOLVED = 5
_MAX_DIFFERENCES = 40  # that are printed
_ARCHIVES = ("small", "compact_gte")
_COMMANDS: Sequence[Sequence[str]] = (
    ("summary", "--format", "json"),
    ("summary", "--format", "markdown"),
    ("modules", "--format", "json"),
    ("timeline", "--format", "json"),
    ("overlap", "--format", "json"),
    ("donation", "--format", "json"),
    ("padding", "--format", "json"),
    ("find", "fusion", "--format", "json"),
    ("check", "--format", "json", "--exit-zero", "--select", "all"),
    ("export", "--collapsed"),
    ("report", "-o", "/dev/stdout"),
)
_COMMANDS_ON_A_FILE: Sequence[Sequence[str]] = (("inspect", "--format", "json"), ("text",))


def main() -> int:
    """Print the answers that differ, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", help="the version to compare this checkout with")
    parser.add_argument("folders", nargs="*", type=Path, help="dumps in place of the corpus")
    parser.add_argument("--every", type=int, default=8, help="ask about every n-th compile (8)")
    options = parser.parse_args()
    cache = TESTS.parent / ".pytest_cache" / "d" / "corpus"
    folders = options.folders or [unpacked(CORPUS / f"{name}.tar.xz", cache) for name in _ARCHIVES]
    with _checkout(options.commit) as old, ThreadPoolExecutor(2) as workers:
        servers = [old / "server", TESTS.parent / "server"]
        count = 0
        differences: list[str] = []
        for compile_ in _compiles(folders)[:: options.every]:
            before, after = workers.map(lambda server: _answers(server, compile_), servers)  # noqa: B023
            count += len(after)
            differences += _differences(before, after)
            print(f"\r{count:,} answers, {len(differences):,} differ", end="", file=sys.stderr)
    print(file=sys.stderr)
    print("\n".join(differences[:_MAX_DIFFERENCES]))
    return 1 if differences else 0


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """Check out a commit into a temporary folder."""
    git = ("git", "-C", str(TESTS.parent), "worktree")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run((*git, "add", "--detach", folder, commit), check=True, capture_output=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run((*git, "remove", "--force", folder), check=True)


def _compiles(folders: Sequence[Path]) -> list[Path]:
    return [
        path for folder in folders for path in sorted(one.path for one in compiles_below(folder))
    ]


def _answers(server: Path, path: Path) -> Answers:
    """Return the answers of a version about a compile, by request."""
    found: Answers = {}
    stem = path.name.partition("after_optimizations")[0]
    files = sorted(
        one for one in path.parent.glob(f"{stem}*after_optimizations*.txt") if one.is_file()
    )
    for command in _COMMANDS:
        found[f"{path.parent.name}/{path.name}: {' '.join(command)}"] = _run(server, command, path)
    for file in files:
        for command in _COMMANDS_ON_A_FILE:
            found[f"{path.parent.name}/{file.name}: {' '.join(command)}"] = _run(
                server, command, file
            )
        for request, answer in _replies(server, file):
            found[f"{path.parent.name}/{file.name}: {request}"] = answer
    return found


def _run(server: Path, command: Sequence[str], path: Path) -> Any:
    name, *options = command
    first = [options.pop(0)] if name == "find" else []
    ended = subprocess.run(
        (*_program(server), name, *first, str(path), *options),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode()


def _program(server: Path) -> tuple[str, ...]:
    return "env", f"PYTHONPATH={server}", sys.executable, "-m", "hlo_lsp"


def _replies(server: Path, path: Path) -> Iterator[tuple[str, Any]]:
    client = Client(path, capabilities(), _program(server))
    client.open()
    client.settle()
    chance = random.Random(path.name)
    places = list(_places(client.lines, chance))
    for method in POSITION_METHODS:
        for line, column in places:
            params = request_params(client, method, line, column)
            yield f"{method} at {line + 1}:{column + 1}", client.reply(method, params)
    for method in DOCUMENT_METHODS:
        answer = client.reply(method, request_params(client, method, 0, 0))
        if method == "diagnostic":
            answer = answer["items"]  # the other part names the version of the process
        yield method, answer
        if method == "codeLens":
            for lens in (answer or [])[:: max(len(answer or []) // _LENSES_RESOLVED, 1)]:
                yield (
                    f"codeLens/resolve {lens['range']['start']}",
                    client.request("codeLens/resolve", lens),
                )
    client.close()


def _places(lines: Sequence[str], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield the starts of words on lines that are spread over a file."""
    for number in range(_PLACES):
        line = min(len(lines) * number // _PLACES + chance.randrange(7), len(lines) - 1)
        words = list(_WORD.finditer(lines[line]))
        if words:
            yield line, chance.choice(words).start() + 1


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for request in {**before, **after}:
        one, other = before.get(request), after.get(request)
        if one != other:
            shown, other_shown = _from_difference(json.dumps(one), json.dumps(other))
            yield f"{request}\n  - {shown}\n  + {other_shown}"


def _from_difference(one: str, other: str) -> tuple[str, str]:
    """Return two texts around the first difference."""
    at = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return one[max(at - 60, 0) : at + 140], other[max(at - 60, 0) : at + 140]


if __name__ == "__main__":
    sys.exit(main())
