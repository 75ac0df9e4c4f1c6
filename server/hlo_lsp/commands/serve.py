"""``hlo-lsp serve``."""

import argparse
import logging

from hlo_lsp.server import make_server


def run(options: argparse.Namespace) -> int:
    """Serve one client, on standard input and output or on a socket."""
    server = make_server()
    if not options.tcp:
        server.start_io()
        return 0
    try:
        server.start_tcp(options.host, options.port)
    except OSError as error:
        logging.getLogger(__name__).error(
            "cannot listen on %s:%s: %s", options.host, options.port, error.strerror
        )
        return 1
    return 0
