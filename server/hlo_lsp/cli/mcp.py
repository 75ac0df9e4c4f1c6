"""``hlo-lsp mcp``: the commands as tools for coding agents (Model Context Protocol)."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

from hlo_lsp import __version__
from hlo_lsp.cli.agent_tools import TOOLS, AgentToolError, compile_tool
from hlo_lsp.cli.errors import USAGE_ERROR_STATUS, CommandError
from hlo_lsp.cli.interrupts import end_at_once

_INSTRUCTIONS = """\
Tools for the text dumps of XLA, the compiler of JAX (HLO modules, buffer assignments, live ranges).
To get dumps, run a program with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text".
Begin with `modules` or `summary` on the folder, with answer=hosts on that of a pod. `find` and
`inspect` explain single buffers, `diff` a change, `summary` with answer=donation or padding what is
wasted, `oom` an out-of-memory message in a log, `cost` the FLOPs and the least time of a program,
`profile` the time that jax.profiler.trace measured. A path can be a URL, such as gs://BUCKET/FOLDER.
Sizes are bytes with padding unless a text says otherwise; steps are steps of the schedule."""


def run(options: argparse.Namespace) -> int:
    """Serve one client on standard input and output, and return the exit status.

    With ``--call``, print the answer of one tool.
    """
    if options.directory is not None:
        os.chdir(options.directory)
    tools = (*TOOLS, compile_tool(options.python)) if options.allow_compile else TOOLS
    if options.call is not None:
        try:
            print(_answer(tools, options.call, options.arguments))
        except AgentToolError as error:  # lines that the command printed
            print(error, file=sys.stderr)
            return USAGE_ERROR_STATUS
        return 0
    try:
        server = create_server(tools)
    except ImportError:
        message = "install the package mcp first: pip install 'hlo-lsp[mcp]'"
        raise CommandError(message) from None
    # By default, the server would end only after the next request of the client.
    signal.signal(signal.SIGINT, lambda *_: end_at_once())
    server.run()
    return 0


def _answer(found: Sequence[Callable[..., str]], name: str, text: str) -> str:
    """Return the answer of a tool whose arguments are a JSON object."""
    tools = {tool.__name__: tool for tool in found}
    if name not in tools:
        raise CommandError(f"unknown tool {name}; the tools are {', '.join(tools)}")
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise CommandError(f"--arguments: not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise CommandError("--arguments: must be a JSON object")
    try:
        signature(tools[name]).bind(**arguments)
    except TypeError as error:
        raise CommandError(f"--arguments: {error}") from None
    try:
        return tools[name](**arguments)
    except TypeError as error:
        raise CommandError(str(error)) from None


def create_server(tools: Sequence[Callable[..., str]] = TOOLS) -> Any:
    """Return the server of some tools.

    Raises:
        ImportError: The optional package ``mcp`` is missing.
    """
    from mcp.server import MCPServer  # noqa: PLC0415  # no other command needs it

    server: Any = MCPServer("hlo-lsp", version=__version__, instructions=_INSTRUCTIONS)
    for tool in tools:
        # Otherwise each answer is sent twice: also as a JSON object with one string.
        server.tool(structured_output=False)(_with_reported_errors(tool))
    return server


def _with_reported_errors(tool: Callable[..., str]) -> Callable[..., str]:
    # The text of this error reaches the agent; that of others does not.
    from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415

    @wraps(tool)
    def call(*args: Any, **options: Any) -> str:
        try:
            return tool(*args, **options)
        except AgentToolError as error:
            raise ToolError(str(error)) from error

    return call
