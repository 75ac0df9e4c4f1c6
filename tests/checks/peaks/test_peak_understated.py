"""Tests for ``peak-understated``: occupied bytes at the declared peak and their maximum."""

import pytest

from checks.advised import GPU, advice

_MIB = 1 << 20
_FLOATS = 4  # bytes


def _dump(element: int, wide: int, *, shares: bool = False) -> str:
    """Return a program in which XLA declares step 5 the peak, with values of these sizes.

    XLA counts 16 bytes, the size of a tuple, for each of the two elements of `fusion`, so its peak
    is never at steps 1 to 4. If `wide` shares the bytes of `fusion`, it replaces them in place.
    """
    first = element // _FLOATS
    shape = f"f32[{first}]{{0}}"
    sizes = f"size={element},offset"
    place = 512 if shares else 512 + 2 * element
    end = 5 if shares else 4
    return f"""\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {{}}:
 value: <1 x @0> (size=16,offset=0): f32[4]{{0}}
allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:
 value: <7 out @0> (size=16,offset=0): f32[4]{{0}}
allocation 2: size {place + max(wide, 2 * element)}, preallocated-temp:
 value: <2 fusion{{}} @0> (size=16,offset=0): ({shape}, {shape})
 value: <3 fusion{{0}} @0> ({sizes}=512): {shape}
 value: <4 fusion{{1}} @0> ({sizes}={512 + element}): {shape}
 value: <5 add @0> (size=16,offset=256): f32[4]{{0}}
 value: <6 wide @0> (size={wide},offset={place}): f32[{wide // _FLOATS}]{{0}}

HloLiveRange (max 7):
  InstructionSequence:
    0:x
    1:fusion
    2:get-tuple-element
    3:get-tuple-element.1
    4:add
    5:wide
    6:out
  BufferLiveRange:
    x{{}}:0-7
    fusion{{}}:1-3
    fusion{{0}}:1-{end}
    fusion{{1}}:1-{end}
    add{{}}:4-5
    wide{{}}:5-6
    out{{}}:6-7
  Live ranges at 5 (peak):
    wide{{}}: {wide} bytes (cumulative: {wide} bytes)
    add{{}}: 16 bytes (cumulative: {wide + 16} bytes)
    x{{}}: 16 bytes (cumulative: {wide + 32} bytes)
"""


def test_reports_occupied_bytes_and_what_xla_declares() -> None:
    assert advice("peak-understated", _dump(2 * _MIB, _MIB), stem=GPU) == [
        (
            "peak-understated",
            "30:   Live ranges at »5« (peak):",
            "4,194,352 B (4.00 MiB) are occupied in device memory at step 1, but only 1,048,624 B "
            "(1.00 MiB) at step 5, the declared peak. XLA's list of that peak adds up "
            "to 1,048,608 B (1.00 MiB)",
        )
    ]


@pytest.mark.parametrize(
    ("element", "wide", "count"),
    [
        (_MIB, _MIB, 1),  # 1 MiB more
        (_MIB - 4, _MIB, 0),
        (21 * _MIB, 40 * _MIB, 0),  # 2 MiB more than 40 MiB and some bytes: less than 5 %
        (21 * _MIB + 4, 40 * _MIB, 1),
        (_MIB // 2, _MIB, 0),
    ],
)
def test_excess_has_thresholds(element: int, wide: int, count: int) -> None:
    assert len(advice("peak-understated", _dump(element, wide), stem=GPU)) == count


def test_shared_bytes_count_once() -> None:
    """Check step 5, at which the logical sizes add up to 20 MiB in a program of 10 MiB."""
    shared = _dump(5 * _MIB, 10 * _MIB, shares=True)
    rows = (
        "    fusion{0}: 5242880 bytes (cumulative: 15728640 bytes)\n"
        "    fusion{1}: 5242880 bytes (cumulative: 20971520 bytes)\n"
        "    add{}: 16 bytes (cumulative: 20971536 bytes)\n"
        "    x{}: 16 bytes (cumulative: 20971552 bytes)\n"
    )
    head, _, _ = shared.partition("    add{}: 16 bytes")
    assert advice("peak-understated", head + rows, stem=GPU) == []


def test_unknown_live_range_reports_nothing() -> None:
    text = _dump(2 * _MIB, _MIB).replace("    fusion{1}:1-4\n", "")
    assert advice("peak-understated", text, stem=GPU) == []
