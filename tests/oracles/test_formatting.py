"""Tests for formatting, after which XLA's parser reads the same module."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from dumps import files_of
from hlo_lsp.ide.formatting.formatting import format_module
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from ide.formatting.whitespace import vary_module_whitespace
from oracles.compiles import on_typical_folders
from oracles.libtpu_syntax import remove_libtpu_syntax

pytestmark = pytest.mark.corpus

_MAX_TEXT_BYTES = 60_000
_SAMPLE_INTERVAL = 8  # in modules


@on_typical_folders
def test_formatting_keeps_xla_parser_result(folder: Path) -> None:
    hlo = pytest.importorskip("jaxlib._hlo", reason="there is no jaxlib 0.10.2 for this Python")
    paths = [
        path for path in files_of(folder, FileKind.MODULE) if path.stat().st_size < _MAX_TEXT_BYTES
    ]
    for path in paths[::_SAMPLE_INTERVAL]:
        text = remove_libtpu_syntax(path.read_bytes().decode()).text
        rng = Random(path.name)
        joined = _join_lines(vary_module_whitespace(text, rng), rng)
        read = _parse_and_print(hlo, text)
        assert _parse_and_print(hlo, joined) == read
        once = _format(joined)
        assert _parse_and_print(hlo, once) == read, path
        assert _format(once) == once, path


def _join_lines(text: str, rng: Random) -> str:
    """Return the text with some statements joined on one line, and some empty lines."""
    ends = [rng.choice([" ", "\n\n", *["\n"] * 20]) for _ in text.split("\n")]
    return "".join(line + end for line, end in zip(text.split("\n"), ends, strict=True))


def _format(text: str) -> str:
    file = DumpFile.of_text(text)
    for edit in reversed(format_module(file)):
        file.document.edit(edit.start, edit.end, edit.text)
    return file.document.text


def _parse_and_print(hlo: Any, text: str) -> str:
    printed: str = hlo.hlo_module_from_text(text).to_string()
    return printed
