"""What stands at a place, and where it leads."""

from typing import Any

from lsprotocol import types

from hlo_lsp.features import calls, goto, hover, references
from hlo_lsp.features.session import Session
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.registrations.answers import Answers


def serve_places(answers: Answers) -> None:
    """The requests of people who read a dump."""
    at_place = answers.at_place
    at_place(
        types.TEXT_DOCUMENT_HOVER, lambda asked, p: hover.hover(asked, p.position), closed=True
    )
    at_place(
        types.TEXT_DOCUMENT_DEFINITION,
        lambda asked, p: goto.definition(asked, p.position),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_DECLARATION,
        lambda asked, p: goto.declaration(asked, p.position),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_TYPE_DEFINITION,
        lambda asked, p: goto.type_definition(asked, p.position),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_IMPLEMENTATION,
        lambda asked, p: goto.implementation(asked, p.position),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda asked, p: references.references(
            asked, p.position, with_declaration=p.context.include_declaration
        ),
        whole=True,
        closed=True,
    )
    at_place(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        lambda asked, p: references.highlight(asked, p.position),
    )
    at_place(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        lambda asked, p: calls.prepare(asked, p.position),
    )


def serve_calls(server: HloServer, session: Session) -> None:
    """The two requests about an item that was prepared before."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)
