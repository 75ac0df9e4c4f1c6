"""Tests for the records that are not checked again after an edit."""

import pytest

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.rule import Rule
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_RULES = [rule for rule in CATALOGUE if isinstance(rule, Rule)]
_MODULE = """\
HloModule jit_f, entry_computation_layout={(f32[8]{0}, s32[])->f32[8]{0}}

FileNames
1 "f.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b), metadata={op_name="add" stack_frame_id=2}
}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %y = f32[8]{0} negate(%x), control-predecessors={%i}
  ROOT %t = (s32[], f32[8]{0}) tuple(%i, %y)
}

%cond (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant(4)
  ROOT %less = pred[] compare(%j, %n), direction=LT
}

ENTRY %main (x: f32[8], i: s32[]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %zero = f32[] constant(0)
  %t = (s32[], f32[8]{0}) tuple(%i, %x)
  %w = (s32[], f32[8]{0}) while(%t), condition=%cond, body=%body
  %y = f32[8]{0} get-tuple-element(%w), index=1
  %r = f32[] reduce(%y, %zero), dimensions={0}, to_apply=%add
  %d = f32[8]{0} broadcast(%r), dimensions={}
  ROOT %m = f32[8]{0} multiply(%d, %y), metadata={op_name="mul" stack_frame_id=1}
}
"""

_CONSTANT = "  %n = s32[] constant(4)\n"
_UNUSED = "".join(f"  %unused.{n} = f32[] constant(0)\n" for n in range(4))
_NAMES = "".join(f"  %c.{n} = f32[8]{{0}} parameter({n})\n" for n in range(25))
_MANY_NAMES = (
    f"HloModule m\n\nENTRY %main {{\n{_NAMES}{_UNUSED}  ROOT %u = f32[8]{{0}} negate(%c.3)\n}}\n"
)
_CALLEES = "".join(f"%f.{n} {{\n  ROOT %p = f32[8]{{0}} parameter(0)\n}}\n\n" for n in range(25))
_MANY_CALLEES = f"""\
HloModule m

{_CALLEES}ENTRY %e {{
  %x = f32[8]{{0}} parameter(0)
{_UNUSED}  ROOT %u = f32[8]{{0}} call(%x), to_apply=%f.3
}}
"""
_FRAGMENT = """\




%only (i: s32[]) -> f32[] {
  %i = s32[] parameter(0)
  ROOT %none = f32[] call(%i), to_apply=%nobody
}
"""


@pytest.mark.parametrize(
    ("text", "change"),
    [
        pytest.param(
            _MODULE.replace("stack_frame_id=2}\n", "stack_frame_id=2}\n\n\n\n"),
            ("stack_frame_id=2}\n\n", "stack_frame_id=2}\n}\n"),
            id="brace",
        ),
        pytest.param(_MODULE.replace("%cond (", "%add2 ("), ("%body (", "%add2 ("), id="twin"),
        pytest.param(
            _MODULE.replace(_CONSTANT, "  %n = )\n"),
            ("  %n = )", "  %k = )"),
            id="broken name",
        ),
        pytest.param(
            _MODULE.replace(_CONSTANT, "").replace("  %j", "  ???\n  %j"),
            ("  ???\n", ""),
            id="broken line",
        ),
        pytest.param(
            _MODULE.replace("stack_frame_id=1}\n", "stack_frame_id=2}\n"),
            ("2 {file_location_id=1 parent_frame_id=2}\n", ""),
            id="stack frame",
        ),
        pytest.param(
            _MODULE.replace("ENTRY %main", "garbage (\n\nENTRY %main").replace(
                "  %zero", "  %none = f32[] call(%i), to_apply=%nobody\n  %zero"
            ),
            ("garbage (\n", ""),
            id="broken head",
        ),
        pytest.param(_FRAGMENT, ("\n\n", "HloModule m\n\n"), id="fragment"),
        pytest.param(
            _MODULE.replace("  %zero", "  %u = f32[] negate(%nobody)\n  %zero").replace(
                "}\n\nENTRY", "}\n\n\n\nENTRY"
            ),
            ("LT\n}\n", "LT\n}\n%new (z: s32[]) -> s32[] {\n  %z = s32[] parameter(0)\n"),
            id="open computation above",
        ),
        pytest.param(_MODULE, ("f32[8]{0}, s32[])->", "f32[9]{0}, s32[])->"), id="header"),
        pytest.param(_MODULE, ("%q = (s32[], f32[8]", "%q = (s32[], f32[9]"), id="callee"),
        pytest.param(_MODULE, ("%n = s32[]", "%m = s32[]"), id="name"),
        pytest.param(
            _MODULE.replace(_CONSTANT, "  ???\n").replace("  ???\n", "  ???\n" + _UNUSED),
            ("  ???\n", ""),
            id="broken line far above",
        ),
        pytest.param(
            _MODULE.replace("  ROOT %t", _UNUSED + "  ROOT %t").replace("%y)\n}", "%y)"),
            (
                "  %x = f32",
                "%new (i: f32[9]) -> f32[9] {\n  %i = f32[9]{0} parameter(0)\n  %x = f32",
            ),
            id="moved members",
        ),
        pytest.param(
            _MODULE.replace("%cond (", "garbage (\n\n\n\n}\n\n%cond (") + "garbage (\n",
            ("garbage (\n", ""),
            id="broken head above a brace",
        ),
        pytest.param(
            _MODULE.replace("%add (", "%one { ROOT %k = s32[] parameter(0) }\n\n%add (").replace(
                "}\n\n%cond", "\n\n\n%one { ROOT %k = s32[] negate(%z) }\n\n%cond"
            ),
            ("%y)\n", "%y)\n}\n"),
            id="body in a line after an open computation",
        ),
        pytest.param(
            _MODULE
            + "\n%one { %k = f32[] constant(1) ROOT %l = f32[] call(%k, %k), to_apply=%add }\n",
            ("%b = f32[]", "%b = f32[9]"),
            id="callee of a body in a line",
        ),
        pytest.param(_MANY_NAMES, (_NAMES, _NAMES.replace("f32[8]", "f32[9]")), id="many names"),
        pytest.param(_MANY_CALLEES, (_CALLEES, _CALLEES.replace("8", "9")), id="many callees"),
    ],
)
def test_unchanged_record_is_checked_again(text: str, change: tuple[str, str]) -> None:
    file = DumpFile.of_text(text, "m.after_optimizations.txt")
    before = _findings(file)
    start = text.index(change[0])
    first, last = (_position(text, offset) for offset in (start, start + len(change[0])))
    file.changed(file.document.edit(first, last, change[1]))
    file.refresh()
    fresh = DumpFile.of_text(text.replace(*change, 1), "m.after_optimizations.txt")
    assert file.lines == fresh.lines
    assert before != _findings(file) == _findings(fresh)


def _position(text: str, offset: int) -> tuple[int, int]:
    lines = text[:offset].split("\n")
    return len(lines) - 1, len(lines[-1])


def _findings(file: DumpFile) -> list[tuple[object, ...]]:
    return [
        (
            found.code,
            found.message,
            (found.place.line, found.place.start, found.place.end),
            [(other.place.line, other.place.start, other.message) for other in found.related],
        )
        for found in check(Compile([file]), file, _RULES)
    ]
