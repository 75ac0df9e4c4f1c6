"""The flags and options of a compile."""

from pathlib import Path

from hlo_lsp.model.flags import LIBTPU_OPTIONS, flags_of
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.diff import FlagChange, compare

_NAME = "module_0001.m.cl_1"
_TEXT = "HloModule m, is_scheduled=true\n\nENTRY %e {\n  ROOT %x = f32[8] parameter(0)\n}\n"


def _write(folder: Path, flags: str, options: str) -> Path:
    folder.mkdir()
    (folder / f"{_NAME}.flagfile").write_text(flags, "utf-8")
    (folder / f"{_NAME}{LIBTPU_OPTIONS}").write_text(options, "utf-8")
    path = folder / f"{_NAME}.after_optimizations.txt"
    path.write_text(_TEXT, "utf-8")
    return path


def test_options_of_libtpu_are_read_with_their_groups(tmp_path: Path) -> None:
    options = '# note: not an option\nxla_a: true\nxla_b {\n  spec: "false"\n}\nxla_c {\n}\n'
    workspace = DumpWorkspace()
    dump = workspace.compile_of(workspace.file(_write(tmp_path / "a", "--xla_a=true\n", options)))
    assert flags_of(dump) == {
        ".flagfile": {"xla_a": "true"},
        LIBTPU_OPTIONS: {"xla_a": "true", "xla_b.spec": '"false"'},
    }


def test_changed_option_is_listed_once(tmp_path: Path) -> None:
    workspace = DumpWorkspace()
    first = _write(tmp_path / "a", "--xla_a=true\n", "xla_a: ENABLED\nxla_b: 1\n")
    second = _write(tmp_path / "b", "--xla_a=false\n", "xla_a: DISABLED\nxla_b: 2\n")
    before, after = (workspace.compile_of(workspace.file(path)) for path in (first, second))
    assert compare(before, after).flags == (
        FlagChange("xla_a", "true", "false"),
        FlagChange("xla_b", "1", "2"),
    )


def test_flags_of_other_platforms_and_new_ones_are_last(tmp_path: Path) -> None:
    workspace = DumpWorkspace()
    first = _write(tmp_path / "a", "--xla_gpu_a=1\n--xla_tpu_z=1\n", "")
    second = _write(tmp_path / "b", "--xla_gpu_a=2\n--xla_tpu_b=2\n--xla_tpu_z=2\n", "")
    before, after = (workspace.compile_of(workspace.file(path)) for path in (first, second))
    names = [flag.name for flag in compare(before, after).flags or ()]
    assert names == ["xla_tpu_z", "xla_tpu_b", "xla_gpu_a"]
