"""Which overlaps are told: those that no other line that is wrong explains."""

import pytest

from hlo_lsp.analysis.assignment.overlap_faults import overlap_faults
from hlo_lsp.analysis.assignment.placements import assignment_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from jobs import count_checkpoints

PATH = "module_0001.f.cpu_after_optimizations-buffer-assignment.txt"  # tells the backend

# a and b overlap from step 2 to 4 in bytes 4 to 7; d only lives for a step, inside of c.
TEXT = """\
BufferAssignment:
allocation 0: size 16, preallocated-temp:
 value: <1 a @0> (size=8,offset=0): u8[8]{0}
 value: <2 b @0> (size=8,offset=4): u8[8]{0}
allocation 1: size 16, preallocated-temp:
 value: <3 c @0> (size=16,offset=0): u8[16]{0}
 value: <4 d @0> (size=8,offset=0): u8[8]{0}

HloLiveRange (max 9):
  InstructionSequence:
    0:x
    1:a
    2:b
    3:x.3
    4:x.4
    5:c
    6:d
    7:x.7
    8:x.8
  BufferLiveRange:
    a{}:1-4
    b{}:2-7
    c{}:5-8
    d{}:6-6
"""
ENTRY = """
Used values:
<1 a @0>
 positions:
  a
 uses:
  x.4, operand 0
 from instruction: %a = u8[8]{0} OPCODE()

"""


def _dump(*changes: tuple[str, str], entry: str = "") -> DumpSet:
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    text = text.replace("\nHloLiveRange", f"{entry}\nHloLiveRange") if entry else text
    return DumpSet([DumpFile.of_text(text, PATH)])


def _accused(dump: DumpSet) -> list[str]:
    return [fault.intruder.tenant.value.name for fault in overlap_faults(dump)]


def _edit(dump: DumpSet, old: str, new: str) -> None:
    (file,) = dump.files
    (line,) = (number for number, line in enumerate(file.lines) if old in line)
    start = file.lines[line].index(old)
    file.changed(file.document.edit((line, start), (line, start + len(old)), new))
    file.refresh()


def test_one_fault_in_each_allocation() -> None:
    first, second = overlap_faults(_dump())
    assert (first.placement.allocation.number, first.intruder.tenant.value.name) == (0, "b")
    assert (second.placement.allocation.number, second.intruder.tenant.value.name) == (1, "d")
    assert [one.bytes for one in first.intruder.overlaps] == [(4, 7)]


@pytest.mark.parametrize(
    "change",
    [
        # Each computation that runs at a time has its own.
        ("allocation 0: size 16, preallocated-temp", "allocation 0: size 16, thread-local"),
        # Nobody knows what stands there.
        (" value: <1 a @0> (size=8,", " value: <1 a @0> (size=,"),
        # The sizes do not follow from the shapes.
        ("<1 a @0> (size=8,offset=0): u8[8]", "<1 a @0> (size=8,offset=0): u8[4]"),
        ("<2 b @0> (size=8,offset=4): u8[8]", "<2 b @0> (size=8,offset=4): u8[9]"),
        # It takes nothing, or ends behind the allocation.
        ("<2 b @0> (size=8,offset=4): u8[8]", "<2 b @0> (size=0,offset=4): u8[0]"),
        ("allocation 0: size 16,", "allocation 0: size 11,"),
        # The live range is not there, twice, turned around or too long.
        ("    a{}:1-4\n", ""),
        ("    a{}:1-4\n", "    a{}:1-4\n    a{}:1-5\n"),
        ("    a{}:1-4\n", "    a{}:4-1\n"),
        ("    a{}:1-4\n", "    a{}:1-10\n"),
        # It begins at another step than the instruction runs at.
        ("    b{}:2-7\n", "    b{}:3-7\n"),
    ],
)
def test_what_another_line_explains_is_no_overlap(change: tuple[str, str]) -> None:
    assert _accused(_dump(change)) == ["d"]


@pytest.mark.parametrize(
    "change",
    [
        ("<2 b @0> (size=8,offset=4)", "<2 b @0> (size=8,offset=8)"),
        ("    a{}:1-4\n", "    a{}:1-2\n"),
        ("<2 b @0> (size=8,offset=4)", "<2 b @0> (size=8,offset=0)"),
    ],
)
def test_what_shares_no_byte_or_step_or_all_bytes_is_none(change: tuple[str, str]) -> None:
    assert _accused(_dump(change)) == ["d"]


def test_the_last_step_and_the_last_byte_count() -> None:
    assert _accused(_dump(("    b{}:2-7\n", "    b{}:2-9\n"))) == ["b", "d"]
    assert _accused(_dump(("allocation 0: size 16,", "allocation 0: size 12,"))) == ["b", "d"]


def test_of_one_without_bytes_the_others_are_not_spared() -> None:
    empty = " value: <0 e @0> (size=0,offset=2): u8[0]{0}\n"
    outside = " value: <0 e @0> (size=8,offset=12): u8[8]{0}\n"
    first = " value: <1 a"
    for more in (empty, outside):
        assert _accused(_dump((first, more + first), ("    a{}", "    e{}:1-4\n    a{}"))) == [
            "b",
            "d",
        ]


def test_what_does_not_run_has_no_step_to_begin_at() -> None:
    assert _accused(_dump(("    1:a\n", "    1:x.1\n"))) == ["b", "d"]


AT_0 = (("    0:x\n", "    0:a\n"), ("    1:a\n", "    1:x\n"))
AT_3 = (("    1:a\n", "    1:x\n"), ("    3:x.3\n", "    3:a\n"))


@pytest.mark.parametrize(
    ("moved", "opcode", "accused"),
    [
        (AT_3, "parameter", ["b", "d"]),
        (AT_3, "iota", ["d"]),
        (AT_3, "while", ["d"]),
        (AT_0, "parameter", ["d"]),
        (AT_0, "iota", ["d"]),
    ],
)
def test_only_a_parameter_may_live_before_its_step(
    moved: tuple[tuple[str, str], tuple[str, str]], opcode: str, accused: list[str]
) -> None:
    """From where its computation begins."""
    assert _accused(_dump(*moved, entry=ENTRY.replace("OPCODE", opcode))) == accused


def test_of_an_instruction_that_nobody_knows_a_later_step_is_right() -> None:
    assert _accused(_dump(*AT_3)) == ["b", "d"]


def test_two_that_moved_in_one_allocation_are_both_told() -> None:
    more = (
        "allocation 0: size 48, preallocated-temp:\n"
        " value: <5 e @0> (size=8,offset=32): u8[8]{0}\n"
        " value: <6 f @0> (size=8,offset=36): u8[8]{0}\n"
    )
    dump = _dump(
        ("allocation 0: size 16, preallocated-temp:\n", more),
        ("    a{}", "    e{}:3-8\n    f{}:4-8\n    a{}"),
        ("3:x.3", "3:e"),
        ("4:x.4", "4:f"),
    )
    assert sorted(_accused(dump)) == ["b", "d", "f"]


def test_an_edit_elsewhere_changes_nothing_and_one_of_a_life_does() -> None:
    dump = _dump()
    assert _accused(dump) == ["b", "d"]
    _edit(dump, "<2 b @0> (size=8,offset=4)", "<2 b @0> (size=8,offset=8)")
    assert _accused(dump) == ["d"]
    _edit(dump, "b{}:2-7", "b{}:2-8")
    assert _accused(dump) == ["d"]
    _edit(dump, "<4 d @0> (size=8,offset=0)", "<4 d @0> (size=8,offset=8)")
    assert _accused(dump) == ["d"]
    _edit(dump, "c{}:5-8", "c{}:5-6")
    assert _accused(dump) == []
    _edit(dump, "c{}:5-6", "c{}:5-8")
    assert _accused(dump) == ["d"]


def test_long_work_passes_checkpoints() -> None:
    lines = [f" value: <{number} v.{number} @0> (size=1,offset={number}): u8[1]{{0}}\n"
             for number in range(5000)]  # fmt: skip
    text = f"BufferAssignment:\nallocation 0: size 5000, preallocated-temp:\n{''.join(lines)}"
    dump = DumpSet([DumpFile.of_text(text, PATH)])
    assignment_of(dump)
    assert 5 <= count_checkpoints(lambda: overlap_faults(dump)) <= 50
