"""Tests for check jobs: one job for each compile, each file once."""

import errno
import os
import pickle
from pathlib import Path

import pytest

from hlo_lsp.checks.check_jobs import Plan, plan
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.framework.options import CheckOptions


def planned(*paths: Path) -> Plan:
    return plan(paths, CheckOptions())


def test_files_of_a_compile_are_one_job(compiled: Path) -> None:
    (compiled / "notes.txt").touch()
    sizes = [len(job.files) for job in planned(compiled).jobs]
    assert sorted(sizes) == [1, 6]


def test_files_are_in_the_order_of_the_paths(compiled: Path, tmp_path: Path) -> None:
    other = tmp_path / "a.txt"
    other.touch()
    assert planned(compiled, other).files == [*sorted(compiled.iterdir()), other]
    assert planned(other, compiled).files == [other, *sorted(compiled.iterdir())]


def test_unreadable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate the error, since the user of the tests may have permission to read all folders."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.txt").touch()
    (tmp_path / "private").mkdir()
    scan = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "private":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    made = planned(tmp_path)
    assert [file.name for file in made.files] == ["a.txt"]
    private = tmp_path / "private"
    assert made.closed == {private: f"{private}: Permission denied"}
    assert planned(private).closed == made.closed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_entries_that_are_no_files_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    (tmp_path / "b.txt").touch()
    assert [file.name for file in planned(tmp_path).files] == ["b.txt"]


def test_file_with_two_names_is_checked_once(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(compiled)
    first = min(compiled.iterdir())
    made = planned(Path(first.name), compiled, Path(), first)
    assert made.files[0] == Path(first.name)
    assert len(made.files) == 6
    (job,) = made.jobs
    assert job.named == {Path(first.name)}


def test_job_changes_with_a_file_of_the_compile(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    (ranges,) = compiled.glob("*-live-range.txt")
    before = planned(values)
    assert planned(values) == before
    os.utime(ranges, ns=(1, 1))
    touched = planned(values)
    assert touched != before
    ranges.unlink()
    assert planned(values) != touched
    assert before.jobs[0].size > touched.jobs[0].size - 1 > planned(values).jobs[0].size


def test_job_changes_with_the_selected_rules(compiled: Path) -> None:
    before = planned(compiled)
    (compiled / CONFIG_FILE_NAME).write_text('ignore = ["syntax"]\n', "utf-8")
    after = planned(compiled)
    (job,) = [job for job in after.jobs if len(job.files) == 6]
    assert job not in before.jobs
    assert "syntax" not in job.selection.codes


def test_config_file_applies_to_its_folder_and_subfolders(tmp_path: Path) -> None:
    for name in ("a/x.txt", "a/deep/y.txt", "b/z.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a" / CONFIG_FILE_NAME).write_text('select = ["syntax", "overlap"]\n', "utf-8")
    codes = {
        job.files[0].name: job.selection.codes
        for job in plan([tmp_path], CheckOptions(ignore=frozenset({"overlap"}))).jobs
    }
    assert codes["x.txt"] == codes["y.txt"] == {"syntax"}
    assert len(codes["z.txt"]) > 2


def test_error_in_a_config_file_is_reported_once(tmp_path: Path) -> None:
    for name in ("a.txt", "deep/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / CONFIG_FILE_NAME).write_text("ignore = 3\n", "utf-8")
    assert [error.line for error in planned(tmp_path).errors] == [1]


def test_missing_file_has_a_job(tmp_path: Path) -> None:
    (job,) = planned(tmp_path / "gone" / "x.txt").jobs
    assert (job.files, job.size) == ((tmp_path / "gone" / "x.txt",), 0)


def test_job_survives_pickling(compiled: Path) -> None:
    (job,) = planned(compiled).jobs
    assert pickle.loads(pickle.dumps(job)) == job
