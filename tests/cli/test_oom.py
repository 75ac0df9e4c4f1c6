"""``hlo-lsp oom``."""

import subprocess
from pathlib import Path

from cli.command import run
from e2e.process import COMMAND
from oom_messages import CPU_DUMP, DUMP, LONG, OOM, SHORT, text_of


def test_message_and_dump_are_joined() -> None:
    ended = run("oom", OOM / f"{LONG}.txt", DUMP)
    assert ended.status == 0
    assert "oom2.py:16 13.50 GiB" in ended.out
    assert ended.err == ""


def test_dump_beside_log_is_found(tmp_path: Path) -> None:
    for path in DUMP.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    log = tmp_path / "train.log"
    log.write_text("step 1\n" + text_of(LONG), "utf-8")
    found = run("oom", log, "--format", "json").json
    assert found["entries"][0]["allocation"] == 33


def test_file_of_dump_is_explained() -> None:
    (path,) = DUMP.glob("*.oom_top_memory*")
    found = run("oom", path, "--format", "json").json
    assert (found["module"], found["entries"][0]["allocation"]) == ("jit_train_step", 33)


def test_standard_input_is_read() -> None:
    ended = subprocess.run(
        [*COMMAND, "oom", "-"],
        input=text_of(SHORT),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0
    assert ended.stdout.startswith("jit_train_step: not enough HBM")


def test_log_without_message_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("step 1\n", "utf-8")
    ended = run("oom", log)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == f"hlo-lsp: {log}: no out-of-memory message found\n"


def test_missing_log_is_usage_error(tmp_path: Path) -> None:
    ended = run("oom", tmp_path / "none.log")
    assert ended.status == 2
    assert "No such file" in ended.err


def test_missing_dumps_are_usage_error(tmp_path: Path) -> None:
    ended = run("oom", OOM / f"{LONG}.txt", tmp_path / "none")
    assert ended.status == 2
    assert "no such file or folder" in ended.err


def test_foreign_dump_is_reported() -> None:
    ended = run("oom", OOM / "libtpu_0.0.37_hbm.txt", DUMP)
    assert ended.status == 0
    assert "no dump in these paths belongs to the message" in ended.err


def test_one_of_several_messages_is_chosen(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(text_of(SHORT) + "\n" + text_of(LONG), "utf-8")
    assert "message 2 of 2" in run("oom", log).err
    first = run("oom", log, "--message", "1")
    assert "needs 18.19 GiB" in first.out
    assert run("oom", log, "--message", "3").status == 2


def test_failed_allocation_of_cpu_is_found_in_dump() -> None:
    ended = run("oom", OOM / "cpu.txt", CPU_DUMP)
    assert ended.err == ""
    assert "allocation 0 of the dump has exactly these bytes" in ended.out
    assert "prog.py:4" in ended.out
