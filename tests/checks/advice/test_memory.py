"""Tests for advice on padding, gaps, constants, and long live ranges."""

from typing import Any

import pytest

from checks.advised import GPU, TPU, advice
from checks.damage import replace_once

PADDED = """\
BufferAssignment:
allocation 0: size 8388608, preallocated-temp:
 value: <1 a @0> (size=4194304,offset=0): f32[8192,1]{1,0:T(8,128)}
 value: <2 b @0> (size=4194304,offset=4194304): f32[8192,1]{1,0:T(8,128)}
 value: <3 c @0> (size=1048576,offset=0): f32[2048,128]{1,0:T(8,128)}
"""


def test_padding_names_dimension_and_tile() -> None:
    assert advice("padding-waste", PADDED) == [
        (
            "padding-waste",
            "3:  value: <1 a @0> (size=4194304,offset=0): »f32[8192,1]{1,0:T(8,128)}«",
            "`a{}` takes 4,194,304 B (4.00 MiB) for 32,768 B (32.0 KiB) of elements, 128 times as "
            "much: dim 1: 1 -> 128 by T(8,128); 2 values of this shape have 7.94 MiB of padding at "
            "2 offsets. Make a larger dimension the most minor one, or merge small dimensions",
        )
    ]


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({"size": 4194304}, 1),
        ({"size": 4194305}, 0),
        ({"share": 0.9921875}, 1),
        ({"share": 0.993}, 0),
    ],
)
def test_padding_has_thresholds(limits: dict[str, Any], count: int) -> None:
    assert len(advice("padding-waste", PADDED, **limits)) == count


def test_shape_in_two_memory_spaces_is_reported_once() -> None:
    text = PADDED.replace("<2 b @0>", "<2 b @1>")
    first, second, third = text.split("f32[8192,1]{1,0:T(8,128)}")
    text = f"{first}f32[8192,1]{{1,0:T(8,128)}}{second}f32[8192,1]{{1,0:T(8,128)S(1)}}{third}"
    assert "S(1)" in text
    assert len(advice("padding-waste", text)) == 1


def test_size_that_is_wrong_is_no_padding() -> None:
    text = PADDED.replace("size=4194304,offset=0", "size=4194303,offset=0")
    ((_, place, _),) = advice("padding-waste", text)
    assert place.startswith("4: ")


# Two consecutive values of 2 MiB and a long-lived value between them.
GAPS = """\
BufferAssignment:
allocation 0: size 5242880, preallocated-temp:
 value: <1 a @0> (size=2097152,offset=0): f32[524288]{0}
 value: <2 b @0> (size=1048576,offset=2097152): f32[262144]{0}
 value: <3 c @0> (size=2097152,offset=3145728): f32[524288]{0}
"""
LIVES = """\
HloLiveRange (max 9):
  InstructionSequence:
    0:a
    1:b
    2:w
    3:x
    4:c
    5:y
    6:z
    7:u
    8:v
  BufferLiveRange:
    a{}:0-3
    b{}:1-7
    c{}:4-8
  Live ranges at 1 (peak):
    a{}: 2097152 bytes (cumulative: 2097152 bytes)
    b{}: 1048576 bytes (cumulative: 3145728 bytes)
  Stack trace breakdown for peak usage: 3 145 728 bytes
    f (100.0%, total: 3 145 728 bytes, current: 0 bytes, remaining: 3 145 728 bytes)
      ├── a (66.7%, total: 2 097 152 bytes, current: 2 097 152 bytes, remaining: 1 048 576 bytes)
      └── b (33.3%, total: 1 048 576 bytes, current: 1 048 576 bytes, remaining: 0 bytes)
"""


def test_gaps_are_bytes_never_occupied_together() -> None:
    assert advice("fragmentation", GAPS, LIVES, stem=GPU) == [
        (
            "fragmentation",
            "2: allocation 0: size »5242880«, preallocated-temp:",
            "at most 3,145,728 B (3.00 MiB) of the 5,242,880 B (5.00 MiB) in allocation 0 are live "
            "at the same time (step 1): 2,097,152 B (2.00 MiB) (40%) are gaps between values. "
            "Shorten the live ranges of large values, or split them",
        )
    ]


def test_bytes_without_values_are_no_gap() -> None:
    """Check tuple tables of 512 B on TPU, which can be 16 KiB apart."""
    values = "BufferAssignment:\nallocation 0: size 3260928, preallocated-temp:\n" + "".join(
        f" value: <{count} a.{count} @0> (size=512,offset={16384 * count}): f32[1]{{0:T(128)}}\n"
        for count in range(200)
    )
    lives = LIVES[: LIVES.index("    a{}:")] + "".join(
        f"    a.{count}{{}}:{count}-{count}\n" for count in range(200)
    )
    lives += (
        "  Live ranges at 0 (peak):\n    a.0{}: 4 bytes (cumulative: 4 bytes)\n"
        "  Stack trace breakdown for peak usage: 4 bytes\n"
        "    f (100.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)\n"
    )
    assert advice("fragmentation", values, lives) == []
    ((_, _, sentence),) = advice("fragmentation", values, lives, size=1, share=0.01)
    assert "101,888 B (99.5 KiB) (3%) are gaps between values, and 3.01 MiB align them" in sentence


def test_slot_with_two_lives_is_counted_once() -> None:
    values = GAPS + " value: <4 d @0> (size=2097152,offset=0): f32[524288]{0}\n"
    lives = LIVES.replace("  Live ranges", "    d{}:3-8\n  Live ranges")
    ((_, _, sentence),) = advice("fragmentation", values, lives.replace("c{}:4-8", "c{}:8-8"),
                                 stem=GPU, size=1)  # fmt: skip
    assert "at most 4,194,304 B" in sentence  # Step 8: the slot of `a` and `d`, and `c`.
    assert advice("fragmentation", values, lives, stem=GPU) == []


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({"share": 0.39}, 1),
        ({"share": 0.4}, 0),
        ({"size": 2097151}, 1),
        ({"size": 2097152}, 0),
    ],
)
def test_gaps_have_thresholds(limits: dict[str, Any], count: int) -> None:
    assert len(advice("fragmentation", GAPS, LIVES, stem=GPU, **limits)) == count


def test_unknown_gaps_and_vmem_gaps_are_ignored() -> None:
    assert advice("fragmentation", GAPS, stem=GPU) == []
    assert advice("fragmentation", GAPS, LIVES.replace("    c{}:4-8\n", ""), stem=GPU) == []
    on_chip = GAPS.replace("880,", "880, color 1,").replace("@0", "@1")
    assert advice("fragmentation", on_chip, LIVES, stem=TPU) == []
    assert len(advice("fragmentation", on_chip, LIVES, stem=GPU)) == 1


_CONSTANT = (
    "allocation {0}: size {1}, constant:\n"
    " value: <{0} c.{0} @0> (size={1},offset=0): s8[{1}]{{0}}\n"
)
_ONE_CONSTANT = "BufferAssignment:\n" + _CONSTANT.format(0, 1048576)
_SCHEDULED = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: s8[8]) -> s8[1048576] {
  %x = s8[8]{0} parameter(0)
  ROOT %c.0 = s8[1048576]{0} constant({...}), metadata={op_name="jit(f)/scatter-add" source_file="f.py" source_line=3}
}
"""  # noqa: E501


def _before(constant: str) -> str:
    """Return the text before optimizations of a program with this constant."""
    return f"""\
HloModule jit_f, entry_computation_layout={{(s8[8]{{0}})->s8[1048576]{{0}}}}

ENTRY %main.1 (x.1: s8[8]) -> s8[1048576] {{
  %x.1 = s8[8]{{0}} parameter(0)
  %c.1 = {constant}
  ROOT %r.1 = s8[1048576]{{0}} custom-call(%x.1, %c.1), custom_call_target="f"
}}
"""


def test_large_constants_of_unknown_origin_are_one_finding() -> None:
    assert advice("large-constant", _ONE_CONSTANT, stem=GPU) == [
        (
            "large-constant",
            "2: allocation 0: size »1048576«, constant:",
            "`c.0` takes 1,048,576 B (1.00 MiB) as a constant of the program. If the program "
            "closes over an array of this size, pass it as an argument",
        )
    ]
    text = _ONE_CONSTANT + _CONSTANT.format(1, 3145728) + _CONSTANT.format(2, 1048575)
    ((_, place, sentence),) = advice("large-constant", text, stem=GPU)
    assert place.startswith("4: ")
    assert sentence == (
        "2 constants take 4,194,304 B (4.00 MiB) in the program, the largest is `c.1` with "
        "3,145,728 B (3.00 MiB). If the program closes over arrays of these sizes, pass them as "
        "arguments"
    )


@pytest.mark.parametrize("shape", ["s8[1048576]{0}", "f32[1024,1024]{1,0}"])
def test_large_constant_of_the_program_becomes_an_argument(shape: str) -> None:
    before = _before(f"{shape} constant({{...}})")
    ((_, _, sentence),) = advice("large-constant", _ONE_CONSTANT, stem=GPU, before=before)
    assert sentence == (
        "`c.0` takes 1,048,576 B (1.00 MiB) as a constant of the program. Pass arrays as arguments "
        "instead of closing over them"
    )


def test_large_constant_made_by_xla_names_its_operation() -> None:
    before = _before("s8[] constant(0)")
    ((_, place, sentence),) = advice(
        "large-constant", _ONE_CONSTANT, _SCHEDULED, stem=GPU, before=before
    )
    assert place == "2: allocation 0: size »1048576«, constant:"
    assert sentence == (
        "`c.0` takes 1,048,576 B (1.00 MiB) as a constant that XLA made for `jit(f)/scatter-add` "
        "(f.py:3): no constant before optimizations has as many elements. If its operation "
        "depends on no argument, XLA evaluates it; pass one of its inputs as an argument to "
        "compute it at run time"
    )


@pytest.mark.parametrize(
    "constant",
    ["s8[2097152]{0} constant({...})", "s8[] constant(0", "(s8[?]{0}) constant({...})"],
    ids=["larger", "damaged", "unbounded"],
)
def test_large_constant_stays_unknown_without_evidence(constant: str) -> None:
    ((_, _, sentence),) = advice(
        "large-constant", _ONE_CONSTANT, stem=GPU, before=_before(constant)
    )
    assert sentence.endswith(
        "If the program closes over an array of this size, pass it as an argument"
    )


def test_large_constants_of_two_origins_are_two_findings() -> None:
    text = _ONE_CONSTANT + _CONSTANT.format(1, 3145728) + _CONSTANT.format(2, 4194304)
    before = _before("s8[1048576]{0} constant({...})")
    reported = advice("large-constant", text, stem=GPU, before=before)
    assert [sentence.partition(":")[0] for _, _, sentence in reported] == [
        "`c.0` takes 1,048,576 B (1.00 MiB) as a constant of the program. Pass arrays as arguments "
        "instead of closing over them",
        "2 constants that XLA made take 7,340,032 B (7.00 MiB) in the program, the largest is "
        "`c.2` with 4,194,304 B (4.00 MiB)",
    ]


def test_value_with_most_byte_steps_is_reported() -> None:
    reported = advice("long-lived", GAPS, LIVES, stem=GPU, size=2097152)
    assert [(place, sentence.partition(". ")[0]) for _, place, sentence in reported] == [
        ("13:     a{}:0-»3«", "`a{}` keeps 2,097,152 B (2.00 MiB) for 4 of 9 steps, until `x`"),
        ("15:     c{}:4-»8«", "`c{}` keeps 2,097,152 B (2.00 MiB) for 5 of 9 steps, until `v`"),
    ]
    assert len(advice("long-lived", GAPS, LIVES, stem=GPU)) == 3


def test_value_that_only_the_next_instruction_uses_is_ignored() -> None:
    lives = replace_once(LIVES, "a{}:0-3", "a{}:0-1")
    assert len(advice("long-lived", GAPS, lives, stem=GPU)) == 2


def test_long_lived_values_on_the_chip_are_ignored() -> None:
    """Check VMEM, into which XLA prefetches arguments as long as space is available."""
    on_chip = GAPS.replace("5242880, ", "5242880, color 1, ").replace("@0>", "@1>")
    assert len(advice("long-lived", on_chip, LIVES, stem=GPU)) == 3
    assert advice("long-lived", on_chip, LIVES) == []


def test_negligible_padding_is_ignored() -> None:
    text = """\
BufferAssignment:
allocation 0: size 1073741824, preallocated-temp:
 value: <1 a @0> (size=524288,offset=0): f32[1024,1]{1,0:T(8,128)}
"""
    assert advice("padding-waste", text, size=1) == []
    assert advice("padding-waste", text, size=1, with_negligible=True)
