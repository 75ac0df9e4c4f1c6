"""Tests for foreign files, missing files, and files without a dump."""

import shutil
from pathlib import Path

import pytest

from checks.values_rules import reports_in
from hlo_lsp.cli.main import main

ENDS = {
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    "-memory-usage-report.txt",
}


def _mix(folder: Path, corpus: Path, end: str, other: str) -> None:
    """Replace a file with that of another program."""
    (path,) = folder.glob(f"*after_optimizations{end}")
    (source,) = (corpus / "tpu_v5e").glob(f"{other}*.after_optimizations{end}")
    shutil.copy(source, path)


@pytest.mark.parametrize(
    "end", ["-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt", ".txt"]
)
@pytest.mark.parametrize("other", ["module_0000", "module_0012", "module_0282"])
def test_foreign_file_is_reported_on_its_first_line(
    compiled: Path, corpus_small: Path, end: str, other: str
) -> None:
    _mix(compiled, corpus_small, end, other)
    ((name, code, place, message),) = reports_in(compiled)
    assert (name, code) == (end, "sibling-mismatch")
    assert place.split(":")[0] in {"1", "2"}  # The first line of a values file is empty.
    assert message.startswith("this file is from another compile than `module_0092.jit_don")


def test_two_foreign_files_are_both_reported(compiled: Path, corpus_small: Path) -> None:
    for end in ("-buffer-assignment-values.txt", "-live-range.txt"):
        _mix(compiled, corpus_small, end, "module_0000")
    assert [(name, code) for name, code, _, _ in reports_in(compiled)] == [
        ("-buffer-assignment-values.txt", "sibling-mismatch"),
        ("-live-range.txt", "sibling-mismatch"),
    ]


def test_few_damaged_lines_make_no_foreign_file(compiled: Path) -> None:
    (path,) = compiled.glob("*-values.txt")
    path.write_text(path.read_text().replace("<11 fusion{}", "<11 fuzion{}"))
    codes = {code for _, code, _, _ in reports_in(compiled)}
    assert codes
    assert "sibling-mismatch" not in codes


MISSING = {
    "-buffer-assignment.txt": "-buffer-assignment-values.txt",
    "-buffer-assignment-values.txt": "-buffer-assignment.txt",
    "-live-range.txt": "-buffer-assignment.txt",
    "-memory-usage-report.txt": "-buffer-assignment.txt",
}


@pytest.mark.parametrize("end", MISSING)
def test_missing_file_is_reported(compiled: Path, end: str) -> None:
    (path,) = compiled.glob(f"*after_optimizations{end}")
    path.unlink()
    ((name, code, _, message),) = reports_in(compiled)
    assert (name, code) == (MISSING[end], "sibling-missing")
    assert message == f"`{path.name}` is missing; XLA writes it with this file"


NO_DUMPS = {
    b"": "is empty",
    b"\n\n": "is empty",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n": "is not a dump",
    "HloLiveRange (max 2):\n".encode("utf-16"): "is not a dump",
}


@pytest.mark.parametrize("data", NO_DUMPS)
@pytest.mark.parametrize("end", sorted(MISSING.keys() - {"-buffer-assignment-values.txt"}))
def test_file_without_a_dump_is_reported(compiled: Path, end: str, data: bytes) -> None:
    (path,) = compiled.glob(f"*after_optimizations{end}")
    path.write_bytes(data)
    ((name, code, _, message),) = reports_in(compiled)
    assert (name, code) == (MISSING[end], "sibling-missing")
    assert message == f"`{path.name}` {NO_DUMPS[data]}; XLA writes it with this file"


@pytest.mark.parametrize("end", sorted(ENDS))
def test_single_file_misses_nothing(compiled: Path, end: str) -> None:
    for path in compiled.iterdir():
        if not path.name.endswith(f"after_optimizations{end}"):
            path.unlink()
    assert reports_in(compiled) == []


def test_compile_without_analysis_misses_nothing(compiled: Path) -> None:
    for end in ("-values.txt", "-live-range.txt"):
        next(compiled.glob(f"*{end}")).unlink()
    assert reports_in(compiled) == []


def test_dump_in_one_file_misses_nothing(corpus_small: Path, tmp_path: Path) -> None:
    (path,) = (corpus_small / "cpu_jax_0.6.2").glob("*jit_mlp_train*-buffer-assignment.txt")
    shutil.copy(path, tmp_path)
    (report,) = (corpus_small / "cpu_jax_0.6.2").glob("*jit_mlp_train*-usage-report.txt")
    assert reports_in(tmp_path) == []
    shutil.copy(report, tmp_path)
    assert reports_in(tmp_path) == []


@pytest.mark.parametrize("end", ["-buffer-assignment.txt", "-buffer-assignment-values.txt", ".txt"])
@pytest.mark.parametrize("module", ["module_0000", "module_0018"])
def test_same_program_on_another_chip_is_foreign(
    tmp_path: Path, corpus_small: Path, module: str, end: str
) -> None:
    for path in (corpus_small / "tpu_v5e").glob(f"{module}.*.after_optimizations[-.]*"):
        shutil.copy(path, tmp_path)
    (path,) = tmp_path.glob(f"*.after_optimizations{end}")
    shutil.copy(corpus_small / "tpu_v5p" / path.name, path)
    ((name, code, *_),) = reports_in(tmp_path)
    assert (name, code) == (end, "sibling-mismatch")


def test_renamed_files_stay_in_one_compile(corpus_small: Path, tmp_path: Path) -> None:
    """Check module texts of other passes, whose names differ from those in memory files."""
    for path in (corpus_small / "tpu_v5e").glob("module_0000.jit_mlp_train.*.txt"):
        shutil.copy(path, tmp_path / f"mine.{path.name.partition('cl_')[2].partition('.')[2]}")
    assert len(list(tmp_path.glob("mine.after_optimizations_*.txt"))) == 2
    assert main(["check", str(tmp_path), "--severity", "error"]) == 0
