"""Tests for operands such as ``%tuple#1``, which stand for ``get-tuple-element`` instructions."""

import pytest

from hlo_lsp.model import name_index
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.unprinted_instructions import TupleElement, element_of, element_position
from hlo_lsp.syntax.module_records import InstructionLine

TEXT = """\
HloModule m

ENTRY %main (p: (f32[8], (s32[], f32[4]))) -> f32[4] {
  %p = (f32[8]{0}, (s32[], /*index=1*/f32[4]{0})) parameter(0)
  %n = f32[8]{0} negate(%p#0)
  %m = f32[4]{0} add(%p#1#1, p#1#1)
  %w = (f32[8]{0}, (s32[], f32[4]{0})) copy(%p)
  ROOT %r = f32[4]{0} tanh(f32[4]{0} %p#1#1)
}
"""


@pytest.fixture
def file() -> DumpFile:
    return DumpFile.of_text(TEXT, "m.txt")


def instruction(file: DumpFile, name: str) -> InstructionLine:
    found = file.module.instructions.first(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("user", "name", "shape"),
    [("n", "p#0", "f32[8]{0}"), ("m", "p#1#1", "f32[4]{0}"), ("r", "p#1#1", "f32[4]{0}")],
)
def test_operand_is_element_of_tuple(file: DumpFile, user: str, name: str, shape: str) -> None:
    operand = file.module.operands(instruction(file, user))[0]
    assert isinstance(operand, TupleElement)
    assert (operand.name, operand.shape, operand.opcode) == (name, shape, "get-tuple-element")
    assert operand.line == 3
    assert operand.printed is instruction(file, "p")


def test_both_readers_find_the_same_element(file: DumpFile) -> None:
    user = instruction(file, "m")
    assert user.operands == ("p#1#1", "p#1#1")
    assert tuple(span.text for span in user.parsed.operands) == user.operands
    one, other = file.module.operands(user)
    assert one is other


def test_element_reads_its_tuple(file: DumpFile) -> None:
    inner = file.module.operands(instruction(file, "m"))[0]
    assert inner is not None
    (outer,) = file.module.operands(inner)
    assert outer is not None
    assert (inner.operands, outer.name, outer.operands) == (("p#1",), "p#1", ("p",))
    assert file.module.operands(outer) == [instruction(file, "p")]


@pytest.mark.parametrize("searches", [0, 1_000_000])
def test_users_of_tuple_are_its_elements(
    file: DumpFile, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_index, "_MANY_INSTRUCTIONS", 0)
    monkeypatch.setattr(name_index, "_MAX_SEARCHES", searches)
    module, p = file.module, instruction(file, "p")
    assert [user.name for user in module.users(p)] == ["p#0", "p#1", "w"]
    second = element_of(p, 1)
    assert second is not None
    (inner,) = module.users(second)
    assert inner.name == "p#1#1"
    assert [user.name for user in module.users(inner)] == ["m", "r"]


def test_missing_element_is_none(file: DumpFile) -> None:
    assert element_of(instruction(file, "p"), 2) is None
    assert element_of(instruction(file, "n"), 0) is None


def test_edit_of_tuple_makes_another_element(file: DumpFile) -> None:
    before = element_of(instruction(file, "p"), 0)
    column = file.lines[3].index("f32[8]")
    file.changed(file.document.edit((3, column), (3, column + 6), "f32[9]"))
    file.refresh()
    after = file.module.operands(instruction(file, "n"))[0]
    assert after is not before
    assert after is not None
    assert after.shape == "f32[9]{0}"


@pytest.mark.parametrize(
    ("operand", "index", "position"),
    [
        ("p", None, ("p", None)),
        ("p", "{1}", ("p", "{1}")),
        ("p#0", None, ("p", "{0}")),
        ("p#1", "{}", ("p", "{1}")),
        ("p#1#0", "{2,3}", ("p", "{1,0,2,3}")),
    ],
)
def test_position_of_element(
    operand: str, index: str | None, position: tuple[str, str | None]
) -> None:
    assert element_position(operand, index) == position
