"""Names of the arguments of a program, also if it gets them as one tuple."""

import pytest

from hlo_lsp.memory.donated_arguments import donated_arguments
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.argument_names import tupled_argument_names
from hlo_lsp.program.data_origin import origin_of

_TUPLED = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {1}, may-alias) }

ENTRY %main (t: (f32[4], bf16[2,8])) -> bf16[2,8] {
  %t = (f32[4]{0}, bf16[2,8]{1,0}) parameter(0)
  ROOT %b = bf16[2,8]{1,0} get-tuple-element(%t), index=1
}
"""
_ORIGINAL = """\
HloModule jit_f

ENTRY %main (a: f32[4], b: bf16[8,8]) -> bf16[8,8] {
  %a = f32[4]{0} parameter(0), metadata={op_name="p[\\'a\\']"}
  ROOT %b = bf16[8,8]{1,0} parameter(1), metadata={op_name="p[\\'b\\']"}
}
"""


def _dump(compiled: str = _TUPLED, *originals: str) -> Compile:
    stem = "module_0001.jit_f"
    others = [DumpFile.of_text(text, f"{stem}.before_optimizations.txt") for text in originals]
    return Compile([DumpFile.of_text(compiled, f"{stem}.after_optimizations.txt")], others=others)


def test_elements_have_the_names_of_parameters_before_optimizations() -> None:
    assert tupled_argument_names(_dump(_TUPLED, _ORIGINAL)) == {(0,): "p['a']", (1,): "p['b']"}


@pytest.mark.parametrize(
    "dump",
    [
        _dump(_TUPLED),
        _dump(_TUPLED, _ORIGINAL.replace("bf16", "f32")),
        _dump(_TUPLED, _ORIGINAL.replace("parameter(1)", "constant({...})")),
        _dump(_ORIGINAL, _ORIGINAL),
        _dump(_TUPLED.replace("parameter(0)", "parameter(1)"), _ORIGINAL),
    ],
    ids=["no text", "other type", "other count", "no tuple", "no parameter 0"],
)
def test_other_parameters_have_no_names(dump: Compile) -> None:
    assert tupled_argument_names(dump) == {}


def test_origin_and_donation_have_the_names() -> None:
    dump = _dump(_TUPLED, _ORIGINAL)
    origin = origin_of(dump, "b", None)
    assert origin is not None
    assert origin.argument == "p['b']"
    assert [(one.name, one.is_donated) for one in donated_arguments(dump) or ()] == [
        ("p['b']", True),
        ("p['a']", False),
    ]
