"""Tests for computations of equal form, of which only the first one is checked and has a cost."""

import re

import pytest

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.rule import Rule
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.computation_forms import ComputationForms

_RULES = [rule for rule in CATALOGUE if isinstance(rule, Rule)]
_LAYER = """\
%add.N (a.N: f32[], b.N: f32[]) -> f32[] {
  %a.N = f32[] parameter(0)
  %b.N = f32[] parameter(1)
  ROOT %sum.N = f32[] add(%a.N, %b.N), metadata={op_name="add" stack_frame_id=1}
}

%layer.N (x.N: f32[8], y.N: bf16[8]) -> (f32[], pred[8]) {
  %x.N = f32[8]{0} parameter(0)
  %y.N = bf16[8]{0} parameter(1)
  %z.N = f32[] constant(0)
  %c.N = f32[8]{0} convert(%y.N)
  %l.N = pred[8]{0} compare(%x.N, %c.N), direction=LT
  %r.N = f32[] reduce(%x.N, %z.N), dimensions={0}, to_apply=%add.N
  ROOT %t.N = (f32[], pred[8]{0}) tuple(%r.N, %l.N)
}

"""
_CALL = "  %f.N = (f32[], pred[8]{0}) fusion(%x, %y), kind=kLoop, calls=%layer.N\n"
_NUMBERS = "123"
_LAYERS = "".join(_LAYER.replace("N", number) for number in _NUMBERS)
_MODULE = f"""\
HloModule m

FileNames
1 "f.py"

FunctionNames
1 "f"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=3}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}


{_LAYERS}ENTRY %main (x: f32[8], y: bf16[8]) -> f32[] {{
  %x = f32[8]{{0}} parameter(0)
  %y = bf16[8]{{0}} parameter(1)
{"".join(_CALL.replace("N", number) for number in _NUMBERS)}\
  ROOT %e = f32[] get-tuple-element(%f.3), index=0
}}
"""
_WORD = re.compile(r"%?[\w.\-]+(?:\[\d*\])?|[{}(,]")
_REPLACEMENTS = ("", "%x.2", "%layer.3", "f32[9]", "}", "x.2")


def _forms(text: str) -> dict[str, int | None]:
    file = DumpFile.of_text(text, "m.txt")
    forms = ComputationForms(file.module)
    return {head.name: forms.of(head) for head in file.module.all_computations()}


def test_computations_that_differ_in_names_have_one_form() -> None:
    forms = _forms(_MODULE)
    assert forms["add.1"] == forms["add.2"] is not None
    assert forms["layer.1"] == forms["layer.2"] is not None
    assert forms["layer.1"] != forms["add.1"]
    assert forms["main"] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("compare(%x.2, %c.2)", "compare(%c.2, %x.2)", id="order of operands"),
        pytest.param("constant(0)", "constant(1)", id="constant"),
        pytest.param("y.2: bf16[8]", "y.2: bf16[9]", id="signature"),
        pytest.param("to_apply=%add.2", "to_apply=%layer.1", id="callee of another form"),
        pytest.param("%r.2 = f32[] reduce", "%l.2 = f32[] reduce", id="repeated name"),
        pytest.param("direction=LT", "direction=GT", id="attribute"),
    ],
)
def test_other_computations_have_other_forms(old: str, new: str) -> None:
    start = _MODULE.index("%layer.2 (")
    forms = _forms(_MODULE[:start] + _MODULE[start:].replace(old, new, 1))
    assert None is not forms["layer.2"] != forms["layer.1"] == forms["layer.3"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("to_apply=%add.2", "to_apply=%nobody", id="undefined callee"),
        pytest.param("to_apply=%add.2", "to_apply=%add.3", id="callee below"),
        pytest.param("to_apply=%add.2", "to_apply=%layer.2", id="recursion"),
        pytest.param("%layer.3 (", "%layer.2 (", id="repeated computation"),
        pytest.param("direction=LT", "direction=LT, control-predecessors={%x.2}", id="predecessor"),
        pytest.param("%c.2 =", "c.2 :=", id="broken line"),
        pytest.param("(%r.2, %l.2)\n}", "(%r.2, %l.2)\n", id="no brace"),
    ],
)
def test_computation_that_refers_to_other_lines_has_no_form(old: str, new: str) -> None:
    start = _MODULE.index("%layer.2 (")
    forms = _forms(_MODULE[:start] + _MODULE[start:].replace(old, new, 1))
    assert forms["layer.2"] is None


def test_metadata_can_be_ignored() -> None:
    text = _MODULE.replace('"add" stack_frame_id=1}', '"other \\"{%add\\"" stack_frame_id=1}', 1)
    assert _forms(text)["layer.1"] != _forms(text)["layer.2"]
    module = DumpFile.of_text(text).module
    forms = ComputationForms(module, ignores_metadata=True)
    first, second, main = map(module.named, ("layer.1", "layer.2", "main"))
    assert first is not None
    assert second is not None
    assert main is not None
    assert forms.first(first) is forms.first(second) is first
    assert forms.first(main) is main


@pytest.mark.parametrize("replacement", _REPLACEMENTS)
def test_findings_do_not_depend_on_forms(replacement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start, end = _MODULE.index("%add.2 ("), _MODULE.index("%add.3 (")
    words = [*_WORD.finditer(_MODULE, start, end), *_WORD.finditer(_MODULE, _MODULE.index("%f.2"))]
    texts = [_MODULE[: word.start()] + replacement + _MODULE[word.end() :] for word in words]
    found = [_findings(text) for text in texts]
    monkeypatch.setattr(ComputationForms, "of", lambda *_: None)
    assert found == [_findings(text) for text in texts]
    assert sum(map(bool, found)) > len(texts) / 10


def test_operand_without_percent_sign_is_found_in_repeated_computation() -> None:
    layers = "".join(
        f"%g.{n} (p.{n}: f32[]) -> f32[] {{\n  %p.{n} = f32[] parameter(0)\n"
        f"  ROOT %n.{n} = f32[] negate(p.1)\n}}\n\n"
        for n in _NUMBERS
    )
    text = f"HloModule m\n\n{layers}ENTRY %e {{\n  ROOT %c = f32[] constant(0)\n}}\n"
    assert [code for code, *_ in _findings(text)] == ["undefined-instruction"] * 2


def _findings(text: str) -> list[tuple[object, ...]]:
    file = DumpFile.of_text(text, "m.after_optimizations.txt")
    return [
        (
            found.code,
            found.message,
            (found.place.line, found.place.start, found.place.end),
            [(other.place.line, other.place.start, other.message) for other in found.related],
        )
        for found in check(Compile([file]), file, _RULES)
    ]
