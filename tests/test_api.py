"""The Python interface: load, capture, and analyze."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import hlo_lsp
from cli.command import run
from compiling import stand_in as compiled
from hlo_lsp.compiling.compiler_process import CompilerProcess
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return a folder with the example compile."""
    folder = tmp_path / "dump"
    folder.mkdir()
    write_dump(folder)
    return folder


def write_dump(folder: Path) -> None:
    """Write the example compile as XLA does."""
    (folder / f"{STEM}.txt").write_text(MODULE, "utf-8")
    (folder / f"{STEM}-buffer-assignment.txt").write_text(ASSIGNMENT, "utf-8")
    (folder / f"{STEM}-live-range.txt").write_text(RANGES, "utf-8")


class Lowered:
    """What ``jax.jit(f).lower()`` returns, as far as it is used."""

    def compile(self, compiler_options: dict[str, object]) -> None:
        assert compiler_options["xla_dump_hlo_as_text"] is True
        write_dump(Path(str(compiler_options["xla_dump_to"])))


class Compiled:
    """A compiled function."""

    def as_text(self) -> str:
        return MODULE


def test_cost_needs_the_module_text(dump: Path) -> None:
    (module,) = hlo_lsp.load(dump)
    assert module.cost is not None
    assert module.cost["executed"]["complete"]
    assert module.cost["xla"]["flops"] == module.cost["executed"]["flops"] > 0
    (dump / f"{STEM}.txt").unlink()
    (module,) = hlo_lsp.load(dump)
    assert module.cost is None


def test_load_reads_every_compile(dump: Path) -> None:
    for path in list(dump.iterdir()):
        shutil.copy(path, dump / path.name.replace("module_0001", "module_0002"))
    modules = hlo_lsp.load(dump)
    assert [module.name for module in modules] == ["jit_f", "jit_f"]
    assert modules[0].summary["total_bytes"] == 5120
    assert modules[0].path.parent == dump


def test_load_of_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no dumps in this folder"):
        hlo_lsp.load(tmp_path)


def test_modules_can_be_compared(dump: Path) -> None:
    (module,) = hlo_lsp.load(dump)
    assert module.diff(module)["is_equal"]
    assert module.diff_text(module) == "jit_f: no differences"


def test_notebook_shows_summary_and_map(dump: Path) -> None:
    (module,) = hlo_lsp.load(dump)
    shown = module._repr_html_()
    assert shown.startswith("<pre>jit_f")
    assert '<iframe srcdoc="&lt;!' in shown


def test_lowered_function_is_compiled_with_dumps() -> None:
    assert hlo_lsp.analyze(Lowered()).summary["total_bytes"] == 5120


def test_compiled_function_has_only_its_text() -> None:
    module = hlo_lsp.analyze(Compiled())
    assert module.name == "jit_f"
    assert module.summary["total_bytes"] is None


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="lower"):
        hlo_lsp.analyze(3)


def test_capture_reads_what_a_block_dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_a=1")
    with hlo_lsp.capture(tmp_path) as captured:
        assert os.environ["XLA_FLAGS"].startswith("--xla_a=1 --xla_dump_to=")
        write_dump(captured.folder)
    assert os.environ["XLA_FLAGS"] == "--xla_a=1"
    assert [module.name for module in captured.modules] == ["jit_f"]


def test_capture_without_dump_explains_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="before the first compile"), hlo_lsp.capture(tmp_path):
        pass


def test_failed_capture_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RuntimeError, match="nothing was dumped"), hlo_lsp.capture():
        pass
    assert list(tmp_path.iterdir()) == []


def test_text_of_a_module_is_the_summary_of_the_command(dump: Path) -> None:
    (module,) = hlo_lsp.load(dump)
    assert f"{module}\n" == run("summary", dump).out


def test_package_is_imported_on_first_use() -> None:
    program = "import sys, hlo_lsp; print('hlo_lsp.api' in sys.modules, hlo_lsp.load.__name__)"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed == "False load\n"


def test_profile_is_read(corpus_profiles: Path) -> None:
    profile = hlo_lsp.load_profile(corpus_profiles / "jax_0_12" / "train")
    assert profile["modules"][0]["name"] == "jit_train_step"
    assert profile["modules"][0]["groups"][0]["name"].endswith("profiled_programs.py:41")


def test_path_without_profile_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"profile"):
        hlo_lsp.load_profile(tmp_path)


def test_compile_reads_the_new_dump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = compiled.write_dump(tmp_path / "dump")
    stand_in = compiled.StandIn(tmp_path, dumps=(folder,))
    _choose_compiler(monkeypatch, tmp_path, stand_in)
    (module,) = hlo_lsp.compile(folder, flags={"xla_tpu_limit": "6"}, python=sys.executable)
    assert module.name == "jit_f"
    assert module.path.parent != folder
    assert [one["options"] for one in stand_in.requests] == [{"xla_tpu_limit": "6"}]


def test_failed_compile_is_an_error_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = compiled.StandIn(tmp_path, then="sys.exit(3)")
    _choose_compiler(monkeypatch, tmp_path, stand_in)
    with pytest.raises(OSError, match="with status 3"):
        hlo_lsp.compile(compiled.write_dump(tmp_path / "dump"), python=sys.executable)


def _choose_compiler(
    monkeypatch: pytest.MonkeyPatch, folder: Path, stand_in: compiled.StandIn
) -> None:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    for name, value in compiled.python_with_jax(folder).items():
        monkeypatch.setenv(name, value)
