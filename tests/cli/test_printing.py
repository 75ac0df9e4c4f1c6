"""What all commands print: blocks of lines, and messages."""

import sys

import pytest

from hlo_lsp.cli.printing import print_answer, print_blocks, print_errors

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
    assert capsys.readouterr().out == f"{_BLOCKS[0][0]}\n\ntwo words\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_answer("markdown", _BLOCKS, dict)
    assert capsys.readouterr().out == f"- {_BLOCKS[0][0].strip()}\n\ntwo words\n"


def test_many_paths_with_one_problem_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    errors = [f"{number}.txt: access denied" for number in range(12)]
    assert print_errors([*errors, "none: no such file", *errors]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["hlo-lsp: 0.txt: access denied", "hlo-lsp: 1.txt: access denied"]
    assert lines[-2:] == ["hlo-lsp: none: no such file", "hlo-lsp: 2 more paths: access denied"]
    assert len(lines) == 12
