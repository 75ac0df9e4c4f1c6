"""Collectives because an operation combines arrays that are cut in different dimensions."""

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.sharding_conflicts import unrequested_collectives

_MESH = "mesh['x'=2,'y'=2]"
_BEFORE = f"""\
HloModule m, num_partitions=4

ENTRY %e {{
  %a = f32[8,8] parameter(0), sharding={{{_MESH}, [{{'x'}}, {{}}]}}
  %b = f32[8,8] parameter(1), sharding={{{_MESH}, [{{}}, {{'x'}}]}}
  %zero = f32[] constant(0)
  %zeros = f32[8,8] broadcast(%zero), dimensions={{}}
  %s = f32[8,8] maximum(%a, %zeros)
  %c = f32[8,8] cosine(%b)
  ROOT %sum = f32[8,8] add(%s, %c), metadata={{op_name="add"}}
}}
"""
_AFTER = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %e {
  %a.1 = f32[4,8] parameter(0)
  %b.1 = f32[8,4] parameter(1)
  %c.1 = f32[8,4] cosine(%b.1), metadata={op_name="cos"}
  %moved = f32[4,8] all-to-all(%c.1), channel_id=1, replica_groups={{0,2},{1,3}}, \
metadata={op_name="add"}
  ROOT %sum.1 = f32[4,8] add(%a.1, %moved), metadata={op_name="add"}
}
"""


def _found(before: str, after: str = _AFTER) -> list[tuple[str, str, list[str]]]:
    file = DumpFile.of_text(after, "m.after_optimizations.txt")
    dump = Compile([file], others=[DumpFile.of_text(before, "m.before_optimizations.txt")])
    return [
        (one.operation.name, one.axis, [line.record.name for line in lines])
        for one, lines in unrequested_collectives(dump, file).items()
    ]


def test_another_operation_of_the_line_may_need_the_collective() -> None:
    same = '%t = f32[8,8] add(%b, %b), metadata={op_name="add"}\n  ROOT'
    assert _found(_BEFORE.replace("ROOT", same)) == []


def test_operands_cut_over_one_axis_in_different_dimensions_conflict() -> None:
    assert _found(_BEFORE) == [("sum", "x", ["moved"])]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[{}, {'x'}]", "[{'x'}, {'y'}]"),  # a part of the other
        ("[{}, {'x'}]", "[{}, {'y'}]"),  # the result is cut in both
        ("[{}, {'x'}]", "[{}, {}]"),
        ("ROOT %sum = f32[8,8] add(%s, %c)", "ROOT %sum = f32[8,8] dot(%s, %c)"),
        ("cosine(%b)", "transpose(%b)"),
        ("ROOT %sum", f"""\
ROOT %r = f32[8,8] custom-call(%sum), custom_call_target="Sharding", \
sharding={{{_MESH}, [{{'x'}}, {{}}]}}
  %sum"""),
        ("cosine(%b)", f"""\
custom-call(%b), custom_call_target="Sharding", sharding={{{_MESH}, [{{'x'}}, {{}}]}}"""),
    ],
)  # fmt: skip
def test_other_operands_do_not_conflict(old: str, new: str) -> None:
    assert old in _BEFORE
    assert _found(_BEFORE.replace(old, new)) == []


def test_operand_is_followed_into_a_call() -> None:
    called = "%f {\n  %p = f32[8,8] parameter(0)\n  %q = f32[8,8] parameter(1)\n"
    called += '  ROOT %sum = f32[8,8] add(%p, %q), metadata={op_name="add"}\n}\n\nENTRY'
    before = _BEFORE.replace("ENTRY", called).replace(
        'ROOT %sum = f32[8,8] add(%s, %c), metadata={op_name="add"}\n}\n"',
        "",
    )
    before = before.replace(
        "ROOT %sum = f32[8,8] add(%s, %c)", "ROOT %all = f32[8,8] call(%s, %c), to_apply=%f"
    )
    assert _found(before) == [("sum", "x", ["moved"])]


def test_requested_collective_is_not_reported() -> None:
    before = _BEFORE.replace("cosine(%b)", "all-to-all(%b), channel_id=1", 1).replace(
        "%c = f32[8,8] all-to-all(%b), channel_id=1",
        '%c = f32[8,8] all-to-all(%b), channel_id=1, metadata={op_name="add"}',
    )
    assert _found(before) == []
