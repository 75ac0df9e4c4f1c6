"""The buffers at a step: every byte is counted once, and lost bytes add up."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.lost_bytes import lost_bytes
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_SIZE = 64  # bytes of the temp allocation
_STEPS = 8
_VALUES = st.lists(
    st.tuples(
        st.integers(0, _SIZE - 1), st.integers(1, _SIZE), st.integers(0, 7), st.integers(0, 7)
    ),
    max_size=6,
)


def _dump(values: list[tuple[int, int, int, int]]) -> Compile:
    """Return a dump with values of (offset, size, start step, length) in one temp allocation."""
    assignment = [
        "BufferAssignment:",
        "allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:",
    ]
    assignment.append(" value: <0 p @0> (size=16,offset=0): f32[4]{0:T(128)}")
    assignment.append(f"allocation 1: size {_SIZE}, preallocated-temp:")
    ranges = [f"HloLiveRange (max {_STEPS}):", "  InstructionSequence:"]
    ranges += [f"    {step}:i{step}" for step in range(_STEPS)]
    ranges += ["  BufferLiveRange:", f"    p{{}}:0-{_STEPS}"]
    for number, (offset, wanted, start, length) in enumerate(values, 1):
        size = min(wanted, _SIZE - offset)
        assignment.append(
            f" value: <{number} v{number} @0> (size={size},offset={offset}): s8[{size}]{{0}}"
        )
        ranges.append(f"    v{number}{{}}:{start}-{min(start + length, _STEPS)}")
    texts = ("\n".join(assignment) + "\n", "\n".join(ranges) + "\n")
    return Compile([DumpFile.of_text(text) for text in texts])


@given(_VALUES, st.integers(0, _STEPS))
def test_bytes_are_those_that_some_value_occupies(
    values: list[tuple[int, int, int, int]], step: int
) -> None:
    dump = _dump(values)
    occupied = {
        byte
        for offset, size, start, length in values
        if start <= step <= min(start + length, _STEPS)
        for byte in range(offset, min(offset + size, _SIZE))
    }
    buffers = live_buffers(dump, 0, step)
    assert sum(buffer.bytes for buffer in buffers) == 16 + len(occupied)
    (space,) = memory_space_occupancies(dump)
    assert space.bytes_at(step) == 16 + len(occupied)
    lost = lost_bytes(dump, 0, step)
    assert lost.total + lost.logical == 16 + _SIZE
    assert min(lost.array_padding, lost.tuple_table_slots, lost.alignment, lost.free) >= 0


def test_shared_bytes_belong_to_one_value() -> None:
    buffers = live_buffers(_dump([(0, 32, 0, 4), (0, 32, 2, 4), (16, 32, 0, 7)]), 0, 3)
    assert [(b.value and b.value.record.name, b.bytes) for b in buffers] == [
        ("v1", 32),
        ("p", 16),
        ("v3", 16),
    ]


_TABLES = """\
BufferAssignment:
allocation 0: size 49152, preallocated-temp:
 value: <1 t @0> (size=512,offset=0): (f32[4]{0:T(128)}, f32[4]{0:T(128)})
 value: <2 a @0> (size=512,offset=16384): f32[4]{0:T(128)}
 value: <3 b @0> (size=512,offset=17408): f32[128]{0:T(128)}

"""
_TABLE_RANGES = """\
HloLiveRange (max 4):
  InstructionSequence:
    0:t
    1:a
    2:b
    3:c
  BufferLiveRange:
    t{}:0-4
    a{}:1-4
    b{}:2-2
"""


def test_lost_bytes_have_causes() -> None:
    dump = Compile([DumpFile.of_text(_TABLES), DumpFile.of_text(_TABLE_RANGES)])
    lost = lost_bytes(dump, 0, 3)
    assert lost.array_padding == 512 - 16
    assert lost.tuple_table_slots == 16384 - 512
    assert lost.alignment == 512 + (49152 - 17920)
    assert lost.free == 512
    assert lost.occupied == lost.array_padding


def test_gaps_of_fixed_allocations_are_occupied() -> None:
    text = _TABLES.replace("preallocated-temp", "maybe-live-out")
    lost = lost_bytes(Compile([DumpFile.of_text(text), DumpFile.of_text(_TABLE_RANGES)]), 0, 3)
    assert lost.fixed_tuple_table_slots == lost.tuple_table_slots == 16384 - 512
    assert lost.fixed_alignment == lost.alignment
    assert lost.total - lost.occupied == lost.free
