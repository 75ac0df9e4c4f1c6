"""Call hierarchies from the module text and from memory files, in real compiles."""

from collections.abc import Callable, Sequence

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]
Item = types.CallHierarchyItem
Said = list[tuple[str, list[str]]]


async def prepared(file: OpenFile, beginning: str, word: str = "") -> Item:
    params = types.CallHierarchyPrepareParams(file.document, file.text.at(beginning, word))
    request = file.editor.client.text_document_prepare_call_hierarchy_async
    (item,) = await file.editor.reply(request(params)) or []
    return item


async def incoming(editor: Editor, item: Item) -> Said:
    """Return the callers, and the text of the ranges in them."""
    request = editor.client.call_hierarchy_incoming_calls_async
    found = await editor.reply(request(types.CallHierarchyIncomingCallsParams(item)))
    return [(call.from_.name, words(editor, item.uri, call.from_ranges)) for call in found or ()]


async def outgoing(editor: Editor, item: Item) -> Said:
    """Return the callees, and the text of the ranges."""
    request = editor.client.call_hierarchy_outgoing_calls_async
    found = await editor.reply(request(types.CallHierarchyOutgoingCallsParams(item)))
    return [(call.to.name, words(editor, item.uri, call.from_ranges)) for call in found or ()]


def words(editor: Editor, uri: str, ranges: Sequence[types.Range]) -> list[str]:
    return [editor.spot(types.Location(uri, span)).selected for span in ranges]


async def test_who_calls_the_body_of_a_loop(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    loop = next(line for line in file.text.lines if " while(" in line)
    body = loop.partition("body=%")[2].partition(",")[0]
    item = await prepared(file, loop, f"%{body}")
    assert (item.name, item.kind) == (body, types.SymbolKind.Function)
    entry = next(line for line in file.text.lines if line.startswith("ENTRY"))
    main = entry.split()[1].removeprefix("%")
    assert await incoming(any_editor, item) == [(main, [body])]
    assert (body, [body]) in await outgoing(any_editor, await prepared(file, "ENTRY", main))


async def test_data_flows_from_operands_to_users(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("tpu").module)
    item = await prepared(file, "  %add.6 =", "add.6")
    assert item.detail is not None
    assert item.detail.startswith("add ")
    users = await outgoing(neovim, item)
    assert ("tuple.12", ["add.6"]) in users
    operands = await incoming(neovim, item)
    line = file.text.lines[file.text.line("  %add.6 =")]
    assert operands
    assert all(f"%{name}" in line and found == [name] for name, found in operands)


async def test_from_every_memory_file_into_the_module_text(
    neovim: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    lines = {
        files.assignment: " value: <23 fusion.9 @0>",
        files.values: "<23 fusion.9 @0>",
        files.live_range: "    fusion.9{}:25-27",
    }
    for path, line in lines.items():
        item = await prepared(neovim.open(path), line, "fusion.9")
        assert (item.name, item.uri) == ("fusion.9", files.module.as_uri())
        assert [name for name, _ in await outgoing(neovim, item)] == ["tuple.12"]
        neovim.files[path.as_uri()].close()


async def test_an_item_that_is_gone(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("tpu").module)
    item = await prepared(file, "  %add.6 =", "add.6")
    file.edit(((0, 0), (0, 0), "\n\n"))
    assert await outgoing(neovim, item)
    file.change_line("  %add.6 =", "")
    assert await outgoing(neovim, item) == []
