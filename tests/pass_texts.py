"""The module texts of a compile between passes, for tests of the pass timeline."""

from pathlib import Path

_HEAD = "HloModule jit_f\n\n"
_METADATA = ', metadata={op_name="jit(f)/add"}'
_FIRST = f"""\
ENTRY %main (x: f32[8]) -> f32[8] {{
  %x = f32[8] parameter(0)
  %c = f32[8] copy(%x)
  ROOT %r = f32[8] add(%c, %c){_METADATA}
}}
"""
_SECOND = _FIRST.replace("  %c = f32[8] copy(%x)\n", "").replace("%c", "%x")
_THIRD = f"""\
%fused (p: f32[8]) -> f32[8] {{
  %p = f32[8] parameter(0)
  ROOT %add.9 = f32[8] add(%p, %p){_METADATA}
}}

ENTRY %main (x: f32[8]) -> f32[8] {{
  %x = f32[8] parameter(0)
  ROOT %fusion = f32[8] fusion(%x), kind=kLoop, calls=%fused{_METADATA}
}}
"""
_TEXTS = {
    "module_0001.jit_f.before_optimizations.txt": _FIRST,
    "module_0001.jit_f.0001.simplify.after_algsimp.before_dce.txt": _SECOND,
    "module_0001.jit_f.0002.fusing.after_fusion.before_pipeline-end.txt": _THIRD,
    "module_0001.jit_f.cpu_after_optimizations.txt": _THIRD,
}


def written(folder: Path) -> list[Path]:
    """Write the texts, and return their paths in pipeline order."""
    folder.mkdir(exist_ok=True)
    for name, text in _TEXTS.items():
        (folder / name).write_text(_HEAD + text, "utf-8")
    return [folder / name for name in _TEXTS]


def line_of(path: Path, text: str) -> int:
    """Return the first line that contains a text, from 0."""
    lines = path.read_text("utf-8").split("\n")
    return next(number for number, line in enumerate(lines) if text in line)
