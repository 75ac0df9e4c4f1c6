"""What all commands print: blocks of lines."""

import sys

import pytest

from hlo_lsp.cli.dumps import print_blocks

_BLOCKS = [["  jit(train)/transpose(jvp())/dot_general 1.00 MiB"], ["two words"]]


def test_terminal_wraps_lines_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_blocks(_BLOCKS)
    assert capsys.readouterr().out == (
        "  jit(train)/transpose(jvp())/\n      dot_general 1.00 MiB\n\ntwo words\n"
    )


def test_pipe_and_markdown_keep_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    print_blocks(_BLOCKS)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_blocks(_BLOCKS, wraps=False)
    assert capsys.readouterr().out == f"{_BLOCKS[0][0]}\n\ntwo words\n" * 2
