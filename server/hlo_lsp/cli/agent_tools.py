"""The commands as tools for agents: functions whose answers are texts of a limited size.

Each tool runs a command in a separate process, so that the memory of a large dump is free after the
answer, and returns at most ``max_bytes`` of its text.
"""

import argparse
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from hlo_lsp.cli.answers import other_answers
from hlo_lsp.cli.help_text import commands_of
from hlo_lsp.cli.options import argument_parser
from hlo_lsp.python_processes import python_command, python_environment

_DEFAULT_BYTES = 4_000
_MIN_BYTES = 200
_TIMEOUT_SECONDS = 300
_COMPILE_SECONDS = 1800
_PROGRAM = "import runpy; runpy.run_module('hlo_lsp', run_name='__main__')"
_OPTIONAL = "?"
_ANSWER = "answer"


class AgentToolError(Exception):
    """A command failed; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class _Command:
    """A command as a tool; the parser of the command describes its arguments.

    Attributes:
        what: What the tool does, in a sentence.
        operands: The positional arguments; those with a question mark can be left out.
        options: The options that the tool has, with its defaults.
        others: Options that have other names than the arguments of the tool.
        nothing: The answer if the command prints nothing.
        seconds: The time limit.
        fixed: Options that the agent cannot choose.
    """

    what: str
    operands: tuple[str, ...] = ("path",)
    options: Mapping[str, str | int | None] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    nothing: str = ""
    seconds: int = _TIMEOUT_SECONDS
    fixed: tuple[str, ...] = ()


_BY: Mapping[str, str | int | None] = {"by": "line", "chip": "", "top": 10}
_COMMANDS = {
    "summary": _Command(
        "Show where the memory of a program goes: peaks, owners, lost bytes, and advice.",
        options={"group_by": "line", "space": "", "at": None, "top": None},
    ),
    "modules": _Command(
        "List the compiles below a folder by peak, and show what differs in recompiles."
    ),
    "find": _Command(
        "Find buffers by name, Python line, shape, or scope; the largest come first.",
        ("query", "path"),
        {"top": 10},
    ),
    "inspect": _Command(
        "Explain why a buffer is alive, and describe an instruction or a position in a dump.",
        ("path", "name"),
        {"chip": ""},
    ),
    "diff": _Command(
        "Compare two compiles: peaks, the buffers and lines that changed them, instructions, "
        "flags.",
        ("before", "after"),
        {"top": 5},
    ),
    "check": _Command(
        "Check dumps for inconsistencies (error, warning), and give advice (information, hint).",
        options={"severity": ""},
        nothing="no findings",
    ),
    "cost": _Command(
        "Show the FLOPs, the bytes, and the least time of a program, and what bounds it.",
        options=_BY,
    ),
    "profile": _Command(
        "Show where the measured time of a program goes, or what changed since another profile.",
        ("path", "dumps?"),
        {"before": "", **_BY},
        {"path": "profile", "before": "compare"},
    ),
    "history": _Command(
        "Show what the passes of a compile changed, in dumps with --xla_dump_hlo_pass_re=.*.",
        ("path", "name?"),
    ),
    "oom": _Command(
        "Explain an out-of-memory message: what is missing, who owns the peak, what would save "
        "most.",
        ("log", "dumps?"),
    ),
}


# Only servers with `--allow-compile` have it: it runs for minutes.
_COMPILE = _Command(
    "Compile the program of a dump again with changes, and compare: its memory, cost, and text.",
    options={"chip": "", "topology": "", "flag": "", "donate": "", "edited": "", "top": 5},
    others={"edited": "with"},
    seconds=_COMPILE_SECONDS,
)


def _run(name: str, command: _Command, /, *values: Any, **named: Any) -> str:
    """Return the answer of a command for the arguments of its tool."""
    bound = _signature(name, command).bind(*values, **named)
    bound.apply_defaults()
    given = bound.arguments
    operands = [given[operand.rstrip(_OPTIONAL)] for operand in command.operands]
    if any("\0" in one for one in given.values() if isinstance(one, str)):
        raise AgentToolError("an argument contains a NUL character")
    answer = given.get(_ANSWER)
    if answer and answer not in other_answers(name):
        raise AgentToolError(f"answer: must be one of {', '.join(other_answers(name))}")
    options = [f"--{answer}"] if answer else []
    options += ["--ascii"] if answer == "timeline" else []
    for option in command.options:
        value = given[option]
        if value not in ("", None):
            flag = command.others.get(option, option).replace("_", "-")
            options.append(f"--{flag}={value}")
    if "/" in given.get("flag", "") or "\\" in given.get("flag", ""):
        raise AgentToolError("flag: the compiler could write to a path")
    options += command.fixed
    found = _answer(command, name, list(filter(None, operands)), options, given["max_bytes"])
    return found or command.nothing


def _signature(tool: str, command: _Command) -> Signature:
    kind = Parameter.POSITIONAL_OR_KEYWORD
    found = []
    for operand in command.operands:
        missing = "" if operand.endswith(_OPTIONAL) else Parameter.empty
        name = operand.rstrip(_OPTIONAL)
        found.append(Parameter(name, kind, default=missing, annotation=str))
    answers = {_ANSWER: ""} if other_answers(tool) else {}
    options = {**answers, **command.options, "max_bytes": _DEFAULT_BYTES}
    for name, default in options.items():
        annotation = int | None if default is None else type(default)
        found.append(Parameter(name, kind, default=default, annotation=annotation))
    return Signature(found, return_annotation=str)


def _description(tool: str, command: _Command, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of the docstring of a tool."""
    actions = {
        key.lstrip("-"): action
        for action in parser._actions
        for key in (action.dest, *action.option_strings)
    }
    yield from (command.what, "", "Args:")
    for operand in (*command.operands, *command.options):
        name = operand.rstrip(_OPTIONAL)
        dest = command.others.get(name, name)
        action = actions.get(dest) or actions[f"{dest}s"]
        text = str(action.help).partition(" (")[0].replace("%%", "%").replace("`", "")
        yield f"    {name}: {text[:1].upper()}{text[1:]}."
    answers = "; ".join(f"{name}: {what}" for name, what in other_answers(tool).items())
    if answers:
        yield f"    {_ANSWER}: Another answer: {answers}."
    yield "    max_bytes: The largest size of the answer in bytes."


def _tool(name: str, command: _Command, parser: argparse.ArgumentParser) -> Callable[..., str]:
    """Return a tool as a function, with the signature and the docstring that agents see."""
    tool: Any = partial(_run, name, command)
    signature = _signature(name, command)
    tool.__name__ = name
    tool.__doc__ = "\n".join(_description(name, command, parser))
    tool.__signature__ = signature
    tool.__annotations__ = {
        **{each.name: each.annotation for each in signature.parameters.values()},
        "return": str,
    }
    return tool  # type: ignore[no-any-return]


_PARSERS = commands_of(argument_parser())
TOOLS = tuple(_tool(name, command, _PARSERS[name]) for name, command in _COMMANDS.items())


def compile_tool(python: str | None) -> Callable[..., str]:
    """Return the tool that compiles with a Python, None for the first one with jax."""
    fixed = () if python is None else (f"--python={python}",)
    return _tool("compile", replace(_COMPILE, fixed=fixed), _PARSERS["compile"])


def _answer(
    command: _Command, name: str, operands: list[str], options: list[str], max_bytes: int
) -> str:
    """Return the output of a command, cut after whole lines.

    Args:
        command: The command.
        name: Its name.
        operands: Its positional arguments, which are no options whatever they begin with.
        options: Its options.
        max_bytes: The largest size of the answer in bytes.

    Raises:
        AgentToolError: The command failed, with its message.
    """
    try:
        ended = subprocess.run(
            python_command(_PROGRAM, name, *options, "--", *operands),
            env=python_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=command.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AgentToolError(f"no answer within {command.seconds} s") from error
    if ended.returncode and not ended.stdout.strip():
        lines = ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"]
        raise AgentToolError(bounded("\n".join(lines), max_bytes))
    return bounded(ended.stdout.rstrip("\n"), max_bytes)


def bounded(text: str, max_bytes: int) -> str:
    """Return a text, cut after whole lines if it is longer than a number of bytes.

    A cut text ends with a line that shows how much is left out, and how to see more.
    """
    limit = max(max_bytes, _MIN_BYTES)
    if len(text.encode()) <= limit:
        return text
    lines = text.splitlines()
    note = f"[{{}} of {len(lines):,} lines; for more, pass a larger max_bytes or a narrower query]"
    size, shown = len(note.format(f"{len(lines):,}")), 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > limit:
            break
        shown += 1
    kept = lines[:shown]
    if not kept:  # one long line
        cut = lines[0].encode()[: limit - len(note) - 8].decode(errors="ignore")
        kept = [f"{cut} ..."]
    return "\n".join([*kept, note.format(f"{shown:,}")])
