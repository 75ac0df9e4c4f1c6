"""Assembly of the language server."""

from lsprotocol import types

from hlo_lsp import __version__
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.handlers import (
    HandlerRegistry,
    register_actions,
    register_calls,
    register_commands,
    register_completion,
    register_diagnostics,
    register_documents,
    register_hints,
    register_positions,
    register_texts,
    register_tokens,
    register_windows,
    register_workspace,
    register_writing,
)
from hlo_lsp.lsp.hover import warm_up
from hlo_lsp.lsp.protocol import HloServer
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import Session


def create_server() -> HloServer:
    """Return a server for one connection."""
    server = HloServer("hlo-lsp", __version__)
    session = Session()
    services = Services(server, session, server.protocol.notify)
    registry = HandlerRegistry(server, session)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encoding = server.protocol.workspace.position_encoding or "utf-16"
        session.client = Client.from_capabilities(
            params.capabilities, encoding, params.initialization_options
        )
        services.configuration.start(params)
        session.run_in_background(warm_up)

    register_workspace(server, services)
    register_texts(server, session, services)
    register_windows(server)
    register_positions(registry)
    register_calls(server, session)
    register_documents(server, session, registry)
    register_tokens(server, services.semantic_tokens)
    register_hints(server, services.inlay_hints)
    register_diagnostics(server, services)
    register_actions(server, session)
    register_commands(server, session)
    register_completion(server, session)
    register_writing(session, registry)
    return server
