"""Riegeli files, which no command reads."""

from pathlib import Path

import pytest

from cli.command import run

_CONTENT = b"\x83\xafp\xd1\r\x88J?" + b"\0" * 56
_NAME = "module_0001.jit_f.before_optimizations.hlo.riegeli"


@pytest.mark.parametrize(
    "command",
    [
        "summary PATH",
        "modules PATH",
        "diff PATH PATH",
        "summary --timeline PATH",
        "cost --collectives PATH",
        "history PATH",
        "find x PATH",
        "inspect PATH x",
        "oom PATH",
        "oom LOG PATH",
        "report -o OUT.folded PATH",
        "report PATH",
        "inspect PATH",
        "text PATH",
        "check -j 1 PATH",
    ],
)
def test_command_says_how_to_get_text(command: str, tmp_path: Path) -> None:
    path, log = tmp_path / _NAME, tmp_path / "train.log"
    path.write_bytes(_CONTENT)
    log.write_text("Failed to allocate request for 1.00GiB on device ordinal 0\n")
    words = command.replace("PATH", str(path)).replace("LOG", str(log))
    found = run(*words.split(), cwd=tmp_path)
    assert found.status == 2
    assert f"{path}: this is a Riegeli file" in found.err
    assert "--xla_dump_hlo_as_text" in found.err


@pytest.mark.parametrize("command", ["summary", "modules", "check -j 1"])
def test_file_in_folder_is_skipped(command: str, tmp_path: Path) -> None:
    (tmp_path / _NAME).write_bytes(_CONTENT)
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(
        "HloModule jit_f\n\nENTRY main {\n  ROOT a = f32[4] parameter(0)\n}\n"
    )
    found = run(*command.split(), tmp_path)
    assert found.status == 0
    assert "iegeli" not in found.err
