"""Tests for computations that the text of an asynchronous operation omits."""

import pytest

from async_spellings import SPELLINGS, compile_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import InstructionLine

_REDUCE_SCATTER = next(one for one in SPELLINGS if one.opcode == "reduce-scatter").short
_WITH_BODY = """\
HloModule m

ENTRY main {
  p = f32[64]{0} parameter(0)
  start = ((f32[64]{0}), f32[16]{0}) slice-start(p), slice={[0:16]}, calls=
  {
    q = f32[64]{0} parameter(0)
    ROOT run = f32[16]{0} slice(q), slice={[0:16]}
  }
  ROOT done = f32[16]{0} slice-done(start)
}
"""


def test_start_calls_the_omitted_computation() -> None:
    module = _module(_REDUCE_SCATTER)
    (body,) = module.called_by(_start(module))
    root = module.computation(body).root
    assert root is not None
    assert (root.opcode, root.shape) == ("reduce-scatter", "f32[32,128]{1,0}")
    assert [one.shape for one in module.inputs(root)] == ["f32[64,128]{1,0}"]
    assert module.callers(body) == [_start(module)]
    assert root.printed is _start(module)


def test_omitted_operation_calls_what_the_start_names() -> None:
    module = _module(_REDUCE_SCATTER)
    reducer = module.named("add")
    assert reducer is not None
    assert [(one.name, one.opcode) for one in module.callers(reducer)] == [
        ("start.calls.reduce-scatter", "reduce-scatter")
    ]


def test_attributes_of_the_start_stay_with_it() -> None:
    text = _REDUCE_SCATTER.replace(
        "to_apply=%add\n", 'to_apply=%add, async_execution_thread="t", control-predecessors={%p}\n'
    )
    root = _module(text).instructions.first("start.calls.reduce-scatter")
    assert root is not None
    assert root.text.endswith("dimensions={0}, to_apply=%add")


def test_inline_computation_replaces_the_omitted_one() -> None:
    module = _module(_WITH_BODY)
    (body,) = module.called_by(_start(module))
    assert [one.name for one in module.members(body)] == ["q", "run"]
    assert [one.name for one in module.printed_instructions()] == ["p", "start", "q", "run", "done"]


def test_omitted_instructions_are_not_printed() -> None:
    module = _module(_REDUCE_SCATTER)
    assert "start.calls.reduce-scatter" not in {one.name for one in module.printed_instructions()}


@pytest.mark.parametrize(
    ("opcode", "shape", "expected"),
    [
        ("all-gather", "((f32[4]), f32[8])", "async-done"),
        ("all-gather", "(f32[4], f32[8])", "all-gather-done"),
        ("all-gather", "((f32[4], f32[4]), (f32[8], f32[8]))", "all-gather-done"),
        ("all-reduce", "((f32[4]), f32[8])", "async-done"),
        ("all-reduce", "(f32[4], f32[8])", "all-reduce-done"),
        ("copy", "((f32[4]), f32[4], u32[])", "async-done"),
        ("copy", "(f32[4], f32[4], u32[])", "copy-done"),
        ("negate", "((f32[4]), f32[4], u32[])", "async-done"),
    ],
)
def test_shape_of_start_determines_the_done(opcode: str, shape: str, expected: str) -> None:
    text = (
        f"HloModule m\n\nENTRY %e {{\n  %p = f32[4] parameter(0)\n"
        f"  %start = {shape} {opcode}-start(%p)\n  ROOT %done = f32[8] {opcode}-done(%start)\n}}\n"
    )
    module = _module(text)
    done = module.instructions.first("done")
    assert done is not None
    assert module.opcode(done) == expected


def test_edited_start_has_another_computation() -> None:
    file = compile_of(_REDUCE_SCATTER)[1]
    line = next(n for n, text in enumerate(file.lines) if "%start =" in text)
    file.changed(file.document.edit((line, 3), (line, 8), "begin"))
    file.refresh()
    names = {one.name for one in file.module.instructions.records()}
    assert "begin.calls.reduce-scatter" in names
    assert "start.calls.reduce-scatter" not in names


def _module(text: str) -> ModuleIndex:
    return compile_of(text)[1].module


def _start(module: ModuleIndex) -> InstructionLine:
    start = module.instructions.first("start")
    assert start is not None
    return start
