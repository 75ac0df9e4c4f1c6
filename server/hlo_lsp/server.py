"""The language server: all that it answers, and what it keeps for one connection."""

from lsprotocol import types

from hlo_lsp import __version__
from hlo_lsp.features.client import Client
from hlo_lsp.features.keepers import Keepers
from hlo_lsp.features.session import Session
from hlo_lsp.features.warming import warm
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.registrations.answers import Answers
from hlo_lsp.registrations.documents import serve_documents, serve_hints, serve_tokens
from hlo_lsp.registrations.findings import serve_actions, serve_commands, serve_diagnostics
from hlo_lsp.registrations.places import serve_calls, serve_places
from hlo_lsp.registrations.workspace import serve_texts, serve_windows, serve_workspace
from hlo_lsp.registrations.writing import serve_completion, serve_writing


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
