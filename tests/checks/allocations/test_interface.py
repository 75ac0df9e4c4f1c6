"""Tests for ``parameter-mismatch`` and ``output-mismatch``."""

from pathlib import Path

import pytest

from checks.damage import findings, found_in, related, replace_once, reports
from hlo_lsp.checks.allocations.interface import interface_origins
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

HEAD_1 = "allocation 1: size 32768, parameter {}, shape |{}| at ShapeIndex {}:"


@pytest.mark.parametrize(
    ("fields", "marked", "message"),
    [
        (("2", "f32[64,64]", "{}"), "parameter »2«",
         "parameter 2, but `Arg_1.2{}` is parameter 1"),
        (("1", "f32[64,65]", "{}"), "|»f32[64,65]«|",
         "shape f32[64,65], but `Arg_1.2{}` has the shape f32[64,64]"),
        (("1", "f32[64,64]", "{0}"), "ShapeIndex »{0}«",
         "ShapeIndex {0}, but `Arg_1.2{}` is at {}"),
    ],
)  # fmt: skip
def test_wrong_field_is_reported(
    sample: str, fields: tuple[str, str, str], marked: str, message: str
) -> None:
    text = replace_once(sample, HEAD_1.format("1", "f32[64,64]", "{}"), HEAD_1.format(*fields))
    (finding,) = findings(text)
    assert finding.code == "parameter-mismatch"
    assert finding.message == f"allocation 1 names {message}"
    assert marked in reports(text)[0][1]
    assert related(finding)[0][0].startswith("5:  value: <»69« Arg_1.2")


def test_shape_may_be_that_of_whole_parameter() -> None:
    text = (
        "BufferAssignment:\n"
        "allocation 0: size 8, parameter 0, shape |(f32[2], f32[3])| at ShapeIndex {0}:\n"
        " value: <1 p{0} @0> (size=8,offset=0): f32[2]{0}\n"
    )
    assert reports(text) == []
    text = replace_once(text, "|(f32[2], f32[3])| at ShapeIndex {0}", "|f32[3]| at ShapeIndex {0}")
    assert [code for code, _, _ in reports(text)] == ["parameter-mismatch"]


def test_parameter_in_two_allocations_is_reported(sample: str) -> None:
    text = sample[: sample.index("\nTotal bytes used")]
    text = replace_once(text, "parameter 1, shape |f32[64,64]|", "parameter 2, shape |f32[64,64]|")
    assert reports(text) == [
        (
            "parameter-mismatch",
            "6: allocation 2: size 16384, parameter »2«, shape |f32[64,32]| at ShapeIndex {}:",
            "parameter 2 at ShapeIndex {} is also in allocation 1",
        )
    ]


def _output(folder: Path, old: str, new: str) -> list[str]:
    """Return the findings after a replacement in the line of the output allocation."""
    (path,) = folder.glob("*-buffer-assignment.txt")
    text = path.read_text()
    line = next(line for line in text.splitlines() if "output shape is" in line)
    path.write_text(replace_once(text, line, line.replace(old.format(line.split("|")[-2]), new)))
    return [one.message for _, one in found_in(folder) if one.code == "output-mismatch"]


def test_shape_of_output_is_reported(compiled: Path) -> None:
    (message,) = _output(compiled, "output shape is |{}|", "output shape is |f32[7]|")
    assert message.startswith("output shape is f32[7], but the program returns ")


def test_allocation_of_output_without_name_is_reported(compiled: Path) -> None:
    (message,) = _output(compiled, ", output shape is |{}|", "")
    assert message.endswith(" holds the output, but does not name it")


def test_output_in_another_allocation_is_reported(compiled: Path) -> None:
    (path,) = compiled.glob("*-buffer-assignment.txt")
    text = path.read_text()
    line = next(line for line in text.splitlines() if "preallocated-temp" in line)
    new = line.replace(", preallocated-temp", ", output shape is |f32[7]|, preallocated-temp")
    path.write_text(replace_once(text, line, new))
    (message,) = [one.message for _, one in found_in(compiled) if one.code == "output-mismatch"]
    assert " does not hold the output: allocation " in message


_MODULE = """\
HloModule m, is_scheduled=true

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} negate(%p)
}
"""
_VALUES = """\
Total bytes used: 32 (32B)

Used values:
<1 r @0>
 positions:
  r
 uses:
 from instruction: %r = f32[8]{0} negate(%p)
"""


def test_returned_values_follow_edits_of_positions() -> None:
    module, values = DumpFile.of_text(_MODULE), DumpFile.of_text(_VALUES)
    dump = Compile([values, module])
    assert interface_origins(dump).returned == {1: True}
    row = values.lines.index("  r")
    values.changed(values.document.edit((row, 2), (row, 3), "q"))
    values.refresh()
    assert interface_origins(dump).returned is None
