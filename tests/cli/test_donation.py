"""``hlo-lsp donation``."""

import json
from pathlib import Path

from cli.command import run

_MODULE = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}) }, buffer_donor={ (1, {}) }

ENTRY %main (x: f32[8], y: s32[8], z: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = s32[8]{0} parameter(1)
  %z = f32[8]{0} parameter(2)
  %a = f32[8]{0} negate(%x)
  %b = f32[8]{0} negate(%z)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%a, %b)
}
"""


def _path(folder: Path) -> Path:
    path = folder / "module_0001.jit_f.cpu_after_optimizations.txt"
    path.write_text(_MODULE, "utf-8")
    return path


def test_arguments_are_listed_by_donation(tmp_path: Path) -> None:
    assert run("summary", "--donation", _path(tmp_path)).out == (
        "jit_f: 3 arguments, 96 B\n"
        "donated, used by an output: 1 argument, 32 B\n"
        "  32 B  parameter 0  f32[8]{0}  to output {0}\n"
        "usable, but not donated: 1 argument, 32 B\n"
        "  32 B  parameter 2  f32[8]{0}  fits output {1}\n"
        "donated, but not used: 1 argument, 32 B\n"
        "  32 B  parameter 1  s32[8]{0}  no output has its type and dimensions\n"
    )


def test_json_has_the_totals(tmp_path: Path) -> None:
    found = run("summary", "--donation", _path(tmp_path), "--format", "json")
    (module,) = found.json["modules"]
    assert module["totals"] == {
        "arguments": 96,
        "donated": 32,
        "usable": 32,
        "unused": 32,
        "kept": 0,
        "idle": 0,
    }


def test_markdown_has_a_table_for_each_state(tmp_path: Path) -> None:
    text = run("summary", "--donation", _path(tmp_path), "--format", "markdown").out
    assert "| Donated, but not used | 1 | 32\N{NO-BREAK SPACE}B |" in text
    assert "## Usable, but not donated" in text


_TREE = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}) }

ENTRY %main (w: f32[8], h: s32[8], x: s32[4]) -> f32[8] {
  %w = f32[8]{0} parameter(0), metadata={op_name="p[\\'w\\']"}
  %h = s32[8]{0} parameter(1), metadata={op_name="p[\\'h\\']"}
  %x = s32[4]{0} parameter(2), metadata={op_name="x"}
  ROOT %a = f32[8]{0} negate(%w)
}
"""


def test_dropped_array_of_donated_argument_is_named(tmp_path: Path) -> None:
    path = tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt"
    path.write_text(_TREE, "utf-8")
    lines = run("summary", "--donation", path).out.splitlines()
    reason = "dropped, other arrays of p are donated: no output has its type and dimensions"
    assert lines[-2:] == [
        f"  32 B  p['h']  s32[8]{{0}}  {reason}",
        "  16 B  x       s32[4]{0}",
    ]
    (module,) = json.loads(run("summary", "--donation", path, "--format", "json").out)["modules"]
    assert [one["dropped_from"] for one in module["arguments"]] == [None, "p", None]


def test_elements_of_args_are_donated_alone(tmp_path: Path) -> None:
    path = tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt"
    text = _TREE.replace("p[\\'w\\']", "args[0]").replace("p[\\'h\\']", "args[1]['h']")
    path.write_text(text, "utf-8")
    (module,) = json.loads(run("summary", "--donation", path, "--format", "json").out)["modules"]
    assert {one["dropped_from"] for one in module["arguments"]} == {None}


_UPDATED = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}) }

ENTRY %main (c: f32[512], x: f32[512]) -> (f32[512], f32[4]) {
  %c = f32[512]{0} parameter(0), metadata={op_name="cache"}
  %x = f32[512]{0} parameter(1), metadata={op_name="x"}
  %copy = f32[512]{0} copy(%c)
  %new = f32[512]{0} add(%c, %x)
  %row = f32[4]{0} slice(%copy), slice={[0:4]}
  ROOT %r = (f32[512]{0}, f32[4]{0}) tuple(%new, %row)
}
"""
_UPDATED_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 2048, parameter 0, shape |f32[512]| at ShapeIndex {}, maybe-live-out:
 value: <1 c @0> (size=2048,offset=0): f32[512]{0}
 value: <4 new @0> (size=2048,offset=0): f32[512]{0}
allocation 1: size 2048, parameter 1, shape |f32[512]| at ShapeIndex {}:
 value: <2 x @0> (size=2048,offset=0): f32[512]{0}
allocation 2: size 2048, preallocated-temp:
 value: <3 copy @0> (size=2048,offset=0): f32[512]{0}
"""
_UPDATED_RANGES = """\
HloLiveRange (max 6):
  InstructionSequence:
    0:c
    1:x
    2:copy
    3:new
    4:row
    5:r
  BufferLiveRange:
    c{}:0-3
    x{}:0-6
    copy{}:2-4
    new{}:3-6
"""


def test_donated_argument_that_is_copied_has_the_reason(tmp_path: Path) -> None:
    stem = tmp_path / "module_0001.jit_f.cpu_after_optimizations"
    for suffix, text in (
        ("", _UPDATED),
        ("-buffer-assignment", _UPDATED_ASSIGNMENT),
        ("-live-range", _UPDATED_RANGES),
    ):
        Path(f"{stem}{suffix}.txt").write_text(text, "utf-8")
    lines = run("summary", "--donation", tmp_path).out.splitlines()
    at = lines.index("donated, but copied nevertheless: 1 argument, 2.0 KiB")
    assert lines[at + 1] == (
        "  2.0 KiB  cache  copy copies it at step 2 for row, which reads the copy at step 4;"
        " new writes to the argument at step 3"
    )
