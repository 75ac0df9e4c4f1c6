"""How most requests are answered: about a place in a text, or about all that is in it."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import chain
from typing import Any

from hlo_lsp.features.session import Asked, Session
from hlo_lsp.features.wire import Json
from hlo_lsp.protocol.server import HloServer


class Answers:
    """Registers them with what replies to each."""

    def __init__(self, server: HloServer, session: Session) -> None:
        self._server = server
        self._session = session

    def at_place(
        self,
        method: str,
        reply: Callable[[Asked, Any], Any],
        options: Any = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> None:
        """Answer a request about a place: with nothing where no dump is.

        The text may be ``closed``: clients show parts of files that they cannot open.
        """

        @self._server.feature(method, options)
        async def on_request(params: Any) -> Any:
            line = params.position.line
            asked = await self._session.ask(params.text_document, line, whole=whole, closed=closed)
            result = None if asked is None else reply(asked, params)
            return await result if isawaitable(result) else result

    def in_text(
        self,
        method: str,
        reply: Callable[[Asked, Any], Awaitable[list[Json]]],
        options: Any = None,
        join: Callable[[list[Json]], list[Json]] = list,
    ) -> None:
        """Answer a request about a whole document: with the answers for each file in it.

        The reply must wait for no background task: those are held up until it is complete.
        """
        session = self._session

        @self._server.feature(method, options)
        async def on_request(params: Any) -> list[Json] | None:
            async def reply_first(asked: Asked) -> list[Json]:
                with session.foreground.working():
                    return await reply(asked, params)

            found = await session.joined(params.text_document, reply_first)
            return join(list(chain.from_iterable(found))) if found else None
