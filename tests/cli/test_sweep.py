"""``hlo-lsp run --each``: the rows of a table, and the largest value that fits."""

import sys
from pathlib import Path
from typing import Any

import pytest

from cli.command import CommandResult, run, run_process
from oom_messages import GPU
from reports.example import STEM

# A program whose temporary buffers are as large as a variable says.
_PROGRAM = f"""\
import os, pathlib, sys
if not os.environ["BATCH"].isdecimal():
    sys.exit("not a number")
batch = int(os.environ["BATCH"])
assert sys.argv[2] == f"--batch={{batch}}", sys.argv
if batch > 50:
    sys.exit({GPU!r})
folder = pathlib.Path(os.environ["XLA_FLAGS"].split("--xla_dump_to=")[1].split()[0])
for path in pathlib.Path(sys.argv[1]).iterdir():
    text = path.read_text("utf-8").replace("size 3072", f"size {{3072 * batch}}")
    (folder / path.name).write_text(text, "utf-8")
print("trained")
"""


def _swept(dump: Path, folder: Path, *options: str) -> CommandResult:
    program = sys.executable, "-c", _PROGRAM, dump, "--batch={BATCH}"
    return run_process("run", "-o", folder, *options, "--format", "json", "--", *program)


def _allocated(found: CommandResult) -> dict[str, Any]:
    return {row["program"]: row["allocated_bytes"] for row in found.json["programs"]}


def test_each_value_has_a_row(dump: Path, tmp_path: Path) -> None:
    found = _swept(dump, tmp_path / "out", "--each", "BATCH=1,4")
    assert found.status == 0
    assert _allocated(found) == {"BATCH=1": 2048 + 3072, "BATCH=4": 2048 + 4 * 3072}
    assert "trained" in found.err
    assert (tmp_path / "out" / "BATCH=4" / f"{STEM}.txt").exists()


def test_all_combinations_run(dump: Path, tmp_path: Path) -> None:
    found = _swept(dump, tmp_path, "--each", "BATCH=1,2", "--each", "REMAT=none,a/b")
    assert list(_allocated(found)) == [
        f"BATCH={batch} REMAT={remat}" for batch in (1, 2) for remat in ("none", "a/b")
    ]


@pytest.mark.parametrize("values", ["2..60", "2,8,15,16,17,32,60"])
def test_largest_value_that_fits_is_found(values: str, dump: Path, tmp_path: Path) -> None:
    found = _swept(dump, tmp_path, "--each", f"BATCH={values}", "--fit", "50KiB")
    fitting = [row["program"] for row in found.json["programs"] if row["headroom_bytes"] >= 0]
    best = max(fitting, key=lambda label: int(label.partition("=")[2]))
    assert best == "BATCH=16"
    assert len(found.json["programs"]) <= 6


def test_program_out_of_memory_does_not_fit(dump: Path, tmp_path: Path) -> None:
    found = _swept(dump, tmp_path, "--each", "BATCH=1,60")
    assert found.status == 0
    assert [row["problem"] for row in found.json["programs"]] == [None, "out of memory"]


def test_failed_run_ends_a_search(dump: Path, tmp_path: Path) -> None:
    program = sys.executable, "-c", "raise SystemExit(3)"
    each = "--each", "BATCH=1..99", "--fit", "1GiB", "--format", "json"
    found = run_process("run", "-o", tmp_path, *each, "--", *program)
    assert found.status == 1
    assert [row["problem"] for row in found.json["programs"]] == ["failed with status 3"]


def test_failed_program_is_named(dump: Path, tmp_path: Path) -> None:
    found = _swept(dump, tmp_path, "--each", "BATCH=1,x")
    assert found.status == 1
    assert found.json["programs"][1]["problem"] == "failed with status 1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--each", "BATCH"], "write NAME=VALUE,VALUE"),
        (["--each", "A=1..5"], "a range needs --fit"),
        (["--each", "A=b,c", "--fit", "1GiB"], "--fit needs one variable with several numbers"),
        (["--each", "A=1,2", "--each", "B=1,2", "--fit", "1GiB"], "--fit needs one variable"),
        (["--each", "A=1,2", "--fit", "much"], "write a size"),
        (["--fit", "1GiB"], "--fit needs --each"),
        (["--each", "A=1", "--each", "A=2"], "two lists of values"),
        (["--each", "A=1,"], "write NAME=VALUE,VALUE"),
    ],
)
def test_wrong_use_is_an_error(options: list[str], message: str, tmp_path: Path) -> None:
    found = run("run", "-o", tmp_path, *options, "--", sys.executable, "-c", "")
    assert (found.status, found.out) == (2, "")
    assert message in found.err


def test_table_has_a_row_for_each_path(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in dump.iterdir():
        (other / path.name).write_text(path.read_text("utf-8").replace("size 3072", "size 6144"))
    found = run("summary", "--table", dump, other, "--chip", "v5e", "--format", "json")
    assert found.status == 0
    rows = found.json["programs"]
    assert [row["program"] for row in rows] == [str(dump), str(other)]
    assert [row["allocated_bytes"] for row in rows] == [5120, 8192]
    capacity = int(15.75 * (1 << 30))
    assert [row["headroom_bytes"] for row in rows] == [capacity - 5120, capacity - 8192]
    assert "headroom" in run("summary", "--table", dump, other, "--chip", "v5e").out
