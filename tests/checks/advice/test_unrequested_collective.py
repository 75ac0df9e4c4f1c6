"""Tests for ``unrequested-collective``."""

from checks.advised import advice

_BEFORE = """\
HloModule m, num_partitions=4

ENTRY %e {
  %a = f32[8,8] parameter(0), sharding={mesh['x'=4], [{'x'}, {}]}, metadata={op_name="a"}
  %b = f32[8,8] parameter(1), sharding={mesh['x'=4], [{}, {'x'}]}, metadata={op_name="b"}
  ROOT %sum = f32[8,8] add(%a, %b), metadata={op_name="add"}
}
"""
_AFTER = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %e {
  %a.1 = f32[2,8] parameter(0), metadata={op_name="a"}
  %b.1 = f32[8,2] parameter(1), metadata={op_name="b"}
  %moved = f32[2,8] all-to-all(%b.1), channel_id=1, replica_groups={}, metadata={op_name="add"}
  ROOT %sum.1 = f32[2,8] add(%a.1, %moved), metadata={op_name="add"}
}
"""


def test_collective_that_no_annotation_asks_for_is_reported() -> None:
    assert advice("unrequested-collective", _AFTER, before=_BEFORE, size=256) == [
        (
            "unrequested-collective",
            "6:   %»moved« = f32[2,8] all-to-all(%b.1), channel_id=1, replica_groups={}, "
            'metadata={op_name="add"}',
            "Exchanges argument b, cut in dim 1 over x, which no annotation asks for: the operands "
            "of `sum` before optimizations are cut over x in dim 0 (`a`) and in dim 1 (`b`). Cut "
            "both in one dimension",
        )
    ]


def test_small_array_is_not_reported() -> None:
    assert advice("unrequested-collective", _AFTER, before=_BEFORE, size=257) == []


def test_shardings_are_needed_for_the_rule() -> None:
    assert advice("unrequested-collective", _AFTER, size=1) == []
