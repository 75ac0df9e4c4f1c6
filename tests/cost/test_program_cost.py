"""Tests for the cost of a program."""

import pytest

from cost.costs import cost_of_text, module
from hlo_lsp.cost.chips import chips
from hlo_lsp.hlo.vocabulary import vocabulary

_TPU = "module_0001.f.cl_1.after_optimizations.txt"
_ARRAY = "f32[8]{0:T(128)}"
_CALLED = f"\n%c {{\n  %p = {_ARRAY} parameter(0)\n  ROOT %r = {_ARRAY} OPCODE(OPERANDS)\n}}\n"


def test_libtpu_has_an_analysis_of_scheduled_modules() -> None:
    text = module(f"%p = {_ARRAY} parameter(0)", f"ROOT %n = {_ARRAY} negate(%p)")
    assert cost_of_text(text, path=_TPU).libtpu is not None
    assert cost_of_text(text.replace(" is_scheduled=true,", ""), path=_TPU).libtpu is None
    assert cost_of_text(text).libtpu is None


@pytest.mark.parametrize("operands", ["", "%p", "%p, %p"])
@pytest.mark.parametrize("opcode", sorted(vocabulary().opcodes))
def test_every_number_of_operands_has_a_cost(opcode: str, operands: str) -> None:
    called = _CALLED.replace("OPCODE", opcode).replace("OPERANDS", operands)
    text = called + module(
        f"%p = {_ARRAY} parameter(0)",
        f"%i = {_ARRAY} {opcode}({operands})",
        f"%l = {_ARRAY} fusion(%p), kind=kLoop, calls=%c",
        f"ROOT %f = {_ARRAY} fusion(%p), kind=kCustom, calls=%c",
    )
    program = cost_of_text(text, chips()["v5e"], _TPU)
    assert program.libtpu is not None
    assert min(program.xla.bytes_accessed, program.libtpu.bytes_accessed) >= 0


@pytest.mark.parametrize(("chip", "table"), [("v5e", 512), ("v5p", 32)])
def test_chip_determines_the_size_of_tuple_tables(chip: str, table: int) -> None:
    text = module(
        f"%p = {_ARRAY} parameter(0)",
        f"%s = ({_ARRAY}, {_ARRAY}, u32[]{{:S(2)}}) copy-start(%p)",
        f"ROOT %d = {_ARRAY} copy-done(%s)",
    )
    program = cost_of_text(text, chips()[chip], _TPU)
    assert program.libtpu_costs is not None
    done = program.libtpu_costs.module.instructions.first("d")
    assert done is not None
    assert program.libtpu_costs.of(done).bytes_accessed == table + 512


def test_unknown_tuple_tables_make_a_lower_bound() -> None:
    text = module(f"%p = {_ARRAY} parameter(0)", f"ROOT %t = ({_ARRAY}) tuple(%p)")
    assert not cost_of_text(text, path=_TPU).has_table_sizes
    assert cost_of_text(text, chips()["v5e"], _TPU).has_table_sizes
    without = module(f"%p = {_ARRAY} parameter(0)", f"ROOT %n = {_ARRAY} negate(%p)")
    assert cost_of_text(without, path=_TPU).has_table_sizes
