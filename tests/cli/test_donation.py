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
    assert run("donation", _path(tmp_path)).out == (
        "jit_f: 3 arguments, 96 B\n"
        "donated, used by an output: 1 argument, 32 B\n"
        "  32 B  parameter 0  f32[8]{0}  to output {0}\n"
        "usable, but not donated: 1 argument, 32 B\n"
        "  32 B  parameter 2  f32[8]{0}  fits output {1}\n"
        "donated, but not used: 1 argument, 32 B\n"
        "  32 B  parameter 1  s32[8]{0}  no output has its type and dimensions\n"
    )


def test_json_has_the_totals(tmp_path: Path) -> None:
    (module,) = json.loads(run("donation", _path(tmp_path), "--format", "json").out)["modules"]
    assert module["totals"] == {
        "arguments": 96,
        "donated": 32,
        "usable": 32,
        "unused": 32,
        "kept": 0,
        "idle": 0,
    }


def test_markdown_has_a_table_for_each_state(tmp_path: Path) -> None:
    text = run("donation", _path(tmp_path), "--format", "markdown").out
    assert "| Donated, but not used | 1 | 32\N{NO-BREAK SPACE}B |" in text
    assert "## Usable, but not donated" in text
