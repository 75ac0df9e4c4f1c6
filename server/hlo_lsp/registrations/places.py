"""What stands at a place, and where it leads."""

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from hlo_lsp.features import calls, goto, hover, references
from hlo_lsp.features.session import Asked, Session
from hlo_lsp.protocol.server import HloServer
from hlo_lsp.registrations.answers import Answers


def serve_places(answers: Answers) -> None:
    """The requests of people who read a dump."""
    at_place = answers.at_place
    at_place(
        types.TEXT_DOCUMENT_HOVER, lambda asked, p: hover.hover(asked, p.position), closed=True
    )
    _leads(answers, types.TEXT_DOCUMENT_DEFINITION, goto.definition)
    _leads(answers, types.TEXT_DOCUMENT_DECLARATION, goto.declaration)
    _leads(answers, types.TEXT_DOCUMENT_TYPE_DEFINITION, goto.type_definition)
    _leads(answers, types.TEXT_DOCUMENT_IMPLEMENTATION, goto.implementation)
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


def _leads(answers: Answers, method: str, find: Callable[[Asked, types.Position], Any]) -> None:
    """Where a place leads, in all files of the compile."""
    answers.at_place(method, lambda asked, p: find(asked, p.position), whole=True, closed=True)


def serve_calls(server: HloServer, session: Session) -> None:
    """The two requests about an item that was prepared before."""

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> Any:
        return await calls.incoming(session, params.item)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await calls.outgoing(session, params.item)
