"""Tests for published and pulled diagnostics."""

from collections.abc import Callable

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor

Compiled = Callable[[str], Compile]


async def test_diagnostic_appears_and_disappears_with_the_damage(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("one file").assignment)
    assert await file.codes() == []
    file.substitute("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
    (found,) = await file.diagnostics()
    assert (found.code, found.source) == ("size-mismatch", "hlo-lsp")
    assert found.severity is types.DiagnosticSeverity.Error
    assert "1,000" in found.message
    assert "1,024" in found.message
    assert file.text.spot("", found.range).selected == "1000"
    file.substitute("(size=1000", "(size=1024")
    assert await file.codes() == []


async def test_columns_are_correct_on_box_drawing_lines(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").live_range)
    file.substitute("copy.11 (33.3%, total: 262 144 bytes", "copy.11 (33.3%, total: 262 144 bites")
    (found,) = await file.diagnostics()
    assert found.code == "syntax"
    line = file.text.lines[found.range.start.line]
    assert line.strip().startswith("│       ├── copy.11 (33.3%")
    assert file.text.column(found.range.end) == len(line)
    assert file.text.column(found.range.start) >= line.index("├")
