"""Tests for files that are not dumps: no results, no diagnostics, and no errors."""

from collections.abc import Callable

from lsprotocol import types

from e2e.asking import code_lens_titles, folds, request_hover, symbols
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]
TEXTS = {
    "empty": "",
    "blank lines": "\n\n   \n\t\n",
    "flags": "--xla_tpu_enable=true\n--xla_dump_to=/tmp/x\n",
    "LLVM": "; ModuleID = 'm'\ntarget triple = \"x86_64\"\ndefine void @f() {\n  ret void\n}\n",
    "textproto": "device_info {\n  name: \"TPU\"\n  allocation: 3\n}\n",
    "prose": "An allocation of memory\nis no allocation 3: of a dump.\n",
    "C": "int main(void) {\n  return 0;\n}\n",
    "one giant line": "x" * 300_000,
    "signs": "\0\x01\x02\x0b\x0c\x85\u2028│├─𝔸\n",
}  # fmt: skip


async def assert_no_results(file: OpenFile) -> None:
    """Assert that no request about the file has a result."""
    lines = file.text.lines
    for number in range(min(5, len(lines))):
        assert await request_hover(file, types.Position(number, 0)) is None
        assert await request_hover(file, types.Position(number, min(3, len(lines[number])))) is None
    assert await symbols(file) == []
    assert await folds(file) == []
    assert await code_lens_titles(file) == []
    assert await file.diagnostics() == []


async def test_other_texts_have_no_results(neovim: Editor) -> None:
    for name, text in TEXTS.items():
        await assert_no_results(neovim.open(f"untitled:{name.replace(' ', '-')}", text))


async def test_edits_turn_other_text_into_dump(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open("untitled:new", "")
    await assert_no_results(file)
    file.set_text(compiled("one file").assignment.read_text("utf-8"))
    assert await request_hover(file, file.text.at("<166 fusion.16{0} @0>")) is not None
    assert len(await symbols(file)) == 4
    file.set_text("no more\n")
    await assert_no_results(file)
