"""Tests for ``syntax`` in entries under ``Used values``: one finding for each damage."""

import pytest

from checks.damage import replace_once, reports

ENTRY = "<77 fusion.5 @1>\n positions:\n  fusion.5\n uses:\n  fusion.2, operand 0\n"
# Old text, new text, place of the finding, and its message.
ROWS = {
    "the end of a header": (
        "\n<77 fusion.5 @1>\n", "\n<77 fusion.5 @1\n", "191: <77 fusion.5 @1»«",
        "expected `>`, found the end of the line",
    ),
    "the index of a use": (
        "  copy-done.1, operand 0 {1}", "  copy-done.1, operand 0 1}",
        "104:   copy-done.1, operand 0 »1}«", "expected index, found `1}`",
    ),
}  # fmt: skip
# Broken or missing labels and the reported line; entry 77 starts on line 191.
LABELS = {
    "positions broken": (ENTRY, ENTRY.replace(" positions:", " postions:"), (191, 192)),
    "positions gone": (ENTRY, ENTRY.replace(" positions:\n", ""), (191, 192)),
    "uses broken": (ENTRY, ENTRY.replace(" uses:", " ues:"), (191, 194)),
    "uses gone": (ENTRY, ENTRY.replace(" uses:\n", ""), (191, 194)),
    "instruction broken": (
        " from instruction: %fusion.5 =",
        " from instrction: %fusion.5 =",
        (191, 196, 197),
    ),
    "header gone": (ENTRY, ENTRY.replace("<77 fusion.5 @1>\n", ""), (191,)),
    "a blank line inside": (ENTRY, ENTRY.replace(">\n", ">\n\n"), (191, 192, 193)),
    "sections swapped": (
        ENTRY,
        "<77 fusion.5 @1>\n uses:\n  fusion.2, operand 0\n positions:\n  fusion.5\n",
        (191, 192, 194, 195),
    ),
}


@pytest.mark.parametrize("what", ROWS)
def test_damaged_row_is_the_only_finding(sample: str, what: str) -> None:
    old, new, place, sentence = ROWS[what]
    assert reports(replace_once(sample, old, new)) == [("syntax", place, sentence)]


@pytest.mark.parametrize("what", LABELS)
def test_damaged_label_is_the_only_finding(sample: str, what: str) -> None:
    old, new, lines = LABELS[what]
    reported = reports(replace_once(sample, old, new))
    assert [code for code, _, _ in reported] == ["syntax"]
    assert int(reported[0][1].split(":")[0]) in lines


def test_message_names_the_broken_label(sample: str) -> None:
    for label in (" positions:", " uses:"):
        ((_, _, sentence),) = reports(replace_once(sample, ENTRY, ENTRY.replace(label, label[:-2])))
        assert label.strip() in sentence


def test_invalid_instruction_is_reported(sample: str) -> None:
    text = replace_once(
        sample, " from instruction: %fusion.5 = f32", " from instruction: %fusion.5 f32"
    )
    ((code, place, sentence),) = reports(text)
    assert (code, place[:32]) == ("syntax", "197:  from instruction: »%fusion")
    assert sentence.startswith("expected an instruction: ")


def test_entry_without_uses_is_complete(sample: str) -> None:
    old, new = " uses:\n from", " uses:\n  (none)\n from"
    assert sample.count(old) == 4
    assert reports(sample.replace(old, new)) == []
    entry = f"\n<79 fusion @0>\n positions:\n  fusion\n{old}"
    assert reports(replace_once(sample, entry, entry.replace(old, new))) == []  # one of four
