"""The texts of two modules for comparison by line."""

import re

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.compared_text import ComparedText, compared_texts
from hlo_lsp.text.document import Document

MODULE = """\
HloModule jit_f, is_scheduled=true

%fused_computation.1 (param_0.1: f32[8]) -> f32[8] {
  %param_0.1 = f32[8]{0} parameter(0)
  ROOT %tanh.1 = f32[8]{0} tanh(%param_0.1)
}

%fused_computation.2 (param_0.2: f32[8]) -> f32[8] {
  %param_0.2 = f32[8]{0} parameter(0)
  ROOT %sine.2 = f32[8]{0} sine(%param_0.2)
}

ENTRY %main.3 (x.1: f32[8]) -> f32[8] {
  %x.1 = f32[8]{0} parameter(0), metadata={op_name="x"}
  %fusion.1 = f32[8]{0} fusion(%x.1), kind=kLoop, calls=%fused_computation.1, metadata={op_name="t"}
  %fusion.2 = f32[8]{0} fusion(%fusion.1), kind=kLoop, calls=%fused_computation.2
  ROOT %add.4 = f32[8]{0} add(%fusion.2, %x.1), backend_config={"a":"%b"}
}
"""


def texts(before: str, after: str) -> tuple[ComparedText, ComparedText]:
    files = [DumpFile(f"file:///{n}.hlo", None, Document(t)) for n, t in enumerate((before, after))]
    for file in files:
        file.refresh()
    first, second = compared_texts(files[0].module, files[1].module)
    return first, second


def changed(before: str, after: str) -> list[tuple[str, str]]:
    first, second = texts(before, after)
    pairs = zip(first.lines, second.lines, strict=True)
    return [(one.strip(), other.strip()) for one, other in pairs if one != other]


def renumbered(text: str) -> str:
    return re.sub(r"\.(\d)\b", lambda match: f".{70 - int(match[1])}", text)


def test_other_numbers_are_no_difference() -> None:
    assert changed(MODULE, renumbered(MODULE)) == []


def test_names_without_percent_signs_compare_equal() -> None:
    bare = renumbered(MODULE).replace("%", "")
    assert changed(MODULE, bare) == []


def test_exchanged_computations_are_no_difference() -> None:
    first, rest = MODULE.split("%fused_computation.1 (", 1)
    one, _, last = rest.partition("%fused_computation.2 (")
    other, entry, tail = last.partition("ENTRY")
    swapped = f"{first}%fused_computation.2 ({other}%fused_computation.1 ({one}{entry}{tail}"
    assert changed(MODULE, swapped) == []


def test_metadata_and_configuration_are_left_out() -> None:
    other = MODULE.replace('"t"', '"u"').replace('"a":"%b"', '"a":"%c"')
    assert changed(MODULE, other) == []


def test_changed_instruction_of_fusion_is_one_line() -> None:
    other = renumbered(MODULE).replace(" sine(", " cosine(")
    expected = (
        "ROOT sine.2 = f32[8]{0} sine(param_0.2)",
        "ROOT sine.2 = f32[8]{0} cosine(param_0.2)",
    )
    assert changed(MODULE, other) == [expected]


def test_new_instruction_does_not_take_a_used_name() -> None:
    other = MODULE.replace(
        "  ROOT %add.4", "  %fusion.9 = f32[8]{0} negate(%x.1)\n  ROOT %add.4"
    ).replace("%fusion.2", "%fusion.8")
    other = other.replace("%fusion.9", "%fusion.2")
    _, second = texts(MODULE, other)
    assert "  fusion.2.new = f32[8]{0} negate(x.1)" in second.lines


@pytest.mark.parametrize("side", [0, 1])
def test_places_are_lines_of_the_module(side: int) -> None:
    text = (MODULE, renumbered(MODULE))[side]
    found = texts(MODULE, renumbered(MODULE))[side]
    lines = text.split("\n")
    for line, place in zip(found.lines, found.places, strict=True):
        if " = " in line:
            assert lines[place].split(" = ")[1].startswith(line.split(" = ")[1][:6])
