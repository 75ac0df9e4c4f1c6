"""Tests for features of an editor in a text that omits asynchronous computations."""

from async_spellings import SPELLINGS, compile_of
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.inspection import instruction_json
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.program.renaming import mention_places

_SHORT = {one.opcode: one.short for one in SPELLINGS}


def test_computation_is_mentioned_once_by_a_start() -> None:
    _, file = compile_of(_SHORT["reduce-scatter"])
    reducer = file.module.named("add")
    assert reducer is not None
    mentioned = mention_places(file, reducer)
    assert [file.lines[one.line][one.start : one.end] for one in mentioned] == ["add", "add"]


def test_inspection_shows_the_opcode_of_dumps() -> None:
    dump, _ = compile_of(_SHORT["all-reduce"])
    start, done = (
        instruction_json(dump, name, dump.instruction(name)) for name in ("start", "done")
    )
    assert start is not None
    assert (start["opcode"], start["called"]) == ("async-start", ["start.calls"])
    assert done is not None
    assert done["opcode"] == "async-done"


def test_hover_describes_the_generic_result() -> None:
    dump, file = compile_of(_SHORT["copy"])
    start = file.module.instructions.first("start")
    assert start is not None
    card = instruction_card(dump, "start", line=LocatedRecord(file, start))
    assert card is not None
    assert card.text.startswith("Begins the `copy` that runs beside other instructions")
