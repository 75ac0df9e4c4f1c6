"""Why a collective overlaps with no computation."""

from pathlib import Path

import pytest

from hlo_lsp.cost.exposure import ExposureCause, exposure_cause
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace

_TEXT = """\
HloModule m, is_scheduled=true, num_partitions=2

ENTRY %e {
  %x = f32[64,64] parameter(0)
  %a = f32[64,64] all-reduce(%x), channel_id=1, to_apply=%sum
  %b = f32[64,64] bitcast(%a)
  %y = f32[64,64] dot(%b, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %p = (f32[64,64], f32[64,64]) all-reduce(%x, %y), channel_id=2, to_apply=%sum
  %g = f32[64,64] get-tuple-element(%p), index=1
  %n = f32[64,64] negate(%g)
  %c = f32[64,64] all-reduce(%x), channel_id=3, to_apply=%sum
  ROOT %t = (f32[64,64], f32[64,64]) tuple(%n, %c)
}
"""
_OPTIONS = """\
# A comment: with a colon
xla_enable_async_all_reduce: DISABLED
xla_tpu_enable_async_collective_fusion_fuse_all_reduce: false
xla_tpu_enable_async_collective_fusion: true
"""


def _cause(dump: Compile, name: str) -> ExposureCause:
    program, line = program_cost(dump, None), dump.instruction(name)
    assert program is not None
    assert line is not None
    return exposure_cause(program, line.record, "all-reduce")


def _dump(folder: Path, options: str) -> Compile:
    path = folder / "module_0001.m.cl_1.after_optimizations.txt"
    path.write_text(_TEXT, "utf-8")
    (folder / "module_0001.m.cl_1.tpu_comp_env.txt").write_text(options, "utf-8")
    workspace = DumpWorkspace()
    return workspace.compile_of(workspace.file(path))


@pytest.mark.parametrize(("name", "needs"), [("a", "y"), ("p", "n")])
def test_products_that_depend_on_it_cannot_overlap(name: str, needs: str) -> None:
    dump = Compile([DumpFile.of_text(_TEXT, "m.txt")])
    assert _cause(dump, name) == ExposureCause("dependency", instruction=needs)


def test_options_forbid_asynchronous_collectives(tmp_path: Path) -> None:
    assert _cause(_dump(tmp_path, _OPTIONS), "c") == ExposureCause(
        "option",
        "xla_enable_async_all_reduce: DISABLED, "
        "xla_tpu_enable_async_collective_fusion_fuse_all_reduce: false",
    )


@pytest.mark.parametrize("options", ["", "xla_enable_async_all_reduce: AUTO\n"])
def test_without_forbidding_option_the_cause_is_unknown(tmp_path: Path, options: str) -> None:
    assert _cause(_dump(tmp_path, options), "c") == ExposureCause("unknown")
