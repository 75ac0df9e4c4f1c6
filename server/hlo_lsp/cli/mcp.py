"""``hlo-lsp mcp``: the commands as tools for coding agents (Model Context Protocol)."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from hlo_lsp import __version__
from hlo_lsp.cli.agent_tools import TOOLS, AgentToolError

_USAGE_ERROR_STATUS = 2
_INSTRUCTIONS = """\
Tools for the text dumps of XLA, the compiler of JAX (HLO modules, buffer assignments, live ranges).
To get dumps, run a program with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text".
Begin with `modules` or `summary` on the folder. `find` and `why` explain single buffers, `diff` a
change, `oom` an out-of-memory message in a log. Sizes are bytes with padding unless a text says
otherwise; steps are steps of the schedule."""


def run(options: argparse.Namespace) -> int:
    """Serve one client on standard input and output, and return the exit status.

    With ``--call``, print the answer of one tool.
    """
    if options.directory is not None:
        os.chdir(options.directory)
    if options.call is not None:
        return _call(options.call, options.arguments)
    try:
        server = create_server()
    except ImportError:
        print("hlo-lsp: install the package mcp first: pip install 'hlo-lsp[mcp]'", file=sys.stderr)
        return _USAGE_ERROR_STATUS
    server.run()
    return 0


def _call(name: str, text: str) -> int:
    """Print the answer of a tool whose arguments are a JSON object."""
    try:
        arguments = json.loads(text)
        tool = next(tool for tool in TOOLS if tool.__name__ == name)
        print(tool(**arguments))
    except StopIteration:
        names = ", ".join(tool.__name__ for tool in TOOLS)
        print(f"hlo-lsp: unknown tool {name}; the tools are {names}", file=sys.stderr)
        return _USAGE_ERROR_STATUS
    except (AgentToolError, TypeError, ValueError) as error:
        print(f"hlo-lsp: {error}", file=sys.stderr)
        return _USAGE_ERROR_STATUS
    return 0


def create_server() -> Any:
    """Return the server.

    Raises:
        ImportError: The optional package ``mcp`` is missing.
    """
    from mcp.server import MCPServer  # noqa: PLC0415  # no other command needs it

    server: Any = MCPServer("hlo-lsp", version=__version__, instructions=_INSTRUCTIONS)
    for tool in TOOLS:
        server.tool()(_with_reported_errors(tool))
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
