#!/usr/bin/env python3
"""Compare every answer of two versions of the server and the commands, over the corpus.

python tools/answers/compare.py COMMIT            this checkout and a commit
python tools/answers/compare.py COMMIT FOLDER...  on other dumps

A change of the mechanism must not change an answer. Requests about places are sent at the same
places, which are spread over each file; requests about a whole file are sent once. Both versions
run as processes, through the protocol and the command line alone.
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tools"), str(ROOT / "tests")]

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
Answer = tuple[str, Any]  # a request and what a version answers

_PLACES = 12  # for each request about a place and each file
_NAMES = 2  # of instructions, for each command about one
_WORD = re.compile(r"%?[\w.\-#]+")
_SOURCE = re.compile(r'(?:source_file=|^\d+ )"(/[^"]+\.py)"', re.MULTILINE)
_NAME = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = ", re.MULTILINE)
_LENSES_RESOLVED = 5
_SOURCES = 3  # Python files of a compile
_MAX_DIFFERENCES = 40  # that are printed
_WRONG_USAGE = re.compile(r"^usage: |^Traceback ", re.MULTILINE)
_ARCHIVES = ("small", "compact_gte", "whole")
_COMMANDS = (
    *("summary PATH", "summary PATH --format json", "summary PATH --format markdown"),
    *("modules PATH --format json", "timeline PATH --format json", "padding PATH --format json"),
    *("overlap PATH --format json", "donation PATH --format json", "cost PATH"),
    *(
        f"cost PATH --format json --top 1000 --by {key}"
        for key in ("line", "scope", "opcode", "phase", "computation", "instruction")
    ),
    *("find fusion PATH --format json", "check PATH --format json --exit-zero --select all"),
    *("export PATH --folded", "export PATH --perfetto", "export PATH --kernels"),
    "export PATH --metric cost --folded",
    *("report PATH -o -", "history PATH", "history PATH --format json"),
)
_COMMANDS_ON_FILES = ("inspect PATH --format json", "text PATH")
_COMMANDS_ON_NAMES = (
    *("inspect PATH --instruction NAME", "inspect PATH --instruction NAME --format json"),
    *("why PATH NAME", "why PATH NAME --format json", "history PATH NAME --format json"),
    *("find NAME PATH", "find NAME PATH --format json"),
)
_COMMANDS_ON_TWO = ("diff PATH OTHER", "diff PATH OTHER --format json --top 1000")
_COMMANDS_ON_FOLDERS = ("modules PATH", "hosts PATH --format json", "check PATH --exit-zero")
_COMMANDS_ON_PROFILES = (
    *("profile PATH", "profile PATH --format json --top 1000"),
    *(f"profile PATH --format json --by {key}" for key in ("scope", "opcode", "instruction")),
    *("export PATH --metric time --folded", "export PATH --metric time --perfetto"),
)
_COMMANDS_ON_MESSAGES = ("oom PATH --all", "oom PATH --all --format json")
_VIEWS = ("hlo/hottest", "hlo/memoryMap", "hlo/modules", "hlo/hosts", "hlo/missingSources")


class AnswerError(Exception):
    """Both versions fail alike, so that their answers say nothing."""


_STATUSES_OF_ANSWERS = (0, 1)


class Commands:
    """A process that runs the commands of one version."""

    def __init__(self, server: Path) -> None:
        self.server = server
        self.statuses: dict[str, set[int]] = {}  # of each command
        self._process = subprocess.Popen(
            (sys.executable, str(Path(__file__).with_name("commands.py"))),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(server)},
            encoding="utf-8",
        )

    def run(self, command: str, **words: str) -> Any:
        """Run a command, whose words in capitals are replaced, and return what it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        arguments = [words.get(word, word) for word in command.split()]
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        self.statuses.setdefault(command, set()).add(answer[0])
        return answer


Question = Callable[[Commands], Iterator[Answer]]


def main() -> int:
    """Print the answers that differ, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", help="the version to compare this checkout with")
    parser.add_argument("folders", nargs="*", type=Path, help="dumps in place of the corpus")
    parser.add_argument("--every", type=int, default=8, help="ask about every n-th compile (8)")
    options = parser.parse_args()
    cache = ROOT / ".pytest_cache" / "d" / "corpus"
    folders = options.folders or [unpacked(CORPUS / f"{name}.tar.xz", cache) for name in _ARCHIVES]
    groups = [_compile_questions(folders, options.every), _folder_questions(folders)]
    if not options.folders:
        groups += [_profile_questions(cache), _message_questions()]
    with _checkout(options.commit) as old, ThreadPoolExecutor(2) as workers:
        versions = [Commands(one / "server") for one in (old, ROOT)]
        count = 0
        differences: list[str] = []
        for ask in itertools.chain.from_iterable(groups):
            before, after = workers.map(lambda version: dict(ask(version)), versions)  # noqa: B023
            count += len(after)
            differences += _differences(before, after)
            print(f"\r{count:,} answers, {len(differences):,} differ", end="", file=sys.stderr)
    print(file=sys.stderr)
    print("\n".join(differences[:_MAX_DIFFERENCES]))
    for command, statuses in versions[1].statuses.items():
        if statuses.isdisjoint(_STATUSES_OF_ANSWERS):
            raise AnswerError(f"{command}: fails on each file, with status {statuses}")
    return 1 if differences else 0


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """Check out a commit into a temporary folder."""
    git = ("git", "-C", str(ROOT), "worktree")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run((*git, "add", "--detach", folder, commit), check=True, capture_output=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run((*git, "remove", "--force", folder), check=True)


def _compile_questions(folders: Sequence[Path], every: int) -> Iterator[Question]:
    """Yield the questions about each n-th compile, and about its difference from the next one."""
    paths = [path for one in folders for path in sorted(c.path for c in compiles_below(one))]
    chosen = paths[::every]
    for path, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        yield partial(_compile_answers, path=path, other=other)


def _compile_answers(version: Commands, path: Path, other: Path) -> Iterator[Answer]:
    stem = path.name.partition("after_optimizations")[0]
    files = sorted(
        one for one in path.parent.glob(f"{stem}*after_optimizations*.txt") if one.is_file()
    )
    yield from _command_answers(version, _COMMANDS, PATH=path)
    yield from _command_answers(version, _COMMANDS_ON_TWO, PATH=path, OTHER=other)
    for name in _names([path, *files]):
        yield from _command_answers(version, _COMMANDS_ON_NAMES, PATH=path, NAME=name)
    for file in files:
        yield from _command_answers(version, _COMMANDS_ON_FILES, PATH=file)
        for request, answer in _replies(version.server, file):
            yield f"{file.parent.name}/{file.name}: {request}", answer


def _folder_questions(folders: Sequence[Path]) -> Iterator[Question]:
    parents = {one.path.parent for folder in folders for one in compiles_below(folder)}
    for parent in sorted(parents):
        yield partial(_command_answers, commands=_COMMANDS_ON_FOLDERS, PATH=parent)


def _profile_questions(cache: Path) -> Iterator[Question]:
    root = unpacked(CORPUS / "profiles.tar.xz", cache)
    for path in sorted(root.rglob("*.xplane.pb")):
        yield partial(_command_answers, commands=_COMMANDS_ON_PROFILES, PATH=path)


def _message_questions() -> Iterator[Question]:
    for path in sorted((ROOT / "tests" / "oom").glob("*.txt")):
        yield partial(_command_answers, commands=_COMMANDS_ON_MESSAGES, PATH=path)


def _command_answers(
    version: Commands, commands: Sequence[str], **words: Path | str
) -> Iterator[Answer]:
    """Yield the answers of commands, whose words in capitals are replaced."""
    texts = {key: str(word) for key, word in words.items()}
    for command in commands:
        shown = [str(texts.get(word, word)) for word in command.split()]
        yield " ".join(shown), version.run(command, **texts)


def _names(paths: Sequence[Path]) -> Sequence[str]:
    """Return the names of some instructions of a compile, from the first file that has some."""
    texts = (path.read_text("utf-8", "replace") for path in paths if path.is_file())
    names = next(filter(None, map(_NAME.findall, texts)), [])
    return random.Random(paths[0].name).sample(names, min(_NAMES, len(names)))


def _program(server: Path) -> tuple[str, ...]:
    return "env", f"PYTHONPATH={server}", sys.executable, "-m", "hlo_lsp"


def _replies(server: Path, path: Path) -> Iterator[Answer]:
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
    yield from _views(client)
    client.close()


def _views(client: Client) -> Iterator[Answer]:
    """Yield the answers that fill the views of editors."""
    uri = client.uri
    folder = uri.rpartition("/")[0]
    for method in _VIEWS:
        params = {"folders": [folder]} if method == "hlo/modules" else {"uri": uri}
        yield method, client.reply_to(method, params)
    for source in sorted(set(_SOURCE.findall(client.text)))[:_SOURCES]:
        yield (
            f"hlo/sourceLines {source}",
            client.reply_to("hlo/sourceLines", {"uri": Path(source).as_uri()}),
        )


def _places(lines: Sequence[str], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield the starts of words on lines that are spread over a file."""
    for number in range(_PLACES):
        line = min(len(lines) * number // _PLACES + chance.randrange(7), len(lines) - 1)
        words = list(_WORD.finditer(lines[line]))
        if words:
            yield line, chance.choice(words).start() + 1


def _differences(before: Answers, after: Answers) -> Iterator[str]:
    """Yield the answers that differ.

    Raises:
        AnswerError: A command is used wrongly or ends with a traceback in both versions.
    """
    for request in {**before, **after}:
        one, other = before.get(request), after.get(request)
        if one != other:
            shown, other_shown = _from_difference(json.dumps(one), json.dumps(other))
            yield f"{request}\n  - {shown}\n  + {other_shown}"
        elif _is_failure(one):
            raise AnswerError(f"{request}: both versions fail\n{json.dumps(one)[-500:]}")


def _is_failure(answer: Any) -> bool:
    """Return True for a command that did not run."""
    if not (isinstance(answer, list) and len(answer) == 3):
        return False
    return isinstance(answer[2], str) and _WRONG_USAGE.search(answer[2]) is not None


def _from_difference(one: str, other: str) -> tuple[str, str]:
    """Return two texts around the first difference."""
    at = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return one[max(at - 60, 0) : at + 140], other[max(at - 60, 0) : at + 140]


if __name__ == "__main__":
    sys.exit(main())
