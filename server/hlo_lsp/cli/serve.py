"""``hlo-lsp serve``: start the language server."""

import argparse
import sys

from hlo_lsp.lsp.server import create_server


def run(options: argparse.Namespace) -> int:
    """Serve one client on standard input and output or on a socket, and return the exit status."""
    server = create_server()
    if not options.tcp:
        if sys.stdin is None or sys.stdout is None:
            print("hlo-lsp: standard input or output is closed", file=sys.stderr)
            return 1
        server.start_io()
        return server.protocol.exit_status
    try:
        server.start_tcp(options.host, options.port)
    except OSError as error:
        reason = error.strerror or error
        print(f"hlo-lsp: cannot listen on {options.host}:{options.port}: {reason}", file=sys.stderr)
        return 1
    return server.protocol.exit_status
