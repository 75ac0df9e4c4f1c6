"""``hlo-lsp summary`` for logs, groups, and frames, and ``inspect`` as text."""

import json
import re
import shutil
from pathlib import Path

import pytest

from cli.command import run
from reports.example import ASSIGNMENT, STEM

_MESSAGE = """\
Ran out of memory in memory space hbm. Used 15.86G of 15.75G hbm. Exceeded hbm capacity by 118.05M.
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log with an out-of-memory message."""
    path = tmp_path / "train.log"
    path.write_text(f"step 1\n{_MESSAGE}", "utf-8")
    return path


def test_log_is_explained_as_by_oom(log: Path) -> None:
    found = run("summary", log)
    assert (found.status, found.out) == (0, run("oom", log).out)


def test_json_lists_messages_and_modules(log: Path, dump: Path) -> None:
    found = run("summary", log, dump, "--format", "json").json
    assert [one["kind"] for one in found["messages"]] == ["hbm"]
    assert [one["name"] for one in found["modules"]] == ["jit_f"]


def test_equal_modules_of_hosts_are_shown_once(dump: Path, tmp_path: Path) -> None:
    for host in ("host0", "host1", "host2"):
        shutil.copytree(dump, tmp_path / "hosts" / host)
    text = run("summary", tmp_path / "hosts").out
    assert (text.count("jit_f · "), text.count(" · 3 hosts\n")) == (1, 1)
    assert len(run("summary", tmp_path / "hosts", "--format", "json").json["modules"]) == 3


def test_markdown_contains_the_message(log: Path) -> None:
    assert "not enough HBM" in run("summary", log, "--format", "markdown").out


def test_text_without_message_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing\n", "utf-8")
    found = run("summary", path)
    assert found.status == 2
    assert "without an out-of-memory message" in found.err


def test_library_frames_are_skipped_by_default(dump: Path) -> None:
    module = dump / f"{STEM}.txt"
    text = module.read_text("utf-8").replace(
        'FileNames\n1 "/home/user/model.py"',
        'FileNames\n1 "/home/user/model.py"\n2 "/usr/lib/python3.12/site-packages/flax/nn.py"',
    )
    module.write_text(text.replace("2 {file_name_id=1", "2 {file_name_id=2"), "utf-8")
    assert "model.py:7 4.0 KiB" in run("summary", dump).out
    assert "nn.py:3 2.0 KiB" in run("summary", dump, "--frames", "all").out


def test_missing_step_is_an_error(dump: Path) -> None:
    found = run("summary", dump, "--at", "99")
    assert found.status == 2
    assert "no step 99: the schedule has the steps 0 to 5" in found.err


def test_inspect_prints_the_summary_as_text(dump: Path) -> None:
    path = dump / f"{STEM}-buffer-assignment.txt"
    assert run("inspect", path).out == run("summary", path).out
    assert run("inspect", path, "--format", "json").json["kind"] == "dump"


def test_check_counts_findings_by_code(dump: Path) -> None:
    # The sizes of the example are those of no TPU.
    (found,) = run("summary", "--check", "--format", "json", dump).json["modules"]
    assert found["findings"]["size-mismatch"] == ASSIGNMENT.count(" value: ")
    assert "5 size-mismatch" in run("summary", "--check", dump).out


def _add_module(dump: Path, name: str, zeros: str) -> Path:
    """Write the assignment of the example under a name, with these zeros after each size."""
    path = dump / f"module_0002.{name}.cl_12.after_optimizations-buffer-assignment.txt"
    path.write_text(re.sub(r"(size[ =]|offset=2)(\d+)", rf"\1\g<2>{zeros}", ASSIGNMENT), "utf-8")
    return path


def test_largest_module_comes_first(dump: Path) -> None:
    _add_module(dump, "jit_large", "0")
    found = run("summary", dump)
    assert found.out.index("jit_large · ") < found.out.index("jit_f · ")
    names = [one["name"] for one in run("summary", dump, "--format", "json").json["modules"]]
    assert names == ["jit_large", "jit_f"]


def test_small_module_is_one_line(dump: Path) -> None:
    _add_module(dump, "jit_large", "000")
    lines = run("summary", dump).out.splitlines()
    assert lines[-2] == "1 module below 1% of the largest (--all shows them in full):"
    assert lines[-1].startswith("  jit_f · TPU · HBM peak 5.0 KiB · ")
    assert "peak of HBM 5.0 KiB" in run("summary", dump, "--all").out
    assert "- jit_f · TPU" in run("summary", dump, "--format", "markdown").out
    names = [one["name"] for one in run("summary", dump, "--format", "json").json["modules"]]
    assert names == ["jit_large", "jit_f"]


def test_named_small_module_is_shown_in_full(dump: Path) -> None:
    large = _add_module(dump, "jit_large", "000")
    found = run("summary", large, dump / f"{STEM}-buffer-assignment.txt")
    assert "peak of HBM 5.0 KiB" in found.out
    assert "below 1%" not in found.out


def test_report_begins_with_largest_module(dump: Path, tmp_path: Path) -> None:
    _add_module(dump, "jit_zoom", "0")
    assert run("report", dump, "-o", tmp_path / "map.json").status == 0
    modules = json.loads((tmp_path / "map.json").read_text("utf-8"))["modules"]
    assert [one["name"] for one in modules] == ["jit_zoom", "jit_f"]


def test_cost_of_a_run_is_shown(dump: Path) -> None:
    lines = run("summary", str(dump), "--chip", "v5e").out.splitlines()
    (line,) = (line for line in lines if line.startswith("cost of one run: "))
    assert "; least time on TPU v5e: " in line
    (module,) = json.loads(run("summary", str(dump), "--format", "json").out)["modules"]
    assert module["cost"]["flops"] > 0
    assert module["cost"]["least_seconds"] is None
