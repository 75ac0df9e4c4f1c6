"""What the cursor is on, in schedules, live ranges and peaks."""

from analysis.seen import Seen
from hlo_lsp.ide.cursor.targets import InstructionTarget, TermTarget, ValueTarget


def test_the_heads_are_words_to_explain() -> None:
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


def test_a_schedule_row_is_about_its_instruction() -> None:
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


def test_a_live_range_row_is_about_its_value() -> None:
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


def test_a_row_at_the_peak_is_about_its_value() -> None:
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


def test_a_row_at_the_peak_in_the_form_of_jax_0_4() -> None:
    seen = Seen(
        """
        HloLiveRange (max 14):
          Live ranges at 13 (peak):
            while.56.0: 40 bytes
            ^^^^^^^^^^ name
        """
    )
    assert seen["name"] == (ValueTarget("while.56.0{}", None), "while.56.0")


def test_live_ranges_that_are_not_available_are_a_word_to_explain() -> None:
    """Printed for a module that was finalized or read from a proto (dump.cc)."""
    seen = Seen("HloLiveRange not available (finalized or constructed from proto)\n")
    assert seen.at(0, 3) == (TermTarget("live_range_missing"), seen.file.lines[0])


def test_a_broken_row_is_about_nothing() -> None:
    seen = Seen("HloLiveRange (max 14):\n  BufferLiveRange:\n    add.3{}:0_14\n    b{}:1-2")
    assert seen.at(2, 5) is None
    assert seen.at(3, 5) == (ValueTarget("b{}", None), "b{}")
