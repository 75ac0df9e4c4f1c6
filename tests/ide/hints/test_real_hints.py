"""Inlay hints of real dumps: their position, length, and agreement with the dump."""

from pathlib import Path

import pytest

from dumps import module_files
from hlo_lsp.ide.inlay_hints import HintKind, hints
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.text import disk

_LONGEST_LABEL = 100
_SAMPLE_INTERVAL = 40  # in files; most programs are compiled for several backends


@pytest.mark.corpus
def test_real_hints_are_short_and_inside_lines(corpus_small: Path) -> None:
    kinds = set()
    memory = corpus_small.rglob("*after_optimizations-*.txt")
    modules = [path for path in module_files(corpus_small) if "after_" in path.name]
    for path in [*modules[::_SAMPLE_INTERVAL], *sorted(memory)[::_SAMPLE_INTERVAL]]:
        file = DumpFile.of_text(disk.read_document(path).text, path.name)
        places = []
        for part in hints(Compile([file]), file):
            for hint in part:
                assert 0 <= hint.column <= len(file.lines[hint.line])
                assert 0 < len(hint.label) < _LONGEST_LABEL
                assert not isinstance(file.records.at(hint.line), BrokenRecord)
                assert hint.tooltip
                places.append((hint.line, hint.column, hint.kind))
                kinds.add(hint.kind)
        assert len(places) == len(set(places)), path
    assert kinds >= {HintKind.PADDED_SIZE, HintKind.SOURCE, HintKind.OPERAND_SHAPE}
