"""The fields of lines at columns."""

import pytest

from hlo_lsp.syntax.line_fields import (
    LineField,
    array_shape_at,
    field_at,
    fields_of_line,
    memory_space_at,
)
from marks import mark

_VALUE = mark(
    """
     value: <328 fusion.40{0} (phi) @1> (size=512,offset=49152): (u32[1]{0:T(128)S(1)}, s8[])
             ^^^ VALUE_ID    ^^^^^^ PHI       ^^^ SIZE
                 ^^^^^^^^^ NAME      ^ COLOR             ^^^^^ OFFSET
                          ^^^ INDEX                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ SHAPE
    """
)
_RULE = "assigned_value_line"


def test_fields_are_ordered_and_have_columns() -> None:
    line = _VALUE.lines[0]
    found = fields_of_line(_RULE, line)
    assert [field.role for field in found] == [
        "VALUE_ID", "NAME", "INDEX", "PHI", "COLOR", "SIZE", "OFFSET", "SHAPE",
    ]  # fmt: skip
    for field in found:
        assert (field.start, field.end) == (_VALUE[field.role].start, _VALUE[field.role].end)
        assert line[field.start : field.end] == field.text


def test_a_line_of_another_rule_has_no_fields() -> None:
    assert fields_of_line(_RULE, "allocation 0: size 512:") == []
    assert fields_of_line("no_such_rule", _VALUE.lines[0]) == []


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (_VALUE["VALUE_ID"].start - 1, None),
        (_VALUE["VALUE_ID"].start, "VALUE_ID"),
        (_VALUE["VALUE_ID"].end, "VALUE_ID"),
        (_VALUE["NAME"].end - 1, "NAME"),
        (_VALUE["NAME"].end, "INDEX"),  # the field that begins here precedes the one that ends here
        (_VALUE["INDEX"].end, "PHI"),
        (len(_VALUE.lines[0]), "SHAPE"),
    ],
)
def test_the_field_under_a_column(column: int, role: str | None) -> None:
    found = field_at(_RULE, _VALUE.lines[0], column)
    assert (None if found is None else found.role) == role


def test_the_leaf_of_a_tuple_under_a_column() -> None:
    shape = field_at(_RULE, _VALUE.lines[0], len(_VALUE.lines[0]))
    assert shape is not None
    texts = [array_shape_at(shape, column).text for column in range(shape.start, shape.end + 1)]
    assert texts[0] == texts[-1] == shape.text
    assert texts[1] == texts[20] == "u32[1]{0:T(128)S(1)}"
    assert texts[-2] == "s8[]"


def test_the_memory_space_under_a_column() -> None:
    line = _VALUE.lines[0]
    shape = field_at(_RULE, line, len(line))
    assert shape is not None
    at = line.index("S(1)")
    found = memory_space_at(shape, at + 2)
    assert found == (LineField("MEMORY_SPACE", at, at + 4, "S(1)"), 1)
    assert memory_space_at(shape, shape.start) is None
