"""Symbols and folds of every kind of file."""

from collections.abc import Callable

from lsprotocol import types

from e2e.asking import folds, symbol_names, symbols
from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]


async def test_the_one_file_dump_has_all_its_sections(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    found = await symbols(file)
    assert all(isinstance(symbol, types.DocumentSymbol) for symbol in found)
    assert [symbol.name for symbol in found] == [
        "BufferAssignment", "Total bytes used", "Used values", "HloLiveRange"
    ]  # fmt: skip
    ranges = found[-1]
    assert isinstance(ranges, types.DocumentSymbol)
    assert [child.name for child in ranges.children or ()] == [
        "InstructionSequence", "BufferLiveRange", "Peak"
    ]  # fmt: skip
    names = await symbol_names(file)
    assert {"allocation 4", "166 fusion.16{0}", "xor.4", "add_add_fusion{1}"} <= set(names)


async def test_sections_allocations_and_entries_fold(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    lines = file.text.lines
    found = await folds(file)
    assert ("BufferAssignment:", lines[file.text.line("Total bytes") - 2]) in found
    assert ("<164 Arg_0.1 @0>", lines[file.text.line("<165 ") - 1]) in found
    assert ("    0:constant.15", "    0:constant.15") not in found
    (schedule,) = [fold for fold in found if fold[0] == "  InstructionSequence:"]
    assert schedule[1] == "    12:pad_add_fusion"
    assert all(first != last for first, last in found)
