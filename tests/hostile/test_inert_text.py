"""Tests for names with markup and commands, which all outputs show as text.

Each command of the argument parser, with each of its formats, and each request that the server
registers has to be asked about the hostile dumps: a new one fails here until it is.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from hlo_lsp.cli import agent_tools
from hlo_lsp.cli.options import argument_parser
from hlo_lsp.lsp.custom_requests import MESSAGE_TYPES
from hlo_lsp.lsp.server import create_server
from hostile import inert
from hostile.editor_answers import (
    EDITOR_COMMANDS,
    EXACT_METHODS,
    OWN_REQUESTS,
    Answers,
    all_answers,
)
from hostile.hostile_files import HostileFiles, hostile_files
from hostile.payload import FOLDER_PAYLOAD, PAYLOAD, RAW_PAYLOAD
from lsp.protocol.test_profiles import offered_requests

pytestmark = pytest.mark.xdist_group("inert_text")  # shares the results of all requests


@pytest.fixture(scope="module")
def files(corpus_small: Path, tmp_path_factory: pytest.TempPathFactory) -> HostileFiles:
    """Return compiles in folders with hostile names."""
    return hostile_files(corpus_small, tmp_path_factory.mktemp("inert") / FOLDER_PAYLOAD)


Arguments = Callable[[HostileFiles], list[list[Any]]]
_MEMORY_ANSWERS = (
    ["--donation"], ["--padding"], ["--timeline"], ["--timeline", "--at", "25"], ["--values"],
)  # fmt: skip
# The arguments of each command, apart from its format.
COMMANDS: dict[str, Arguments] = {
    "summary": lambda f: [
        [f.tpu.folder, f.log],
        [f.tpu.folder, "--all", "--check", "--group-by", "stack"],
        [f.gpu.folder, f.damaged.folder, "--group-by", "scope", "--all"],
        [f.tpu.folder, "--space", PAYLOAD],
        *([*answer, f.tpu.folder, f.gpu.folder, f.damaged.folder] for answer in _MEMORY_ANSWERS),
    ],
    "run": lambda f: [["-o", f.tpu.folder, "--", sys.executable, "-c", _touching(f.tpu.folder)]],
    "modules": lambda f: [[f.tpu.folder.parent, "--all"], ["--hosts", f.tpu.folder.parent]],
    "diff": lambda f: [[f.tpu.folder, f.changed], [f.tpu.folder, f.gpu.folder]],
    "cost": lambda f: [
        [f.tpu.folder, f.damaged.folder, "--by", "scope"],
        [f.tpu.folder, "--chip", "v5e", "--by", "line"],
        ["--collectives", f.tpu.folder, f.gpu.folder, f.damaged.folder],
    ],
    "compile": lambda f: [
        [f.tpu.folder, "--python", f"x{RAW_PAYLOAD}"], [f.tpu.folder, "--flag", RAW_PAYLOAD],
        [f.tpu.folder / RAW_PAYLOAD, "--python", sys.executable],
    ],
    "history": lambda f: [
        [f.tpu.module], [f.tpu.module, "fusion.9"], [f.tpu.module, RAW_PAYLOAD],
    ],
    "find": lambda f: [
        ["fusion", f.tpu.folder], ["jit(", f.damaged.folder], [RAW_PAYLOAD, f.tpu.folder],
    ],
    "oom": lambda f: [[f.log], [f.log, f.tpu.folder], [f.damaged.module]],
    "profile": lambda f: [
        [f.profile], [f.profile, f.tpu.folder, "--by", "instruction"],
        [f.profile, "--compare", f.profile], [f.tpu.module],
    ],
    "report": lambda f: [[f.tpu.folder, f.gpu.folder]],
    "mcp": lambda f: [
        ["--call", name, "--arguments", json.dumps(arguments)]
        for name, arguments in _tool_arguments(f).items()
    ],
    "inspect": lambda f: [
        [f.tpu.assignment, "fusion.9"], [f.damaged.assignment, "copy.9"],
        [f.tpu.assignment, RAW_PAYLOAD],
        *([path] for path in (*f.tpu.files, *f.damaged.files) if path.suffix == ".txt"),
        [f.tpu.module, "--instruction", "fusion.9"], [f.tpu.assignment, "--value", "23"],
        [f.tpu.module, "--instruction", RAW_PAYLOAD], [f.tpu.module, "--computation", RAW_PAYLOAD],
        *([f.damaged.module, "--at", f"{line}:9"] for line in range(1, 60, 7)),
    ],
    "text": lambda f: [
        [f.damaged.folder / f"{FOLDER_PAYLOAD}.txt"], [f.log], [f.tpu.folder],
        [f"no://{RAW_PAYLOAD}", "-o", f.changed],
    ],
    "check": lambda f: [
        [f.tpu.folder, "--select", "all"], [f.damaged.folder, "--select", "all"],
        [f.gpu.folder, f.log], ["--select", RAW_PAYLOAD, f.tpu.folder], [f.configured],
        [f.tpu.folder / RAW_PAYLOAD], [f.tpu.folder, f"--{RAW_PAYLOAD}"],
        ["--explain"], ["--explain", RAW_PAYLOAD], ["--explain", "overlap"],
    ],
}  # fmt: skip
# `serve` talks to editors, whose requests are below.
OTHER_COMMANDS = {"serve"}
PROBLEMS: dict[str, Callable[[str], Iterable[str]]] = {
    "text": inert.problems_of_lines,
    "markdown": inert.problems_of_markdown,
    "json": inert.problems_of_json,
    "sarif": inert.problems_of_json,
    "github": inert.problems_of_github,
    "text command": inert.problems_of_exact_text,
}


def _touching(folder: Path) -> str:
    return f"import pathlib; [one.touch() for one in pathlib.Path({str(folder)!r}).iterdir()]"


def _tool_arguments(files: HostileFiles) -> dict[str, dict[str, str]]:
    folder, module = str(files.tpu.folder), str(files.tpu.module)
    return {
        **{tool.__name__: {"path": folder} for tool in agent_tools.TOOLS},
        "find": {"query": "fusion", "path": folder},
        "inspect": {"path": module, "name": "fusion.9"},
        "history": {"path": module},
        "diff": {"before": folder, "after": str(files.changed)},
        "profile": {"path": str(files.profile)},
        "oom": {"log": str(files.log)},
    }


def _commands() -> dict[str, argparse.ArgumentParser]:
    (found,) = (
        action.choices
        for action in argument_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return {name: parser for name, parser in found.items() if name not in OTHER_COMMANDS}


def _formats(parser: argparse.ArgumentParser) -> list[str | None]:
    """Return the formats of a command, None for one without a choice."""
    for action in parser._actions:
        if "--format" in action.option_strings and action.choices:
            without_choice = [] if action.default in action.choices else [None]
            return [*without_choice, *action.choices]
    return [None]


CASES = [(name, form) for name, parser in _commands().items() for form in _formats(parser)]


@pytest.fixture
def _answers_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tools for agents run their commands in this process."""

    def in_this_process(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        found = run(*command[3:])
        return subprocess.CompletedProcess(command, found.status, found.out, found.err)

    monkeypatch.setattr(subprocess, "run", in_this_process)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_commands_print_inert_text(
    files: HostileFiles,
    name: str,
    form: str | None,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if name == "report":
        pytest.skip("files, which the next tests read")
    if name == "mcp":
        request.getfixturevalue("_answers_in_this_process")
    for arguments in COMMANDS[name](files):
        chosen = [] if form is None else ["--format", form]
        found = run(name, *chosen, *arguments, cwd=tmp_path)
        kind = "json" if found.out[:1] in {"{", "["} and form is None else form or "text"
        kind = "text command" if name == "text" else kind
        if found.out:
            assert list(PROBLEMS[kind](found.out)) == []
        assert list(inert.problems_of_lines(found.err)) == []


@pytest.mark.parametrize("name", [name for name, form in CASES if form == "text"])
def test_narrow_terminals_show_inert_text(files: HostileFiles, name: str, tmp_path: Path) -> None:
    for columns in ("50", "71"):
        variables = {"COLUMNS": columns, "FORCE_COLOR": "1", "TERM": "xterm"}
        found = run(name, *COMMANDS[name](files)[0], cwd=tmp_path, **variables)
        text = re.sub(r"\x1b\[[\d;]*m", "", found.out)  # the styles of the console
        assert list(inert.problems_of_wrapped_lines(text)) == []


EXPORTS: dict[str, Callable[[str], Iterable[str]] | None] = {
    "pprof": None,  # a message that no reader interprets
    "perfetto": None,
    "folded": inert.problems_of_lines,
    "csv": inert.problems_of_csv,
}


def _options(name: str, start: str = "--") -> dict[str, argparse.Action]:
    parser = _commands()[name]
    return {one.option_strings[-1]: one for one in parser._actions if one.option_strings}


@pytest.mark.parametrize("metric", _options("report")["--metric"].choices or ())
def test_exports_are_inert(files: HostileFiles, metric: str) -> None:
    forms = {*(_options("report")["--as"].choices or ())}
    assert forms - {"html", "json"} == EXPORTS.keys()
    for form, problems in EXPORTS.items():
        first = [files.profile] if metric == "time" else []
        paths = [*first, files.tpu.folder, files.gpu.folder]
        if problems is not None:
            found = run("report", "--as", form, "-o", "-", "--metric", metric, *paths)
            assert list(problems(found.out)) == []
            assert list(inert.problems_of_lines(found.err)) == []


@pytest.mark.parametrize("metric", _options("report")["--metric"].choices or ())
def test_pages_have_own_elements_only(files: HostileFiles, metric: str, tmp_path: Path) -> None:
    first = [files.profile] if metric == "time" else []
    for name in ("page.html", "page.json"):
        page = tmp_path / name
        found = run("report", "--metric", metric, *first, files.tpu.folder, "-o", page)
        assert list(inert.problems_of_lines(found.err)) == []
        text = page.read_text("utf-8")
        assert "onerror=alert" in text or metric == "cost"  # which shows no op_name
        problems = inert.problems_of_html if name.endswith("html") else inert.problems_of_json
        assert list(problems(text)) == []


def test_comparison_page_has_own_elements_only(files: HostileFiles, tmp_path: Path) -> None:
    run("diff", files.tpu.folder, files.changed, "--map", tmp_path / "page.html")
    assert list(inert.problems_of_html((tmp_path / "page.html").read_text("utf-8"))) == []


def test_text_in_memory_is_inert(files: HostileFiles) -> None:
    from hlo_lsp.api import load  # imports much

    before, after = (load(path)[0] for path in (files.tpu.folder, files.changed))
    for text in (str(before), before.diff_text(after)):
        assert list(inert.problems_of_lines(text)) == []
    page = re.sub("<iframe.*</iframe>", "", before._repr_html_(), flags=re.DOTALL)
    assert list(inert.problems_of_html(page)) == []


@pytest.fixture(scope="module")
def answers(files: HostileFiles) -> Answers:
    """Return what the server answers and sends about the hostile files."""
    return all_answers(files)


def test_editor_asks_everything() -> None:
    assert create_server().protocol.fm.commands.keys() == EDITOR_COMMANDS.keys()
    own = {method for method in MESSAGE_TYPES if method in create_server().protocol.fm.features}
    assert own == OWN_REQUESTS.keys()


def test_answers_are_about_each_request(answers: Answers) -> None:
    assert offered_requests() <= {method for method, _ in answers} | {"initialize"}


METHODS = sorted(offered_requests() - EXACT_METHODS - {"initialize"})


@pytest.mark.parametrize("method", METHODS)
def test_answers_show_inert_text(answers: Answers, method: str) -> None:
    results = [result for name, result in answers if name == method]
    problems = (one for result in results for one in inert.problems_of_answer(result))
    assert list(dict.fromkeys(problems)) == []


def test_messages_show_inert_text(answers: Answers) -> None:
    offered = offered_requests()
    results = [result for name, result in answers if name not in offered]
    problems = (one for result in results for one in inert.problems_of_answer(result))
    assert list(dict.fromkeys(problems)) == []


def test_hovers_show_payload(answers: Answers) -> None:
    shown = json.dumps([result for name, result in answers if name == "textDocument/hover"])
    assert "onerror=alert" in shown
