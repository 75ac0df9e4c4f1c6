"""The shapes of whole arrays beside those of one device."""

import pytest

from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import shape_text
from hlo_lsp.program.global_shapes import Cut, GlobalShape, global_shape

_BEFORE = """\
HloModule m, num_partitions=8

%body {
  %q = f32[64,32] parameter(0)
  ROOT %i = f32[64,32] sine(%q), metadata={op_name="sin"}
}

ENTRY %e {
  %x = f32[64,32] parameter(0), sharding={mesh['data'=2,'model'=4], [{'data'}, {}]}
  %y = f32[64,32] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  %t = f32[64,32] tanh(%x), metadata={op_name="tanh"}
  %s = f32[64,32] custom-call(%t), custom_call_target="Sharding", \
sharding={mesh['data'=2,'model'=4], [{'data'}, {'model'}]}
  %c = f32[64,32] cosine(%s), metadata={op_name="cos"}
  %d = f32[64,16] dot(%c, %y), metadata={op_name="dot"}
  ROOT %z = f32[32,32] dot(%c, %y), metadata={op_name="dot"}
}
"""
_AFTER = """\
HloModule m, is_scheduled=true, num_partitions=8

ENTRY %e {
  %x.1 = f32[32,32] parameter(0)
  %y.1 = f32[64,8] parameter(1)
  %a = f32[64,32] all-gather(%x.1), dimensions={0}, metadata={op_name="tanh"}
  %t.1 = f32[32,8] tanh(%x.1), metadata={op_name="tanh"}
  %c.1 = f32[32,8] cosine(%t.1), metadata={op_name="cos"}
  %i.1 = f32[32,8] sine(%t.1), metadata={op_name="sin"}
  %n.1 = f32[32,8] negate(%t.1), metadata={op_name="cos"}
  %b.1 = f32[64,32] cosine(%t.1), metadata={op_name="cos"}
  %o.1 = f32[5,8] cosine(%t.1), metadata={op_name="cos"}
  ROOT %d.1 = f32[32,8] convolution(%c.1, %y.1), metadata={op_name="dot"}
}
"""


def _dump() -> Compile:
    after = DumpFile.of_text(_AFTER, "m.cpu_after_optimizations.txt")
    before = DumpFile.of_text(_BEFORE, "m.before_optimizations.txt")
    return Compile([after], others=[before])


def _found(name: str) -> GlobalShape | None:
    dump = _dump()
    line = dump.instruction(name)
    assert line is not None
    return global_shape(dump, line)


@pytest.mark.parametrize(
    ("name", "shape", "cuts"),
    [
        ("x.1", "f32[64,32]", [Cut(0, 2, "data")]),
        ("y.1", "f32[64,32]", [Cut(1, 4, "model")]),
        ("t.1", "f32[64,32]", [Cut(0, 2, "data"), Cut(1, 4, "model")]),
        ("c.1", "f32[64,32]", [Cut(0, 2, None), Cut(1, 4, None)]),
    ],
)
def test_part_has_the_shape_of_the_whole_array(name: str, shape: str, cuts: list[Cut]) -> None:
    found = _found(name)
    assert found is not None
    assert (shape_text(found.shape), list(found.cuts)) == (shape, cuts)


@pytest.mark.parametrize(
    "name",
    [
        "a",  # a collective has the name of the operation that it serves
        "i.1",  # the operation is in another computation
        "n.1",  # another operation of the same name
        "b.1",  # not cut
        "o.1",  # no equal parts
        "d.1",  # two products, whose parts could have this shape
    ],
)
def test_uncertain_arrays_have_no_global_shape(name: str) -> None:
    assert _found(name) is None


_LOOP = """\
%condition {
  ROOT %go = pred[] constant(true)
}

%loop {
  %s.9 = (SHAPE) parameter(0)
  %g.9 = SHAPE get-tuple-element(%s.9), index=0
  %l.9 = SHAPE exponential(%g.9), metadata={op_name="body/exp"}
  ROOT %t.9 = (SHAPE) tuple(%l.9)
}

ENTRY %e {
  %z.9 = SHAPE constant({...})
  %i.9 = (SHAPE) tuple(%z.9)
  %w.9 = (SHAPE) while(%i.9), condition=%condition, body=%loop
"""


@pytest.mark.parametrize(("is_in_loop", "shape"), [(True, "f32[64,32]"), (False, None)])
def test_operation_in_as_many_loops_is_the_same(is_in_loop: bool, shape: str | None) -> None:
    loop = _LOOP.replace("SHAPE", "f32[64,32]")
    single = 'ENTRY %e {\n  %l.9 = f32[64,32] exponential(%x), metadata={op_name="body/exp"}\n'
    before = _BEFORE.replace("ENTRY %e {\n", loop if is_in_loop else single)
    after = _AFTER.replace("ENTRY %e {\n", _LOOP.replace("SHAPE", "f32[32,8]"))
    dump = Compile(
        [DumpFile.of_text(after, "m.cpu_after_optimizations.txt")],
        others=[DumpFile.of_text(before, "m.before_optimizations.txt")],
    )
    line = dump.instruction("l.9")
    assert line is not None
    found = global_shape(dump, line)
    assert (found and shape_text(found.shape)) == shape


def test_hover_has_the_global_shape() -> None:
    card = instruction_card(_dump(), "t.1")
    assert card is not None
    assert [fact.text for fact in card.facts if fact.label == "global shape"] == [
        "`f32[64,32]`, 8,192 B (8.0 KiB): "
        "dim 0 in 2 parts over `data`, dim 1 in 4 parts over `model`"
    ]
