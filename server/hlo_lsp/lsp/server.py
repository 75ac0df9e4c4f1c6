"""The language server: all that it answers, and what it keeps for one connection."""

from lsprotocol import types

from hlo_lsp import __version__
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.handlers import (
    Answers,
    serve_actions,
    serve_calls,
    serve_commands,
    serve_completion,
    serve_diagnostics,
    serve_documents,
    serve_hints,
    serve_places,
    serve_texts,
    serve_tokens,
    serve_windows,
    serve_workspace,
    serve_writing,
)
from hlo_lsp.lsp.hover import warm
from hlo_lsp.lsp.observers import Keepers
from hlo_lsp.lsp.protocol.connection import HloServer
from hlo_lsp.lsp.session import Session


def make_server() -> HloServer:
    """A server for one connection."""
    server = HloServer("hlo-lsp", __version__)
    session = Session()
    keepers = Keepers(server, session, server.notify_json)
    answers = Answers(server, session)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.protocol.workspace.position_encoding or "utf-16"
        session.client = Client.of(params.capabilities, encoding, params.initialization_options)
        keepers.configuration.start(params)
        session.in_background(warm)

    serve_workspace(server, keepers)
    serve_texts(server, session, keepers)
    serve_windows(server)
    serve_places(answers)
    serve_calls(server, session)
    serve_documents(server, session, answers)
    serve_tokens(server, keepers.colours)
    serve_hints(server, keepers.notes)
    serve_diagnostics(server, keepers)
    serve_actions(server, session)
    serve_commands(server, session)
    serve_completion(server, session)
    serve_writing(session, answers)
    return server
