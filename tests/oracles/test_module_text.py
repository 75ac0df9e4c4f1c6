"""Tests for the parsing of every module text of the corpus, compared with XLA's own parser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.libtpu_syntax import OpenText, remove_libtpu_syntax
from oracles.module_comparison import assert_same_module, with_opcodes
from oracles.xla_parser import (
    XlaModule,
    XlaParseError,
    is_readable,
    parse_with_xla,
    reads_elements,
)

pytestmark = pytest.mark.corpus


def test_every_module_matches_xla_parser(folder: Path) -> None:
    for path, text, open_text in _modules(folder):
        theirs = with_opcodes(parse_with_xla(open_text.text), open_text.replaced_opcodes)
        ours = DumpFile.of_text(text).module
        assert_same_module(ours, theirs, path)
        _assert_printed_entry_and_roots(ours, theirs)


@pytest.mark.parametrize("form", ["compact", "full"])
def test_both_forms_of_elements_match_xla_parser(form: str, corpus_compact_gte: Path) -> None:
    count = 0
    for path, text, open_text in _modules(corpus_compact_gte / form):
        theirs = with_opcodes(parse_with_xla(open_text.text), open_text.replaced_opcodes)
        assert_same_module(DumpFile.of_text(text).module, theirs, path)
        count += 1
    assert count


def test_xla_parser_rejects_only_libtpu_syntax(folder: Path) -> None:
    """Parsers from jaxlib 0.11 on accept a part of that syntax."""
    for path, text, open_text in _modules(folder):
        if open_text.reasons:
            assert reads_elements() or _is_rejected(text), path
        else:  # The first test parses the same text.
            assert open_text.text == text, path


def _assert_printed_entry_and_roots(ours: ModuleIndex, theirs: XlaModule) -> None:
    """Assert that ENTRY and every ROOT are printed, so that none follows from its position."""
    assert [each.name for each in ours.all_computations() if each.is_entry] == [theirs.entry]
    roots = {each.name for computation in theirs.computations for each in computation.instructions
             if each.is_root}  # fmt: skip
    assert {each.name for each in ours.instructions.records() if each.is_root} == roots


def _is_rejected(text: str) -> bool:
    try:
        parse_with_xla(text)
    except XlaParseError:
        return True
    return False


def _modules(folder: Path) -> Iterator[tuple[Path, str, OpenText]]:
    """Yield the module texts that the installed parser can read, also without libtpu's syntax."""
    for path in files_of(folder, FileKind.MODULE):
        text = path.read_bytes().decode()
        if is_readable(text):
            yield path, text, remove_libtpu_syntax(text)
