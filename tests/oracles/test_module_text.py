"""What we read from module text is what XLA's own parser reads, for every text of the corpus."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.agreement import assert_agreement
from oracles.libtpu_syntax import OpenText, opened
from oracles.xla import RefusedError, XlaModule, read_by_xla

pytestmark = pytest.mark.corpus


def test_every_module_says_what_xla_reads(folder: Path) -> None:
    for path, text, open_text in _modules(folder):
        theirs = _with_opcodes(read_by_xla(open_text.text), open_text.stand_ins)
        ours = DumpFile.of_text(text).module
        assert_agreement(ours, theirs, path)
        _assert_marks(ours, theirs)


def test_a_module_of_22_mb_says_what_xla_reads(train_l96: Path) -> None:
    texts = list(_modules(train_l96))
    assert len(texts) == 2
    for path, text, _ in texts:
        assert_agreement(DumpFile.of_text(text).module, read_by_xla(text), path)


def test_xla_refuses_what_is_known_to_be_syntax_of_libtpu_and_nothing_else(folder: Path) -> None:
    for path, text, open_text in _modules(folder):
        assert _is_refused(text) == bool(open_text.reasons), path


def test_the_syntax_of_libtpu_in_the_corpus(corpus_small: Path) -> None:
    found = Counter(
        reason for _, _, open_text in _modules(corpus_small) for reason in open_text.reasons
    )
    assert found == {
        "order=TOTAL of a comparison": 6,
        "is_stable of topk": 2,
        "backend_config of the module": 4,
        "async-update with operands": 2,
    }


def _assert_marks(ours: ModuleIndex, theirs: XlaModule) -> None:
    """What is printed has ENTRY and every ROOT in it: nothing was told by its place alone."""
    assert [each.name for each in ours.all_computations() if each.is_entry] == [theirs.entry]
    roots = {each.name for computation in theirs.computations for each in computation.instructions
             if each.is_root}  # fmt: skip
    assert {each.name for each in ours.instructions.records() if each.is_root} == roots


def _is_refused(text: str) -> bool:
    try:
        read_by_xla(text)
    except RefusedError:
        return True
    return False


def _modules(folder: Path) -> Iterator[tuple[Path, str, OpenText]]:
    for path in files_of(folder, FileKind.MODULE):
        text = path.read_bytes().decode()
        yield path, text, opened(text)


def _with_opcodes(module: XlaModule, opcodes: dict[str, str]) -> XlaModule:
    """The module with the real opcodes of instructions that became custom calls for the parser."""
    if not opcodes:
        return module
    return replace(
        module,
        computations=tuple(
            replace(
                computation,
                instructions=tuple(
                    replace(each, opcode=opcodes.get(each.name, each.opcode))
                    for each in computation.instructions
                ),
            )
            for computation in module.computations
        ),
    )
