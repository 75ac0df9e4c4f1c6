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


async def test_two_lines_are_typed_after_a_section(vscode: Editor, compiled: Compiled) -> None:
    file = vscode.open(compiled("one file").assignment)
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


async def test_hover_after_an_edit_reads_new_text(vscode: Editor, compiled: Compiled) -> None:
    file = vscode.open(compiled("one file").assignment)
    for size in range(600, 700):
        file.change_line("allocation 0:", f"allocation 0: size {size}, constant:")
        assert f"**size** {size} B" in await hover(file, "allocation 0:")
