"""Operations that XLA for TPU runs on the SparseCore, behind a call."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.dataflow import ModuleFlow, offloaded_computation
from hlo_lsp.program.transfers import (
    async_operations,
    is_communication,
    performed_operation,
    synchronous_collectives,
)
from hlo_lsp.syntax.module_records import InstructionLine
from sparse_core_texts import CALL, COLLECTIVES, CUSTOM_CALL, direct_text, offloaded_text

of_each_call = pytest.mark.parametrize("call", [CUSTOM_CALL, CALL], ids=["custom-call", "call"])


@of_each_call
@pytest.mark.parametrize("opcode", COLLECTIVES)
def test_offloaded_collective_is_asynchronous(opcode: str, call: str) -> None:
    module = _module(offloaded_text(opcode, call))
    (found,) = async_operations(module) or []
    (direct,) = async_operations(_module(direct_text(opcode))) or []
    assert (found.kind, found.bytes) == (direct.kind, direct.bytes)
    assert found.kind == opcode
    assert not synchronous_collectives(module)


def test_work_counts_from_the_last_operand() -> None:
    (offloaded,) = async_operations(_module(offloaded_text("all-gather"))) or []
    (direct,) = async_operations(_module(direct_text("all-gather"))) or []
    assert (offloaded.ready.name, offloaded.work) == ("update", 1)
    assert (direct.ready.name, direct.work) == ("start", 2)


@of_each_call
def test_parts_of_offloaded_collective_communicate(call: str) -> None:
    module = _module(offloaded_text("all-gather", call))
    found = {one.name for one in module.instructions.records() if is_communication(module, one)}
    assert found == {"start", "update", "done", "inner", "run"}


def test_custom_call_that_runs_a_collective_is_synchronous() -> None:
    text = (
        "HloModule m, is_scheduled=true\n\n%c (p: f32[8]) -> f32[16] {\n"
        "  %p = f32[8] parameter(0)\n  ROOT %g = f32[16] all-gather(%p), dimensions={0}\n}\n\n"
        "ENTRY %e (x: f32[8]) -> f32[16] {\n  %x = f32[8] parameter(0)\n"
        '  ROOT %k = f32[16] custom-call(%x), custom_call_target="x", called_computations={%c}\n}\n'
    )
    found = synchronous_collectives(_module(text))
    assert [(one.name, kind, size) for one, kind, size in found] == [("k", "all-gather", 64)]


def test_offloaded_scatter_is_a_scatter() -> None:
    module = _module("""\
HloModule m

%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %sum = f32[] add(%l, %r)
}

%fused (a: f32[8], i: s32[2], u: f32[2]) -> f32[8] {
  %a = f32[8] parameter(0)
  %i = s32[2] parameter(1)
  %u = f32[2] parameter(2)
  ROOT %s = f32[8] scatter(%a, %i, %u), to_apply=%add
}

%kernel (a.1: f32[8], i.1: s32[2], u.1: f32[2]) -> f32[8] {
  %a.1 = f32[8] parameter(0)
  %i.1 = s32[2] parameter(1)
  %u.1 = f32[2] parameter(2)
  ROOT %f = f32[8] fusion(%a.1, %i.1, %u.1), kind=kCustom, calls=%fused
}

ENTRY %e (a.2: f32[8], i.2: s32[2], u.2: f32[2]) -> f32[8] {
  %a.2 = f32[8] parameter(0)
  %i.2 = s32[2] parameter(1)
  %u.2 = f32[2] parameter(2)
  ROOT %k = f32[8] custom-call(%a.2, %i.2, %u.2), custom_call_target="x", called_computations={%kernel}
}
""")  # noqa: E501
    assert performed_operation(module, _named(module, "k")).name == "s"


def test_comparison_of_top_k_is_not_offloaded() -> None:
    module = _module("""\
HloModule m

%greater (l: f32[], r: f32[]) -> pred[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %c = pred[] compare(%l, %r), direction=GT
}

ENTRY %e (x: f32[8]) -> (f32[2], s32[2]) {
  %x = f32[8] parameter(0)
  ROOT %k = (f32[2], s32[2]) custom-call(%x), custom_call_target="TopK", called_computations={%greater}
}
""")  # noqa: E501
    assert offloaded_computation(module, _named(module, "k")) is None


def test_operand_of_offloaded_computation_has_its_origin() -> None:
    module = _module(offloaded_text("all-gather"))
    passed = ModuleFlow(module).arguments(_named(module, "p"))
    assert [(caller.name, operand.name) for caller, operand in passed] == [("inner", "q")]


def _module(text: str) -> ModuleIndex:
    return DumpFile.of_text(text).module


def _named(module: ModuleIndex, name: str) -> InstructionLine:
    found = module.instructions.first(name)
    assert found is not None
    return found
