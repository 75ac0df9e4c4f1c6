"""Tests of all commands on calls that nest deeper than Python's stack."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.cli.options import argument_parser

_DEPTH = 1_500
_HEAD = "HloModule deep, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}\n"
_CALL = "call({operand}), to_apply={callee}"


def _nested(call: str) -> str:
    """Return a text in which each computation calls the one above it."""
    texts = [_HEAD, "%c0 (p0: f32[8]) -> f32[8] {\n  %p0 = f32[8]{0} parameter(0)"]
    texts.append("  ROOT %n0 = f32[8]{0} negate(%p0)\n}\n")
    for depth in range(1, _DEPTH + 1):
        head = f"%c{depth} (p{depth}: f32[8]) -> f32[8] {{"
        if depth == _DEPTH:
            head = f"ENTRY {head}"
        texts.append(f"{head}\n  %p{depth} = f32[8]{{0}} parameter(0)")
        callee = call.format(operand=f"%p{depth}", callee=f"%c{depth - 1}")
        texts.append(f"  ROOT %n{depth} = f32[8]{{0}} {callee}\n}}\n")
    return "\n".join(texts)


_TEXTS: dict[str, Callable[[], str]] = {
    "calls": lambda: _nested(f"{_CALL}\n  %m = f32[8]{{{{0}}}} {_CALL}"),  # 2^1500 executions
    "fusions": lambda: _nested("fusion({operand}), kind=kLoop, calls={callee}"),
}
# The arguments after the path of a text; None for commands without a dump.
_ARGUMENTS: dict[str, list[list[str]] | None] = {
    "check": [[]],
    "cost": [[], ["--format", "json"], ["--by", "phase"], ["--collectives"]],
    "diff": [["{path}"]],
    "find": [["n5"]],
    "inspect": [["--at", "5:10"], ["--instruction", "n9"], ["n5"]],
    "modules": [[]],
    "report": [
        ["-o", "{out}"],
        ["--metric", "cost", "-o", "{out}"],
        ["--metric", "cost", "--as", "folded", "-o", "-"],
        ["--as", "csv", "-o", "-"],
    ],
    "summary": [[], ["--donation"], ["--padding"], ["--timeline"], ["--values"]],
    **dict.fromkeys(("compile", "history", "mcp", "oom", "profile", "run", "serve", "text")),
}


def _commands() -> Iterator[str]:
    for action in argument_parser()._actions:
        if action.dest == "command" and isinstance(action.choices, dict):
            yield from action.choices


def test_arguments_of_all_commands_are_known() -> None:
    assert set(_commands()) == set(_ARGUMENTS)


@pytest.mark.parametrize("kind", _TEXTS)
def test_no_command_fails_on_deep_calls(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.hlo"
    path.write_text(_TEXTS[kind](), encoding="utf-8")
    for command, each in _ARGUMENTS.items():
        for arguments in each or ():
            given = (one.format(path=path, out=tmp_path / "o.html") for one in arguments)
            result = run(command, path, *given)  # an exception fails the test
            assert "Traceback" not in result.err, command
