"""The fields of lines at columns."""

from hlo_lsp.syntax.scanners import fields_of_line
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


def test_line_of_another_rule_has_no_fields() -> None:
    assert fields_of_line(_RULE, "allocation 0: size 512:") == []
    assert fields_of_line("no_such_rule", _VALUE.lines[0]) == []
