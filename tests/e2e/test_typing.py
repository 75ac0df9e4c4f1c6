"""A hover right after each typed character, with nothing in between."""

from collections.abc import Callable

from e2e.asking import hover, symbol_names
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile
from e2e.everything import difference, everything

Compiled = Callable[[str], Compile]
TYPED = """\
allocation 99: size 2048, color 1, preallocated-temp:
 value: <999 typed.1{0} @1> (size=2048,offset=0): f32[4,128]{1,0:T(4,128)}
"""


def type_one(file: OpenFile, line: int, column: int, sign: str) -> tuple[int, int]:
    """Type a character and return where the cursor is then."""
    file.edit(((line, column), (line, column), sign))
    return (line + 1, 0) if sign == "\n" else (line, column + 1)


async def test_two_lines_are_typed_after_a_section(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    before = await everything(file)
    cursor = start = (file.text.line("Total bytes used") - 1, 0)
    assert len(TYPED) > 100
    for sign in TYPED:
        cursor = type_one(file, *cursor, sign)
        assert "result of `fusion.16`" in await hover(file, " value: <165", "fusion.16")
    told = await hover(file, " value: <999", "typed.1")
    assert "allocation** 99, preallocated-temp, 2,048 B" in told
    assert "999 typed.1{0}" in await symbol_names(file)
    assert await file.codes() == ["allocation-numbering", "color-mismatch"]
    file.edit((start, cursor, ""))
    assert difference(await everything(file), before) == []


async def test_name_is_deleted_and_typed_again(neovim: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    file, ranges = neovim.open(files.values), neovim.open(files.live_range)
    before = await everything(file)
    line, column = file.text.find("<33 wide.arg_tuple.3{} (phi) @0>")
    name = "wide.arg_tuple.3"
    column += len("<33 ")
    for left in range(len(name) - 1, -1, -1):
        file.edit(((line, column + left), (line, column + left + 1), ""))
        assert "`add.6`" in await hover(ranges, "    add.6{}:20-27", "add.6")
        assert await hover(file, "<23 fusion.9 @0>")
    for typed, sign in enumerate(name):
        file.edit(((line, column + typed), (line, column + typed), sign))
        assert "`add.6`" in await hover(ranges, "    add.6{}:20-27", "add.6")
        assert await hover(file, "<23 fusion.9 @0>")
    assert difference(await everything(file), before) == []


async def test_typing_at_the_top_moves_everything_below(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    cursor = (0, 0)
    for sign in "# seen\n\n" * 6:
        cursor = type_one(file, *cursor, sign)
        assert "result of `add_add_fusion`" in await hover(file, "    add_add_fusion{}:9-11", "add")
    assert "allocation 3" in await hover(file, "allocation 3")


async def test_hover_after_an_edit_reads_new_text(vscode: Editor, compiled: Compiled) -> None:
    file = vscode.open(compiled("one file").assignment)
    for size in range(600, 700):
        file.change_line("allocation 0:", f"allocation 0: size {size}, constant:")
        assert f"**size** {size} B" in await hover(file, "allocation 0:")
