"""Tests for handwritten forms of module text that XLA reads and never prints."""

from dataclasses import replace

import pytest

from hlo_lsp.model.dump_file import DumpFile
from oracles.module_comparison import assert_same_module
from oracles.xla_parser import XlaComputation, parse_with_xla

FORMS = {
    "names without a percent sign, shapes without a layout": """\
HloModule m
ENTRY main {
  p = f32[4,8] parameter(0)
  ROOT a = f32[4,8] add(p, p)
}
""",
    "neither ENTRY nor ROOT": """\
HloModule m

one {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
}

two {
  q = f32[4]{0} parameter(0)
  b = f32[4]{0} negate(q)
}
""",
    "a root that is not the last": """\
HloModule m
ENTRY main {
  p = f32[4]{0} parameter(0)
  ROOT a = f32[4]{0} negate(p)
  b = f32[4]{0} negate(p)
}
""",
    "operands with shapes": """\
HloModule m
ENTRY %main (p: (f32[4], s32[])) -> f32[4] {
  %p = (f32[4]{0}, s32[]) parameter(0)
  %e = f32[4]{0} get-tuple-element((f32[4]{0}, s32[]) %p), index=0
  ROOT %a = f32[4]{0} add(f32[4]{0} %e, f32[4]{0} %e)
}
""",
    "results without shapes": """\
HloModule m
ENTRY main {
  p = f32[4]{0} parameter(0)
  ROOT a = add(p, p)
}
""",
    "statements over several lines, and comments": """\
HloModule m
ENTRY %main (p: f32[4])
    -> f32[4] {
  %p = f32[4]{0} parameter(0) // b = add(p)
  /* a comment
     %c = f32[] negate(%d) */
  ROOT %a = f32[4]{0}  add(%p, // one
        %p), /* two */
    metadata={op_name="a, b = {c}(%d)"}
}
""",
    "a computation on one line": """\
HloModule m
ENTRY %main { %p = f32[4]{0} parameter(0) ROOT %a = f32[4]{0} add(%p, %p) }
""",
    "both ways to name branches": """\
HloModule m
t { a = f32[] parameter(0) ROOT n = f32[] negate(a) }
f { ROOT b = f32[] parameter(0) }
t.1 { c = f32[] parameter(0) ROOT o = f32[] negate(c) }
f.1 { ROOT d = f32[] parameter(0) }
ENTRY main {
  p = pred[] parameter(0)
  i = s32[] parameter(1)
  x = f32[] parameter(2)
  y = f32[] conditional(p, x, x), true_computation=t, false_computation=f
  ROOT z = f32[] conditional(i, y, x), branch_computations={t.1, f.1}
}
""",
    "line breaks wherever there is a blank": """\
HloModule m

ENTRY %main {
  %p = f32[4]{0}
    parameter(0)
  %q =
    f32[4]{0}
    negate(%p)
  %t = (f32[4]{0},
    f32[4]{0})
    tuple(%p
    ,%q)
  %g
    = f32[4]{0} get-tuple-element(%t), index=0
  ROOT
   %r =
   f32[4]{0} add(%g,
     %q)
}
""",
    "a comment after the header": """\
HloModule m // the module
ENTRY main { ROOT p = f32[] parameter(0) }
""",
    "shapes with more blanks, or fewer": """\
HloModule m
ENTRY main {
  p = f32[4, 8]{1, 0} parameter(0)
  q = f32[4,8] parameter(1)
  a = (f32[4,8],f32[4,8]) tuple(p, q)
  b = ( f32[4,8] {1,0} , f32 [4,8]{1,0}/* two */ ) tuple(p, q)
  ROOT c = ((f32[4,8],f32[4,8]),/*index=1*/(f32[4,8], f32[4,8])) tuple(a, b)
}
""",
    "literals with names and brackets inside": """\
HloModule m
ENTRY %main {
  %a = f32[2,2]{1,0} constant({ {1, 2}, {3, -inf} })
  %b = (s32[], pred[2]{0}) constant((1, {true, false}))
  %e = f32[20]{0} constant({...})
  ROOT %t = (f32[2,2]{1,0}, (s32[], pred[2]{0}), f32[20]{0}) tuple(%a, %b, %e)
}
""",
}


@pytest.mark.parametrize("form", FORMS)
def test_accepted_forms_match_xla_parser(form: str) -> None:
    text = FORMS[form]
    assert_same_module(DumpFile.of_text(text).module, parse_with_xla(text), form)


def test_short_async_form_matches_xla_parser() -> None:
    text = """\
HloModule m, is_scheduled=true
ENTRY %main {
  %p = f32[4]{0} parameter(0)
  %s = ((f32[4]{0}), f32[4]{0}, s32[]) negate-start(%p)
  %u = ((f32[4]{0}), f32[4]{0}, s32[]) negate-update(%s)
  ROOT %d = f32[4]{0} negate-done(%u)
}
"""
    theirs = parse_with_xla(text)
    wrapped, main = theirs.computations  # XLA names the computation that the text omits.
    # The comparison reads the names of computations in the text, which has none.
    called = tuple(replace(each, called=()) for each in main.instructions)
    names = {
        each.name: f"s.calls.{'negate' if each.is_root else 'param_0'}"
        for each in wrapped.instructions
    }
    members = tuple(
        replace(each, name=names[each.name], operands=tuple(names[one] for one in each.operands))
        for each in wrapped.instructions
    )
    order = None if wrapped.schedule is None else tuple(names[one] for one in wrapped.schedule)
    expected = replace(
        theirs,
        computations=(
            replace(main, instructions=called),
            XlaComputation("s.calls", members, order),
        ),
    )
    assert_same_module(DumpFile.of_text(text).module, expected, "short form")


def test_inline_computations_on_any_line_and_in_lists() -> None:
    text = """\
HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  c = f32[4] custom-call(x), custom_call_target="T", called_computations={
  {
    a = f32[] parameter(0)
    ROOT b = f32[] negate(a)
  },
  { c = f32[] parameter(0) ROOT d = f32[] add(c, c) }
  }
  f = f32[4] fusion(x), kind=kLoop, calls=
  {
    t = f32[4] parameter(0)
    ROOT n = f32[4] fusion(t), kind=kLoop, calls={
      i = f32[4] parameter(0)
      ROOT k = f32[4] negate(i)
    }
  }
  ROOT r = f32[4] add(c, f)
}
"""
    theirs = parse_with_xla(text)
    ours = DumpFile.of_text(text).module
    names = {
        computation.name: [member.name for member in ours.members(computation)]
        for computation in ours.all_computations()
    }
    assert names == {
        "main": ["x", "c", "f", "r"],
        "c.called_computations.0": ["a", "b"],
        "c.called_computations.1": ["c", "d"],
        "f.calls": ["t", "n"],
        "n.calls": ["i", "k"],
    }
    assert sorted(map(len, names.values())) == sorted(
        len(computation.instructions) for computation in theirs.computations
    )
    assert not ours.damaged
