"""The titles of compiles of one name."""

from dataclasses import replace

from hlo_lsp.reports.module_names import (
    ModuleIdentity,
    Parameter,
    distinct_titles,
    module_identity,
)
from reports.example import STEM, example

_FIRST = replace(module_identity(example()), path=f"a/{STEM}.txt")


def _with_shape(number: str, shape: str) -> ModuleIdentity:
    return replace(
        _FIRST,
        path=f"a/module_{number}.jit_f.cl_12.after_optimizations.txt",
        parameters=(Parameter("x", shape, "", False),),
    )


def test_lone_module_keeps_its_name() -> None:
    assert distinct_titles([_FIRST]) == ["jit_f"]


def test_number_and_parameter_tell_compiles_apart() -> None:
    others = [_with_shape("0007", "f32[8]"), _with_shape("0009", "f32[16]")]
    assert distinct_titles(others) == [
        "jit_f (module_0007, x: f32[8])",
        "jit_f (module_0009, x: f32[16])",
    ]


def test_path_tells_equal_compiles_of_folders_apart() -> None:
    other = replace(_FIRST, path=f"b/{STEM}.txt")
    assert distinct_titles([_FIRST, other]) == [
        f"jit_f (a/{STEM}.txt)",
        f"jit_f (b/{STEM}.txt)",
    ]
