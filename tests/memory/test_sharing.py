"""Values that share bytes."""

from hlo_lsp.memory.sharing import most_shared_offset, values_sharing_memory
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

TEXT = """\
BufferAssignment:
allocation 0: size 1024, preallocated-temp:
 value: <1 a @0> (size=512,offset=0): f32[128]{0}
 value: <2 b{} @0> (size=512,offset=512): f32[128]{0}
 value: <3 c @0> (size=256,offset=256): f32[64]{0}
 value: <4 d @0> (size=1024,offset=0): f32[256]{0}
 value: <5 e @0> (size=0,offset=0): f32[0]{0}
 value: <6 f @0> (size=0,offset=0): f32[0]{0}
 value: <7 g @0> (size=256,offset=512): f32[64]{0}
allocation 1: size 512, preallocated-temp:
 value: <8 h @0> (size=512,offset=0): f32[128]{0}
allocation 2: size 8, thread-local:
HloLiveRange (max 9):
  BufferLiveRange:
    a{}:4-6
    b{}:2-9
    c{}:7-8
    d{}:0-1
    h{}:0-9
"""


def _dump(text: str = TEXT) -> Compile:
    return Compile([DumpFile.of_text(text)])


def _sharing_keys(value_id: int) -> list[str]:
    dump = _dump()
    value = dump.value(value_id)
    assert value is not None
    return [other.name for other in values_sharing_memory(dump, value)]


def test_overlapping_values_are_sorted_by_start_step() -> None:
    assert _sharing_keys(1) == ["d", "c"]
    assert _sharing_keys(3) == ["d", "a"]


def test_values_without_a_live_range_come_first() -> None:
    assert _sharing_keys(4) == ["g", "b", "a", "c"]


def test_adjacent_values_do_not_share() -> None:
    assert "b" not in _sharing_keys(1)
    assert _sharing_keys(2) == ["g", "d"]


def test_empty_value_shares_nothing() -> None:
    assert _sharing_keys(5) == []


def test_other_allocations_do_not_share() -> None:
    assert _sharing_keys(8) == []


def test_unassigned_value_shares_nothing() -> None:
    text = "<1 a @0>\n positions:\n  a\n uses:\n from instruction: %a = f32[2] add(%b)\n"
    dump = _dump(text)
    value = dump.value(1)
    assert value is not None
    assert values_sharing_memory(dump, value) == []


def test_most_shared_offset_is_first_maximum() -> None:
    dump = _dump()
    crowded = [most_shared_offset(dump, allocation) for allocation in dump.allocations()]
    # At 0 and at 512 begin two values each; those without bytes do not count.
    assert crowded == [(0, 2), None, None]
