"""Names in records, with their places and order."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.renaming import NameMention, name_mentions
from hlo_lsp.syntax.records import Record

MANY = 30_000  # operands of one statement, as tuples of whole models have them
BREAKS = st.sampled_from(["", " ", "\n", "\n    ", " /*index=5*/", " // and %more\n  "])


def statement_mentions(statement: str) -> list[NameMention]:
    """Return the names in a statement of a computation."""
    file = DumpFile.of_text(f"HloModule m\n\nENTRY %main {{\n{statement}\n}}\n")
    records: list[Record] = [*file.module.instructions.records(), *file.module.damaged]
    (record,) = records
    return verified_mentions(file, record)


def verified_mentions(file: DumpFile, record: Record) -> list[NameMention]:
    """Return the names in a record, after a check of their places."""
    found = list(name_mentions(file, record))
    for mention in found:
        place = mention.place
        assert file.lines[place.line][place.start : place.end] == mention.name
    return found


def names(found: list[NameMention], *, computation_attributes: bool = False) -> list[str]:
    return [mention.name for mention in found if mention.is_computation is computation_attributes]


@given(st.lists(BREAKS, min_size=1, max_size=8))
def test_operands_are_found_across_line_breaks(breaks: list[str]) -> None:
    operands = ",".join(f"{space}%o.{number}" for number, space in enumerate(breaks))
    found = statement_mentions(
        f"  %t = (f32[]) tuple({operands}), control-predecessors={{%p, %t.1}}"
    )
    assert names(found) == ["t", *(f"o.{number}" for number in range(len(breaks))), "p", "t.1"]


def test_inline_operands_yield_nested_names() -> None:
    found = statement_mentions(
        "  %r = f32[] add(f32[] %a, f32[] negate(f32[] subtract(%b,\n %a))), calls=%f"
    )
    assert names(found) == ["r", "a", "b", "a"]
    assert names(found, computation_attributes=True) == ["f"]


@pytest.mark.parametrize("separator", [", ", ",\n    "])
def test_many_operands_have_correct_places(separator: str) -> None:
    operands = [f"p.{number}" for number in range(MANY)]
    found = statement_mentions(f"  ROOT %t = (f32[]) tuple({separator.join(operands)})")
    assert names(found) == ["t", *operands]
    lines = {mention.place.line for mention in found}
    assert len(lines) == (1 if separator == ", " else MANY)


def test_many_signature_parameters_have_correct_places() -> None:
    parameters = [f"p.{number}" for number in range(MANY)]
    signature = ", ".join(f"{name}: f32[]" for name in parameters)
    file = DumpFile.of_text(f"HloModule m\n\n%f ({signature}) -> f32[] {{\n}}\n")
    (head,) = file.module.computations.records()
    found = verified_mentions(file, head)
    assert names(found, computation_attributes=True) == ["f"]
    assert names(found) == parameters


def test_broken_statement_names_called_computations() -> None:
    found = statement_mentions(
        "  %c = f32[] conditional(%i, %a, %b, branch_computations={%f,\n"
        '    %g}, control-predecessors={%a}, to_apply=%h, %d, metadata={op_name="%e calls={"}, %j'
    )
    assert names(found, computation_attributes=True) == ["f", "g", "h"]
    assert names(found) == ["c", "i", "a", "b", "a", "d", "j"]


def test_many_names_in_broken_statement() -> None:
    operands = [f"p.{number}" for number in range(MANY)]
    called = [f"f.{number}" for number in range(MANY)]
    lists = (", ".join(f"%{name}" for name in each) for each in (operands, called))
    found = statement_mentions("  %t = f32[] tuple({}), called_computations={{{}".format(*lists))
    assert names(found) == ["t", *operands]
    assert names(found, computation_attributes=True) == called
    assert list(chain(names(found), called)) == [mention.name for mention in found]
