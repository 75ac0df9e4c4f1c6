"""Every name in a record, at its place, in the order in which they stand there."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.renaming import NameMention, name_mentions
from hlo_lsp.syntax.records import Record

MANY = 30_000  # operands of one statement, as tuples of whole models have them
BREAKS = st.sampled_from(["", " ", "\n", "\n    ", " /*index=5*/", " // and %more\n  "])


def read(statement: str) -> list[NameMention]:
    """The names in a statement of a computation."""
    file = DumpFile.of_text(f"HloModule m\n\nENTRY %main {{\n{statement}\n}}\n")
    records: list[Record] = [*file.module.instructions.records(), *file.module.damaged]
    (record,) = records
    return standing(file, record)


def standing(file: DumpFile, record: Record) -> list[NameMention]:
    """The names in a record, each of which stands where it is said to stand."""
    found = list(name_mentions(file, record))
    for naming in found:
        place = naming.place
        assert file.lines[place.line][place.start : place.end] == naming.name
    return found


def names(found: list[NameMention], *, computation_attributes: bool = False) -> list[str]:
    return [naming.name for naming in found if naming.is_computation is computation_attributes]


@given(st.lists(BREAKS, min_size=1, max_size=8))
def test_operands_are_found_wherever_the_line_breaks(breaks: list[str]) -> None:
    operands = ",".join(f"{space}%o.{number}" for number, space in enumerate(breaks))
    found = read(f"  %t = (f32[]) tuple({operands}), control-predecessors={{%p, %t.1}}")
    assert names(found) == ["t", *(f"o.{number}" for number in range(len(breaks))), "p", "t.1"]
    assert [naming.name for naming in found if naming.is_definition] == ["t"]


def test_operands_that_are_written_out_are_left_to_be_named_themselves() -> None:
    found = read("  %r = f32[] add(f32[] %a, f32[] negate(f32[] subtract(%b,\n %a))), calls=%f")
    assert names(found) == ["r", "a", "b", "a"]
    assert names(found, computation_attributes=True) == ["f"]


@pytest.mark.parametrize("separator", [", ", ",\n    "])
def test_tens_of_thousands_of_operands_stand_where_they_stand(separator: str) -> None:
    operands = [f"p.{number}" for number in range(MANY)]
    found = read(f"  ROOT %t = (f32[]) tuple({separator.join(operands)})")
    assert names(found) == ["t", *operands]
    lines = {naming.place.line for naming in found}
    assert len(lines) == (1 if separator == ", " else MANY)


def test_tens_of_thousands_of_parameters_stand_in_a_signature() -> None:
    parameters = [f"p.{number}" for number in range(MANY)]
    signature = ", ".join(f"{name}: f32[]" for name in parameters)
    file = DumpFile.of_text(f"HloModule m\n\n%f ({signature}) -> f32[] {{\n}}\n")
    (head,) = file.module.computations.records()
    found = standing(file, head)
    assert names(found, computation_attributes=True) == ["f"]
    assert names(found) == parameters


def test_a_broken_statement_names_computations_behind_the_attributes_that_call_them() -> None:
    found = read(
        "  %c = f32[] conditional(%i, %a, %b, branch_computations={%f,\n"
        '    %g}, control-predecessors={%a}, to_apply=%h, %d, metadata={op_name="%e calls={"}, %j'
    )
    assert names(found, computation_attributes=True) == ["f", "g", "h"]
    assert names(found) == ["c", "i", "a", "b", "a", "d", "j"]
    assert not any(naming.is_definition for naming in found)


def test_tens_of_thousands_of_names_stand_in_a_broken_statement() -> None:
    operands = [f"p.{number}" for number in range(MANY)]
    called = [f"f.{number}" for number in range(MANY)]
    lists = (", ".join(f"%{name}" for name in each) for each in (operands, called))
    found = read("  %t = f32[] tuple({}), called_computations={{{}".format(*lists))
    assert names(found) == ["t", *operands]
    assert names(found, computation_attributes=True) == called
    assert list(chain(names(found), called)) == [naming.name for naming in found]
