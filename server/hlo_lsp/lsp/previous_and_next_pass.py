"""The request ``hlo/adjacentPass``: an instruction in the text of the previous or next pass."""

from functools import partial
from pathlib import Path

from lsprotocol import types

from hlo_lsp.ide.cursor.targets import instruction_at
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.commands import of_dump
from hlo_lsp.lsp.custom_requests import AdjacentPassParams
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.place import LocatedRecord, name_place
from hlo_lsp.program.stages import counterpart_in
from hlo_lsp.reports.history import NO_PASS_TEXTS, stage_label
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.disk import UnreadableError


async def answer_adjacent_pass(session: Session, params: AdjacentPassParams) -> Json:
    """Return the place of the instruction at the cursor in the text of an adjacent pass.

    Returns:
        The ``location``, the ``label`` of the text, and a ``message`` if the instruction there has
        another name.

    Raises:
        RequestFailedError: The place does not exist; the message gives the reason.
    """
    uri, position, is_next = params.uri, params.position, params.direction == "next"
    document = types.TextDocumentIdentifier(uri)
    adjacent = partial(_adjacent_text, position=position, is_next=is_next)
    line = position.line
    paths = await session.answer_at(document, line, None, adjacent, whole=True, closed=True)
    await session.loader.wait(paths, None)
    reply = partial(_answer, position=position, is_next=is_next)
    return of_dump(
        uri, await session.answer_at(document, line, None, reply, whole=True, closed=True)
    )


def _adjacent_text(context: RequestContext, position: types.Position, *, is_next: bool) -> Path:
    """Return the text of the adjacent pass."""
    path = _instruction_at(context, position).file.path
    texts = [] if path is None else context.session.workspace.compile_files(path).texts
    if path is None or len(texts) < 2 or path not in texts:
        raise RequestFailedError(NO_PASS_TEXTS)
    number = texts.index(path) + (1 if is_next else -1)
    if not 0 <= number < len(texts):
        raise RequestFailedError(
            f"this is the {'last' if is_next else 'first'} text of the compile"
        )
    return texts[number]


def _instruction_at(
    context: RequestContext, position: types.Position
) -> LocatedRecord[InstructionLine]:
    """Return the instruction at the cursor, or that of the value there."""
    target = context.at(position)
    found = None if target is None else instruction_at(context.dump, target)
    if found is None:
        raise RequestFailedError("no instruction at the cursor")
    return found


def _answer(context: RequestContext, position: types.Position, *, is_next: bool) -> Json:
    instruction = _instruction_at(context, position)
    path, other_path = instruction.file.path, _adjacent_text(context, position, is_next=is_next)
    assert path is not None
    try:
        other = context.session.workspace.file(other_path)
    except UnreadableError as error:
        raise RequestFailedError(str(error)) from None
    name = instruction.record.name
    found = counterpart_in(other, instruction)
    label = stage_label(other_path)
    event = f"{label}: removed" if is_next else f"{stage_label(path)}: created"
    if found is None:
        raise RequestFailedError(f"{event} `{name}`")
    place = name_place(other, found)
    message = None
    if found.name != name:
        message = f"{event} `{name}`; `{found.name}` has the same operation"
    (location,) = context.client.locations([place])
    return {"location": location, "label": label, "message": message}
