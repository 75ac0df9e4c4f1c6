"""Symbols and folds of every kind of file."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.asking import folds, symbol_names, symbols
from e2e.compiles import Compile
from e2e.editor import Editor, editor

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


async def test_every_file_of_a_compile_has_an_outline(neovim: Editor, compiled: Compiled) -> None:
    tpu, gpu = compiled("tpu"), compiled("gpu")
    expected = {
        tpu.assignment: ["BufferAssignment"],
        tpu.values: ["Total bytes used", "Used values"],
        tpu.live_range: ["HloLiveRange"],
        tpu.report: [
            "Memory Space default", "Memory Space vmem", "Memory Space color_6"
        ],
        gpu.thunks: ["001 kCopy", "002 kCopy", "003 kWhile"],
    }  # fmt: skip
    for path, names in expected.items():
        assert [symbol.name for symbol in await symbols(neovim.open(path))] == names
    names = await symbol_names(neovim.open(tpu.module))
    assert names[0] == "jit_while_fn"
    assert {"StackFrames", "wide.region_0.1.sunk", "main.4", "add.6"} <= set(names)


async def test_symbols_are_where_they_say(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").live_range)
    (top,) = await symbols(file)
    assert isinstance(top, types.DocumentSymbol)
    assert top.range.start == types.Position(0, 0)
    breakdown = (top.children or ())[-1]
    last = file.text.lines[breakdown.range.end.line]
    assert last.strip().startswith("└── n (0.0%")
    assert file.text.column(breakdown.range.end) == len(last)  # boxes count in the encoding
    assert top.range.end == breakdown.range.end


async def test_a_client_without_trees_gets_a_list(tmp_path: Path, compiled: Compiled) -> None:
    async with editor(types.ClientCapabilities(), tmp_path / "log") as plain:
        file = plain.open(compiled("one file").assignment)
        found = await symbols(file)
        assert all(isinstance(symbol, types.SymbolInformation) for symbol in found)
        assert {"BufferAssignment", "166 fusion.16{0}"} <= {symbol.name for symbol in found}


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


async def test_folds_of_modules_and_thunks(neovim: Editor, compiled: Compiled) -> None:
    module = await folds(neovim.open(compiled("cpu").module))
    assert [last for first, last in module if first.startswith("ENTRY")] == ["}"]
    thunks = neovim.open(compiled("gpu").thunks)
    (loop,) = await folds(thunks)
    assert loop[0].startswith("003: kWhile")
    assert loop[1].startswith("    009: ")


async def test_no_more_folds_than_the_client_takes(tmp_path: Path, compiled: Compiled) -> None:
    folding = types.FoldingRangeClientCapabilities(range_limit=3)
    document = types.TextDocumentClientCapabilities(folding_range=folding)
    capabilities = types.ClientCapabilities(text_document=document)
    async with editor(capabilities, tmp_path / "log") as limited:
        found = await folds(limited.open(compiled("one file").assignment))
        assert [first for first, _ in found] == [
            "BufferAssignment:", "Used values:", "HloLiveRange (max 13):"
        ]  # fmt: skip
