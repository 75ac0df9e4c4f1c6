"""What we read from module text is what XLA's own parser reads.

Names, opcodes, operands, callees, shapes, roots, order and entry, for every text of the corpus.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import Array, Shape, TupleShape, parse_shape
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from oracles.libtpu_syntax import OpenText, opened
from oracles.xla import RefusedError, XlaComputation, XlaInstruction, XlaModule, read_by_xla

pytestmark = pytest.mark.corpus


def test_every_module_says_what_xla_reads(folder: Path) -> None:
    for path, text, open_text in _modules(folder):
        ours = DumpFile.of_text(text).module
        _compare(ours, read_by_xla(open_text.text), open_text.stand_ins, path)


def test_a_module_of_22_mb_says_what_xla_reads(train_l96: Path) -> None:
    texts = list(_modules(train_l96))
    assert len(texts) == 2
    for path, text, open_text in texts:
        assert not open_text.reasons
        _compare(DumpFile.of_text(text).module, read_by_xla(text), {}, path)


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


def _compare(ours: ModuleIndex, theirs: XlaModule, stand_ins: dict[str, str], path: Path) -> None:
    computations = ours.all_computations()
    assert [each.name for each in computations if each.is_entry] == [theirs.entry], path
    assert [each.name for each in computations] == [each.name for each in theirs.computations], path
    for computation, expected in zip(computations, theirs.computations, strict=True):
        members = list(ours.members(computation))
        _compare_order(members, expected, computation, path)
        said = {member.name: member for member in members}
        for instruction in expected.instructions:
            _compare_instruction(said[instruction.name], instruction, stand_ins, path)


def _compare_order(
    members: list[InstructionLine],
    expected: XlaComputation,
    computation: ComputationLine,
    path: Path,
) -> None:
    names = [member.name for member in members]
    where = path, computation.name
    if expected.schedule is not None:
        assert names == list(expected.schedule), where
    # Without a schedule (and inside of fusions) XLA keeps no order but that of a walk from the
    # root along the operands.
    assert sorted(names) == sorted(each.name for each in expected.instructions), where


def _compare_instruction(
    ours: InstructionLine, theirs: XlaInstruction, stand_ins: dict[str, str], path: Path
) -> None:
    where = path, theirs.name
    assert ours.opcode == stand_ins.get(theirs.name, theirs.opcode), where
    assert ours.is_root == theirs.is_root, where
    assert tuple(ours.operands) == theirs.operands, where
    called = tuple(ours.called)
    if ours.opcode == "while":  # XLA stores body and condition, and prints condition and body
        called = called[::-1]
    assert called == theirs.called, where
    shape = parse_shape(ours.shape)
    if ours.opcode in {"send", "recv"}:
        shape = _made_anew(shape)
    assert shape == theirs.shape, where


def _made_anew(shape: Shape) -> Shape:
    """The shape of a send or recv: the parser makes it anew, its ``u32[]`` without a layout."""
    assert isinstance(shape, TupleShape)
    data, context, token = shape.elements
    assert isinstance(context, Array)
    return TupleShape((data, Array(context.element_type, context.dims, None), token))
