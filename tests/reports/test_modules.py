"""The list of compiles below a folder."""

from dataclasses import replace

import pytest

from hlo_lsp.display.table import text_lines
from hlo_lsp.model.backend import Backend
from hlo_lsp.reports.module_names import first_difference
from hlo_lsp.reports.modules import (
    compiled_module,
    modules_content,
    sorted_by_name,
)
from reports.example import ASSIGNMENT, MODULE, RANGES, example

_ALIAS = MODULE.replace(
    "is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
)
_SHARDING = ("parameter(0)", "parameter(0), sharding={replicated}")
_SHARDED = MODULE.replace(*_SHARDING)
_EMPTY_MESH = MODULE.replace("parameter(0)", "parameter(0), sharding={mesh[], [{}, {}]}")
_HALF = MODULE.replace("%x = f32[256]", "%x = f32[128]")
_TWO = MODULE.replace("  %a =", "  %y = f32[2]{0} parameter(1)\n  %a =")


@pytest.mark.parametrize(
    ("module", "difference"),
    [
        (MODULE, None),
        (_HALF, "p['w']: f32[256] -> f32[128]"),
        (_EMPTY_MESH, None),
        (_EMPTY_MESH.replace("%x = f32[256]", "%x = f32[128]"), "p['w']: f32[256] -> f32[128]"),
        (_SHARDED, "p['w']: sharding none -> sharding {replicated}"),
        (_ALIAS, "p['w']: not donated -> donated"),
        (_TWO, "1 -> 2 parameters"),
    ],
)
def test_first_difference_of_parameters(module: str, difference: str | None) -> None:
    first, other = (compiled_module(example(text)) for text in (MODULE, module))
    assert first_difference(first, other) == difference


def test_shapes_of_all_parameters_differ_before_shardings() -> None:
    first, other = (
        compiled_module(example(text))
        for text in (_TWO, _TWO.replace("f32[2]", "f32[4]").replace(*_SHARDING))
    )
    assert first_difference(first, other) == "parameter 1: f32[2] -> f32[4]"


def test_platforms_differ_before_parameters() -> None:
    first = compiled_module(example(MODULE))
    other = replace(compiled_module(example(_HALF)), backend=Backend.CPU)
    assert first_difference(first, other) == f"{first.backend.value} -> CPU"


def test_largest_peak_comes_first() -> None:
    small = compiled_module(example(MODULE.replace("jit_f", "jit_g")))
    large = compiled_module(example(ASSIGNMENT, RANGES, MODULE))
    assert [group[0].name for group in sorted_by_name([small, large])] == ["jit_f", "jit_g"]


def test_compiles_of_one_name_are_listed_together() -> None:
    modules = [compiled_module(example(text)) for text in (MODULE, _HALF)]
    lines = list(text_lines(modules_content(sorted_by_name(modules))))
    assert lines[0].endswith("jit_f · 2 compiles")
    assert "5 instructions" in lines[1]
    assert lines[2].endswith(" · p['w']: f32[256] -> f32[128]")


def test_long_sizes_are_aligned() -> None:
    modules = [compiled_module(example(MODULE)) for _ in range(2)]
    wide = replace(modules[1], name="g", space="separate temp buffer", peak_bytes=1024)
    lines = list(text_lines(modules_content(sorted_by_name([modules[0], wide]))))
    assert lines[0].index("g · ") == lines[1].index("jit_f · ")


def test_compiles_of_small_module_share_a_line() -> None:
    large, small = (compiled_module(example(MODULE)) for _ in range(2))
    large = replace(large, name="jit_large", peak_bytes=1000)
    groups = sorted_by_name([large, *[replace(small, peak_bytes=9)] * 2])
    assert len(list(text_lines(modules_content(groups)))) == 2
    assert len(list(text_lines(modules_content(groups, with_small=True)))) == 4


def test_equal_compiles_of_several_hosts_share_a_line() -> None:
    module = compiled_module(example(MODULE))
    hosts = [replace(module, path=f"pod/host_{number}/m.txt") for number in range(3)]
    (line,) = text_lines(modules_content(sorted_by_name(hosts)))
    assert line.endswith("jit_f · 5 instructions · pod/host_0/m.txt · 3 hosts")
    other = replace(compiled_module(example(_HALF)), path="pod/host_3/m.txt")
    lines = list(text_lines(modules_content(sorted_by_name([*hosts, other]))))
    assert lines[0].endswith("jit_f · 4 compiles on 4 hosts")
    assert lines[1].endswith("pod/host_0/m.txt · 3 hosts")
    assert lines[2].endswith("pod/host_3/m.txt · p['w']: f32[256] -> f32[128]")
