"""Cursor targets in schedules, live ranges, and peaks."""

from hlo_lsp.ide.cursor.targets import InstructionTarget, TermTarget, ValueTarget
from seen import Seen


def test_section_labels_target_terms() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
        ^^^^^^^^^^^^ head
                          ^^ max
          InstructionSequence:
          ^^^^^^^^^^^^^^^^^^^ sequence
          BufferLiveRange:
          ^^^^^^^^^^^^^^^ ranges
          Live ranges at 13 (peak):
          ^^^^^^^^^^^^^^ peak
                         ^^ moment
          Stack trace breakdown for peak usage: 28 893 bytes
          ^^^^^^^^^^^^^^^^^^^^^ breakdown
        """
    )
    head = (TermTarget("live_range_label"), "HloLiveRange (max 14):")
    assert seen["head"] == seen["max"] == head
    assert seen["sequence"] == (TermTarget("sequence_label"), "InstructionSequence:")
    assert seen["ranges"] == (TermTarget("ranges_label"), "BufferLiveRange:")
    peak = (TermTarget("peak_label"), "Live ranges at 13 (peak):")
    assert seen["peak"] == seen["moment"] == peak
    breakdown = seen["breakdown"]
    assert breakdown is not None
    assert breakdown[0] == TermTarget("breakdown_label")


def test_schedule_row_targets_instruction() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
          InstructionSequence:
            10:constant.5..sunk
            ^^ step
               ^^^^^^^^^^^^^^^^ name
        """
    )
    whole = (InstructionTarget("constant.5..sunk", None), "constant.5..sunk")
    assert seen["step"] == whole
    assert seen["name"] == whole


def test_live_range_row_targets_value() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
          BufferLiveRange:
            copy-start.1{0,1}:6-13
            ^^^^^^^^^^^^ name
                        ^^^^^ index
                              ^ start
                                ^^ end
            add.3{}:0-14
            ^^^^^ plain
        """
    )
    whole = (ValueTarget("copy-start.1{0,1}", None), "copy-start.1{0,1}")
    assert seen["name"] == seen["index"] == seen["start"] == seen["end"] == whole
    assert seen["plain"] == (ValueTarget("add.3{}", None), "add.3{}")


def test_peak_row_targets_value() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
          Live ranges at 13 (peak):
            copy-start.1{0}: 8192 bytes (cumulative: 32768 bytes)
            ^^^^^^^^^^^^ name
                             ^^^^ bytes
                                                     ^^^^^ sum
        """
    )
    whole = (ValueTarget("copy-start.1{0}", None), "copy-start.1{0}")
    assert seen["name"] == seen["bytes"] == seen["sum"] == whole


def test_peak_row_of_jax_0_4_targets_value() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
          Live ranges at 13 (peak):
            while.56.0: 40 bytes
            ^^^^^^^^^^ name
        """
    )
    assert seen["name"] == (ValueTarget("while.56.0{}", None), "while.56.0")


def test_unavailable_live_ranges_target_term() -> None:
    """Printed for a module that was finalized or read from a proto (dump.cc)."""
    seen = Seen("HloLiveRange not available (finalized or constructed from proto)\n")
    assert seen.at(0, 3) == (TermTarget("live_range_missing"), seen.file.lines[0])


def test_broken_row_has_no_target() -> None:
    seen = Seen("HloLiveRange (max 14):\n  BufferLiveRange:\n    add.3{}:0_14\n    b{}:1-2")
    assert seen.at(2, 5) is None
    assert seen.at(3, 5) == (ValueTarget("b{}", None), "b{}")
