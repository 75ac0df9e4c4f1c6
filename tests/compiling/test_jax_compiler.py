"""The program that compiles with a real jax, if the environment has one, for the CPU and a GPU.

``tools/compilers/watch.py`` compiles all programs of the corpus again with each release.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiling.stand_in import UNOPTIMIZED
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.jax_compiler import Jax
from hlo_lsp.compiling.program import Changes, DumpedProgram, program_at
from hlo_lsp.compiling.recompile import Recompiled, compile_again

pytest.importorskip("jax", reason="the environment has no jax")
_TEXT = UNOPTIMIZED.replace(":T(256)", "")
_H100 = Path(__file__).parents[2] / "tools" / "compilers" / "h100.txtpb"


@pytest.fixture
def program(tmp_path: Path) -> DumpedProgram:
    """Return a program of two arguments and an output of the same size."""
    path = tmp_path / "f.hlo"
    path.write_text(_TEXT, "utf-8")
    return program_at(path)


@pytest.fixture
def compiler() -> Iterator[CompilerProcess]:
    """Return a compiler."""
    with CompilerProcess(sys.executable) as process:
        yield process


def _header(found: Recompiled) -> str:
    (path,) = found.after.glob("*after_optimizations.txt")
    return path.read_text("utf-8").partition("\n")[0]


def test_text_is_compiled(compiler: CompilerProcess, program: DumpedProgram) -> None:
    found = compile_again(compiler, program, Changes())
    assert "is_scheduled=true" in _header(found)
    assert "input_output_alias" not in _header(found)
    assert found.result.memory["argument_size_in_bytes"] == 2048
    assert list(found.result.seconds)[-1] == "compile"


def test_levels_of_optimization_are_set() -> None:
    jax = Jax()
    effort = {"optimization_level": "O1", "memory_fitting_level": "UNKNOWN"}
    request = {"platform": "cpu", "topology": None, "replicas": 1, "partitions": 1}
    devices = jax.devices(request)[:1]
    build = jax.options({**request, "effort": effort}, devices, "").executable_build_options
    assert (build.optimization_level, build.memory_fitting_level) == (19, 0)


def test_donated_argument_is_aliased(compiler: CompilerProcess, program: DumpedProgram) -> None:
    found = compile_again(compiler, program, Changes(donated=("x",)))
    assert "input_output_alias={ {}: (1, {}, may-alias) }" in _header(found)


@pytest.mark.parametrize("donation", ["input_output_alias={ {}: (0, {}, may-alias) }", ""])
def test_donations_are_removed(
    compiler: CompilerProcess, program: DumpedProgram, tmp_path: Path, donation: str
) -> None:
    donation = donation or "buffer_donor={ (0, {}) }"
    text = _TEXT.replace("entry_", f"{donation}, entry_", 1)
    (tmp_path / "g.hlo").write_text(text, "utf-8")
    donating = program_at(tmp_path / "g.hlo")
    assert "input_output_alias={ {}: (0" in _header(compile_again(compiler, donating, Changes()))
    removed = compile_again(compiler, donating, Changes(no_donation=True))
    assert "input_output_alias" not in _header(removed)


def test_unknown_option_is_an_error(compiler: CompilerProcess, program: DumpedProgram) -> None:
    with pytest.raises(CompileFailedError, match=r"^no option xla_none$"):
        compile_again(compiler, program, Changes(options={"xla_none": "1"}))


def test_error_of_the_text_has_its_line(compiler: CompilerProcess, program: DumpedProgram) -> None:
    with pytest.raises(CompileFailedError) as failed:
        compile_again(compiler, program, Changes(text=_TEXT.replace("add(x, y)", "add(x, z)")))
    assert (failed.value.line, str(failed.value)) == (5, "instruction does not exist: z")


def test_gpu_need_not_exist(compiler: CompilerProcess, tmp_path: Path) -> None:
    pytest.importorskip("jax_plugins.xla_cuda13", reason="the environment has no plugin for GPUs")
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(_TEXT, "utf-8")
    shutil.copy(_H100, tmp_path / "module_0001.jit_f.gpu_target_config.pbtxt")
    found = compile_again(compiler, program_at(tmp_path), Changes())
    assert found.target.startswith("NVIDIA H100")
    assert next(found.after.glob("*.sm_9.0*_gpu_after_optimizations.txt")).is_file()
