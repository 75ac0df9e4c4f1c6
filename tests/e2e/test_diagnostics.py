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
