"""``schedule-numbering`` and ``schedule-mismatch``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replaced, tell
from checks.live import problems, tell_beside, tell_live

ROW_5 = "    5:multiply_reduce_fusion\n"
ROW_6 = "    6:copy-start.1\n"


def test_a_wrong_number_accuses_its_row(sample: str) -> None:
    assert tell(replaced(sample, ROW_5, "    15:multiply_reduce_fusion\n")) == [
        (
            "schedule-numbering",
            "218:     »15«:multiply_reduce_fusion",
            "step 5 is due here, not 15",
        )
    ]


def test_the_last_number_is_known_by_the_head(sample: str) -> None:
    ((_, place, sentence),) = tell(replaced(sample, "    13:fusion\n", "    33:fusion\n"))
    assert (place, sentence) == ("226:     »33«:fusion", "step 13 is due here, not 33")


def test_a_row_that_is_gone_accuses_the_one_behind_the_gap(sample: str) -> None:
    assert tell(replaced(sample, ROW_5, "")) == [
        (
            "schedule-numbering",
            "218:     »6«:copy-start.1",
            "step 5 is missing in front of step 6",
        )
    ]


def test_rows_that_are_gone_at_the_end_are_known_by_the_live_ranges(sample: str) -> None:
    assert tell(replaced(sample, "    12:copy-done.1\n    13:fusion\n", "")) == [
        (
            "schedule-numbering",
            "224:     »11«:fusion.2",
            "steps 12 to 13 are missing at the end: the schedule is said to have 14 steps",
        )
    ]


def test_a_row_that_is_doubled_accuses_the_second_one(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW_5, ROW_5 + ROW_5))
    assert finding.message == "step 5 stands here once more"
    assert finding.place.line == 218
    assert related(finding) == [("218:     »5«:multiply_reduce_fusion", "the first time")]


def test_two_rows_that_changed_places_are_told_once(sample: str) -> None:
    ((code, place, sentence),) = tell(replaced(sample, ROW_5 + ROW_6, ROW_6 + ROW_5))
    assert (code, place) == ("schedule-numbering", "218:     »6«:copy-start.1")
    assert sentence == "step 5 is due here: steps 6 and 5 have changed places"


def test_a_wrong_max_accuses_the_head_and_no_row(sample: str) -> None:
    for number in ("13", "15", "140"):
        (finding,) = findings(replaced(sample, "(max 14)", f"(max {number})"))
        assert finding.code == "schedule-numbering"
        assert finding.message == (
            f"the schedule is said to have {number} steps, but 14 stand there"
        )
        (fix,) = finding.fixes
        assert [edit.text for edit in fix.edits] == ["14"]


def test_a_line_that_cannot_be_read_accuses_nobody_else(sample: str) -> None:
    assert [code for code, _, _ in tell(replaced(sample, ROW_5, "    5=multiply\n"))] == ["syntax"]


def test_a_name_that_is_there_twice_without_a_module_text(sample: str) -> None:
    ((code, place, sentence),) = tell_live(
        replaced(sample, "    11:fusion.2\n", "    11:fusion.5\n")
    )
    assert (code, place) == ("schedule-numbering", "224:     11:»fusion.5«")
    assert "at step 11 and at step 10" in sentence


def test_a_name_that_no_value_knows_without_a_module_text(sample: str) -> None:
    assert tell_live(replaced(sample, "    11:fusion.2\n", "    11:fusion.22\n")) == [
        (
            "schedule-mismatch",
            "224:     11:»fusion.22«",
            "no instruction `fusion.22` has a position under `Used values`",
        )
    ]


def test_names_that_changed_places_are_known_by_their_live_ranges(sample: str) -> None:
    text = replaced(sample, "    11:fusion.2\n", "    11:fusion.5\n")
    text = replaced(text, "    10:fusion.5\n", "    10:fusion.2\n")
    assert tell_live(text) == [
        (
            "schedule-mismatch",
            "223:     10:»fusion.2«",
            "`fusion.2` and `fusion.5` have changed places in the schedule",
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            "10:get-tuple-element.14",
            "10:get-tuple-element.15",
            "13:     10:»get-tuple-element.15«",
            "step 10 is `get-tuple-element.15` in the schedule and `get-tuple-element.14` in the "
            "module text",
        ),
        (
            "6:broadcast.16\n    7:dynamic-update-slice.1",
            "6:dynamic-update-slice.1\n    7:broadcast.16",
            "9:     6:»dynamic-update-slice.1«",
            "`dynamic-update-slice.1` and `broadcast.16` have changed places in the schedule",
        ),
        (
            "5:a.1\n",
            "5:b.1\n",
            "8:     5:»b.1«",
            "step 5 is `b.1` in the schedule and `a.1` in the module text",
        ),
    ],
)
def test_a_schedule_is_held_against_the_module_text(
    compiled: Path, old: str, new: str, place: str, sentence: str
) -> None:
    assert tell_beside(compiled, old, new) == [("schedule-mismatch", place, sentence)]


def test_a_module_text_that_the_live_ranges_contradict_is_accused(compiled: Path) -> None:
    (path,) = compiled.glob("*after_optimizations.txt")
    lines = path.read_text("utf-8").split("\n")
    at = next(row for row, line in enumerate(lines) if line.startswith("  %constant.29 ="))
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    path.write_text("\n".join(lines), "utf-8")
    (finding,) = problems(compiled)
    assert (finding.place.file.path, finding.code) == (path, "schedule-mismatch")
    assert finding.message == (
        "`constant.29` and `constant.22` have changed places in the schedule; the live ranges agree"
        " with the schedule"
    )


def test_a_module_text_with_a_hole_says_nothing_of_the_schedule(compiled: Path) -> None:
    (path,) = compiled.glob("*after_optimizations.txt")
    lines = path.read_text("utf-8").split("\n")
    at = next(row for row, line in enumerate(lines) if line.startswith("  %broadcast.16 ="))
    path.write_text("\n".join([*lines[:at], *lines[at + 1 :]]), "utf-8")
    assert {finding.code for finding in problems(compiled)} == {"undefined-instruction"}
