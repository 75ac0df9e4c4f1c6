"""Tests for the values that rules check again after an edit of the module text."""

from pathlib import Path

import pytest

from hlo_lsp.checks.framework.incremental_values import CleanValues
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_MODULE = """\
HloModule m, is_scheduled=true

%f (p: f32[8]) -> f32[8] {
  ROOT %p = f32[8]{0} parameter(0)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} negate(%x)
  %z = f32[8]{0} negate(%y)
  ROOT %r = f32[8]{0} negate(%z)
}
"""
_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 160, preallocated-temp:
 value: <0 p @0> (size=32,offset=0): f32[8]{0}
 value: <1 x @0> (size=32,offset=32): f32[8]{0}
 value: <2 y @0> (size=32,offset=64): f32[8]{0}
 value: <3 z @0> (size=32,offset=96): f32[8]{0}
 value: <4 r @0> (size=32,offset=128): f32[8]{0}
"""


def _files(text: str) -> tuple[DumpFile, DumpFile]:
    stem = "module_0001.m.after_optimizations"
    files = {"": text, "-buffer-assignment": _ASSIGNMENT}
    module, assignment = (
        DumpFile.of_text(text, str(Path(f"{stem}{name}.txt"))) for name, text in files.items()
    )
    return module, assignment


def _replace(file: DumpFile, old: str, new: str) -> None:
    text = file.document.text
    before = text[: text.index(old)].split("\n")
    line, column = len(before) - 1, len(before[-1])
    last = old.split("\n")
    end = line + len(last) - 1, len(last[-1]) + (column if len(last) == 1 else 0)
    file.changed(file.document.edit((line, column), end, new))
    file.refresh()


@pytest.mark.parametrize(
    ("edit", "outdated"),
    [
        pytest.param(("%x)", "%x), metadata={}"), "xy", id="operands"),
        pytest.param(("%y = f32", "%w = f32"), "xy", id="name"),
        pytest.param(("  ROOT %r = f32[8]{0} negate(%z)\n", ""), "rz", id="root"),
    ],
)
def test_edit_leaves_other_values_clean(edit: tuple[str, str], outdated: str) -> None:
    clean = _clean_after(_MODULE, edit)
    assert "p" in clean
    assert clean.isdisjoint(outdated)


def _clean_after(text: str, edit: tuple[str, str]) -> set[str | None]:
    module, assignment = _files(text)
    dump, clean = Compile([module, assignment]), CleanValues()
    clean.refresh(dump, module)
    clean.records = set(assignment.memory.assigned.records())
    _replace(module, *edit)
    clean.refresh(dump, module)
    return {record.name for record in clean.records}
