"""Instructions that correspond across the module texts of a compile."""

from pathlib import Path

from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.stages import counterparts

_ADD = '  %add.{} = f32[] add({}, metadata={{op_name="jit(f)/add"}}\n'
_MODULE = "HloModule jit_f\n\nENTRY %main {{\n  %p = f32[] parameter(0)\n{}}}\n"


def test_unclosed_bracket_hides_no_other_counterpart(tmp_path: Path) -> None:
    damaged, intact = _ADD.format(1, "%p"), _ADD.format(2, "%p, %p)")
    before = tmp_path / "module_0001.jit_f.before_optimizations.txt"
    before.write_text(_MODULE.format(damaged + intact))
    after = tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt"
    after.write_text(_MODULE.format(_ADD.format(3, "%p, %p)")))
    workspace = DumpWorkspace()
    file = workspace.file(after)
    [record] = [one for one in file.module.instructions.records() if one.name == "add.3"]
    found = counterparts(workspace.compile_of(file), LocatedRecord(file, record))
    assert [one.name for one in found[workspace.file(before)]] == ["add.2"]
