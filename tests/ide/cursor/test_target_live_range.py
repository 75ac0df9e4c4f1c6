"""Cursor targets in schedules, live ranges, and peaks."""

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.targets import InstructionTarget, TermTarget, ValueTarget


def test_section_labels_target_terms() -> None:
    targets = CursorTargets(
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
    assert targets["head"] == targets["max"] == head
    assert targets["sequence"] == (TermTarget("sequence_label"), "InstructionSequence:")
    assert targets["ranges"] == (TermTarget("ranges_label"), "BufferLiveRange:")
    peak = (TermTarget("peak_label"), "Live ranges at 13 (peak):")
    assert targets["peak"] == targets["moment"] == peak
    assert targets.entity("breakdown") == TermTarget("breakdown_label")


def test_schedule_row_targets_instruction() -> None:
    targets = CursorTargets(
        """
        HloLiveRange (max 14):
          InstructionSequence:
            10:constant.5..sunk
            ^^ step
               ^^^^^^^^^^^^^^^^ name
        """
    )
    whole = (InstructionTarget("constant.5..sunk", None), "constant.5..sunk")
    assert targets["step"] == whole
    assert targets["name"] == whole


def test_live_range_row_targets_value() -> None:
    targets = CursorTargets(
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
    assert targets["name"] == targets["index"] == targets["start"] == targets["end"] == whole
    assert targets["plain"] == (ValueTarget("add.3{}", None), "add.3{}")


def test_peak_row_targets_value() -> None:
    targets = CursorTargets(
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
    assert targets["name"] == targets["bytes"] == targets["sum"] == whole


def test_peak_row_of_jax_0_4_targets_value() -> None:
    targets = CursorTargets(
        """
        HloLiveRange (max 14):
          Live ranges at 13 (peak):
            while.56.0: 40 bytes
            ^^^^^^^^^^ name
        """
    )
    assert targets["name"] == (ValueTarget("while.56.0{}", None), "while.56.0")


def test_unavailable_live_ranges_target_term() -> None:
    """Printed for a module that was finalized or read from a proto (dump.cc)."""
    targets = CursorTargets("HloLiveRange not available (finalized or constructed from proto)\n")
    assert targets.at(0, 3) == (TermTarget("live_range_missing"), targets.file.lines[0])


def test_broken_row_has_no_target() -> None:
    targets = CursorTargets(
        "HloLiveRange (max 14):\n  BufferLiveRange:\n    add.3{}:0_14\n    b{}:1-2"
    )
    assert targets.at(2, 5) is None
    assert targets.at(3, 5) == (ValueTarget("b{}", None), "b{}")
