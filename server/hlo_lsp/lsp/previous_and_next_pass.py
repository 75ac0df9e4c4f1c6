"""The request ``hlo/adjacentPass``: an instruction in the text of the previous or next pass."""

from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from hlo_lsp.ide.cursor import targets
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, name_place
from hlo_lsp.program.stages import counterpart_in
from hlo_lsp.reports.history import NO_PASS_TEXTS, stage_label
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.disk import UnreadableError

ADJACENT_PASS_METHOD = "hlo/adjacentPass"


async def answer_adjacent_pass(session: Session, params: Any) -> Json:
    """Return the place of the instruction at the cursor in the text of an adjacent pass.

    Args:
        session: The session.
        params: ``uri`` and ``position`` of the cursor, and the ``direction``: ``previous`` or
            ``next``.

    Returns:
        The ``location``, the ``label`` of the text, and a ``message`` if the instruction there has
        another name.

    Raises:
        RequestFailedError: The place does not exist; the message gives the reason.
    """
    uri, cursor = str(getattr(params, "uri", "")), getattr(params, "position", None)
    is_next = getattr(params, "direction", None) != "previous"
    position = types.Position(getattr(cursor, "line", 0), getattr(cursor, "character", 0))
    document = types.TextDocumentIdentifier(uri)
    context = await session.context(document, position.line, whole=True, closed=True)
    if context is None:
        raise RequestFailedError(f"{uri}: not an HLO module or XLA memory dump")
    instruction = _instruction_at(context, position)
    path = instruction.file.path
    texts = [] if path is None else session.workspace.compile(path).texts
    if path is None or len(texts) < 2 or path not in texts:
        raise RequestFailedError(NO_PASS_TEXTS)
    number = texts.index(path) + (1 if is_next else -1)
    if not 0 <= number < len(texts):
        raise RequestFailedError(
            f"this is the {'last' if is_next else 'first'} text of the compile"
        )
    other = await _file(session, texts[number])
    return await run_in_slices(partial(_answer, context, instruction, other, path, is_next))


def _instruction_at(
    context: RequestContext, position: types.Position
) -> LocatedRecord[InstructionLine]:
    """Return the instruction at the cursor, or that of the value there."""
    target = context.at(position)
    found = None
    match None if target is None else target.entity:
        case targets.InstructionTarget(name=name) if target is not None:
            found = (
                targets.resolve_instruction(context.dump, target, name)
                if target.is_in_module_text
                else context.dump.instruction(name)
            )
        case targets.ValueTarget(key=key):
            found = context.dump.instruction(key.partition("{")[0])
    if found is None:
        raise RequestFailedError("no instruction at the cursor")
    return found


async def _file(session: Session, path: Path) -> DumpFile:
    await session.loader.wait([path], None)
    try:
        return await run_in_slices(partial(session.workspace.file, path))
    except UnreadableError as error:
        raise RequestFailedError(str(error)) from None


def _answer(
    context: RequestContext,
    instruction: LocatedRecord[InstructionLine],
    other: DumpFile,
    path: Path,
    is_next: bool,
) -> Json:
    name = instruction.record.name
    found = counterpart_in(other, instruction)
    assert other.path is not None
    label = stage_label(other.path)
    event = f"{label}: removed" if is_next else f"{stage_label(path)}: created"
    if found is None:
        raise RequestFailedError(f"{event} `{name}`")
    place = name_place(other, found)
    message = None
    if found.name != name:
        message = f"{event} `{name}`; `{found.name}` has the same operation"
    (location,) = context.client.locations([place])
    return {"location": location, "label": label, "message": message}
