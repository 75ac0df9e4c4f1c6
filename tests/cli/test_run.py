"""``hlo-lsp run``: the flags, the output of the program, and what is shown at the end."""

import sys
from pathlib import Path

import pytest

from cli.command import run_process
from hlo_lsp.cli.program_run import dump_flags, dump_folder
from oom_messages import GPU

# A program that copies a dump to where XLA would write it.
_PROGRAM = """\
import os, shutil, sys
folder = os.environ["XLA_FLAGS"].split("--xla_dump_to=")[1].split()[0]
for name in os.listdir(sys.argv[1]):
    shutil.copy(os.path.join(sys.argv[1], name), folder)
print("out")
print("err", file=sys.stderr)
"""


def test_flags_of_the_user_are_kept() -> None:
    flags = dump_flags("--xla_a=1 --xla_dump_to=/old", Path("/new"))
    assert flags == "--xla_a=1 --xla_dump_to=/new --xla_dump_hlo_as_text"


@pytest.mark.parametrize(
    ("flags", "output", "folder"),
    [
        ("", None, "hlo-dumps"),
        ("--xla_dump_to=/d", None, "/d"),
        ("--xla_dump_to=/d", "e", "e"),
        ("--xla_dump_to=-", None, "hlo-dumps"),
    ],
)
def test_folder_for_dumps(flags: str, output: str | None, folder: str) -> None:
    assert dump_folder(flags, output) == Path(folder)


def test_summary_follows_the_output(dump: Path, tmp_path: Path) -> None:
    found = run_process("run", "-o", tmp_path / "new", "--", sys.executable, "-c", _PROGRAM, dump)
    assert (found.status, found.out) == (0, "out\n")
    assert found.err.startswith("err\n")
    assert "peak of HBM 5.0 KiB at step 2" in found.err


def test_status_is_that_of_the_program(tmp_path: Path) -> None:
    found = run_process("run", "-o", tmp_path, "--", sys.executable, "-c", "raise SystemExit(3)")
    assert found.status == 3
    assert "XLA wrote no dumps" in found.err
    assert "dumps are in" not in found.err


def test_out_of_memory_message_is_explained(tmp_path: Path) -> None:
    program = f"import sys; sys.stderr.write({GPU!r}); sys.exit(1)"
    found = run_process("run", "-o", tmp_path, "--", sys.executable, "-c", program)
    assert found.status == 1
    assert found.err.startswith(GPU)
    assert "\njit_concatenate: an allocation" in found.err[len(GPU) :]


def test_missing_program_is_reported(tmp_path: Path) -> None:
    found = run_process("run", "-o", tmp_path, "--", tmp_path / "absent")
    assert (found.status, found.err.count("\n")) == (127, 1)
    assert "program not found" in found.err


def test_program_is_required() -> None:
    found = run_process("run")
    assert (found.status, found.err) == (2, "hlo-lsp: no program: write it after --\n")


def test_old_dumps_are_not_shown(dump: Path) -> None:
    found = run_process("run", "-o", dump, "--", sys.executable, "-c", "pass")
    assert "XLA wrote no dumps" in found.err


def test_dumps_of_earlier_run_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.bin"):
        (folder / name).write_text("x", "utf-8")
    code = f"open({str(folder / 'a.txt')!r}, 'w').write('longer')"
    found = run_process("run", "-o", folder, "--", sys.executable, "-c", code)
    assert "1 file of an earlier run replaced, 1 file of an earlier run kept" in found.err
