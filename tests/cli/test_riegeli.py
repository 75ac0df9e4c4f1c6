"""Riegeli files, which no command reads."""

from importlib import import_module
from pathlib import Path

import pytest

from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.options import argument_parser

_CONTENT = b"\x83\xafp\xd1\r\x88J?" + b"\0" * 56
_NAME = "module_0001.jit_f.before_optimizations.hlo.riegeli"


def _run(arguments: list[str]) -> int:
    """Run a command in this process, and return its exit status."""
    options = argument_parser().parse_args(arguments)
    try:
        status: int = import_module(f"hlo_lsp.cli.{options.command}").run(options)
    except CommandError as error:
        raise SystemExit(str(error)) from None
    return status


@pytest.mark.parametrize(
    "command",
    [
        "summary PATH",
        "modules PATH",
        "diff PATH PATH",
        "timeline PATH",
        "overlap PATH",
        "history PATH",
        "find x PATH",
        "why PATH x",
        "oom PATH",
        "oom LOG PATH",
        "export --folded PATH",
        "report PATH",
        "inspect PATH",
        "text PATH",
        "check -j 1 PATH",
    ],
)
def test_command_says_how_to_get_text(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, log = tmp_path / _NAME, tmp_path / "train.log"
    path.write_bytes(_CONTENT)
    log.write_text("Failed to allocate request for 1.00GiB on device ordinal 0\n")
    words = command.replace("PATH", str(path)).replace("LOG", str(log))
    try:
        assert _run(words.split()) == 2
        message = capsys.readouterr().err
    except SystemExit as error:
        message = str(error.code)
    assert f"{path}: this is a Riegeli file" in message
    assert "--xla_dump_hlo_as_text" in message


@pytest.mark.parametrize("command", ["summary", "modules", "check -j 1"])
def test_file_in_folder_is_skipped(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / _NAME).write_bytes(_CONTENT)
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(
        "HloModule jit_f\n\nENTRY main {\n  ROOT a = f32[4] parameter(0)\n}\n"
    )
    assert _run([*command.split(), str(tmp_path)]) == 0
    assert "iegeli" not in capsys.readouterr().err
