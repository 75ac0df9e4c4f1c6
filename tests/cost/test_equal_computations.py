"""Computations with equal texts: which ones share a cost."""

from hlo_lsp.cost.equal_computations import EqualComputations
from hlo_lsp.model.dump_file import DumpFile

_MODULE = """HloModule m

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%first (p: f32[8]) -> f32[] {
  %p = f32[8]{0} parameter(0), metadata={op_name="w[\\"x\\"]"}
  %zero = f32[] constant(0)
  ROOT %sum = f32[] reduce(%p, %zero), dimensions={0}, to_apply=%add, metadata={op_name="a"}
}

%second (p.1: f32[8]) -> f32[] {
  %p.1 = f32[8]{0} parameter(0)
  %zero.1 = f32[] constant(0)
  ROOT %sum.1 = f32[] reduce(%p.1, %zero.1), dimensions={0}, to_apply=@CALLED@
}

ENTRY %main (x: f32[8]) -> f32[] {
  %x = f32[8]{0} parameter(0)
  %one = f32[] fusion(%x), kind=kLoop, calls=%first
  ROOT %two = f32[] fusion(%x), kind=kLoop, calls=%second
}
"""


def _shares(*replaced: tuple[str, str]) -> bool:
    text = _MODULE
    for old, new in (*replaced, ("@CALLED@", "%add")):
        text = text.replace(old, new)
    module = DumpFile.of_text(text).module
    first, second = module.named("first"), module.named("second")
    assert first is not None
    assert second is not None
    equal = EqualComputations(module)
    return equal.first(first) is equal.first(second)


def test_names_and_metadata_make_no_difference() -> None:
    assert _shares()


def test_other_shapes_differ() -> None:
    assert not _shares(("%p.1 = f32[8]", "%p.1 = f32[9]"))


def test_order_of_operands_differs() -> None:
    assert not _shares(("reduce(%p.1, %zero.1)", "reduce(%zero.1, %p.1)"))


def test_callees_of_other_cost_differ() -> None:
    larger = "%larger (a: f32[2]) -> f32[2] {\n  ROOT %a = f32[2]{0} parameter(0)\n}\n\nENTRY"
    assert not _shares(("@CALLED@", "%larger"), ("ENTRY", larger))


def test_computation_that_calls_itself_ends() -> None:
    assert not _shares(("@CALLED@", "%second"))


def test_names_in_strings_count() -> None:
    calls = (("to_apply=%add,", 'to_apply=%add, frontend_attributes={k="%a"},'),)
    other = ("to_apply=@CALLED@", 'to_apply=%add, frontend_attributes={k="%b"}')
    assert not _shares(*calls, other)
