"""Tests for ``schedule-numbering`` and ``schedule-mismatch``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replace_once, reports
from checks.live import problems, reports_after_change
from hlo_lsp.checks.schedule.schedule_rules import numbering_breaks

ROW_5 = "    5:multiply_reduce_fusion\n"
ROW_6 = "    6:copy-start.1\n"


@pytest.mark.parametrize(
    ("numbers", "breaks"),
    [
        ([0, 1, 2, 3], []),
        ([0, 9, 2, 3], [(1, 1)]),
        ([0, 3, 4, 5], [(1, 1)]),
        ([0, 1, 1, 2], [(2, 2)]),
        ([0, 2, 1, 3], [(1, 1), (2, 2)]),
        ([1, 2], [(0, 0)]),
        ([0, 1, 5], [(2, 2)]),
    ],
)
def test_numbering_breaks_where_sequence_ends(
    numbers: list[int], breaks: list[tuple[int, int]]
) -> None:
    assert numbering_breaks(numbers) == breaks


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence", "fix"),
    [
        (ROW_5, "    15:multiply_reduce_fusion\n", "218:     »15«:multiply_reduce_fusion",
         "step 15 is out of sequence: expected 5", "Change to `5`"),
        ("    13:fusion\n", "    33:fusion\n", "226:     »33«:fusion",
         "step 33 is out of sequence: expected 13", "Change to `13`"),
        (ROW_5, "", "218:     »6«:copy-start.1", "step 5 is missing before step 6",
         "Renumber the schedule"),
        ("    12:copy-done.1\n    13:fusion\n", "", "211: HloLiveRange (max »14«):",
         "`max` is 14, but the schedule has 12 steps", "Renumber the schedule"),
        (ROW_5, ROW_5 + ROW_5, "219:     »5«:multiply_reduce_fusion", "step 5 is repeated",
         "Remove this line"),
        ("(max 14)", "(max 140)", "211: HloLiveRange (max »140«):",
         "`max` is 140, but the schedule has 14 steps", "Change to `14`"),
    ],
)  # fmt: skip
def test_numbering_reports_row_and_fix(
    sample: str, old: str, new: str, *, place: str, sentence: str, fix: str
) -> None:
    text = replace_once(sample, old, new)
    assert reports(text) == [("schedule-numbering", place, sentence)]
    (finding,) = findings(text)
    assert finding.fixes[0].title == fix


def test_missing_step_relates_previous_row(sample: str) -> None:
    (finding,) = findings(replace_once(sample, ROW_5, ""))
    assert related(finding) == [("217:     »4:copy-done«", "previous row")]


def test_swapped_steps_have_no_certain_fix(sample: str) -> None:
    found = findings(replace_once(sample, ROW_5 + ROW_6, ROW_6 + ROW_5))
    assert [one.message for one in found] == [
        "step 6 is out of sequence: expected 5",
        "step 5 is out of sequence: expected 6",
    ]
    assert not any(fix.is_sure for one in found for fix in one.fixes)


def test_unreadable_row_breaks_no_sequence(sample: str) -> None:
    assert [code for code, _, _ in reports(replace_once(sample, ROW_5, "    5multiply\n"))] == [
        "syntax"
    ]


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        ("10:get-tuple-element.14", "10:get-tuple-element.15", "13:     10:»get-tuple-element.15«",
         "step 10 is `get-tuple-element.15` in the schedule, but `get-tuple-element.14` in the "
         "module text"),
        ("6:broadcast.16\n    7:dynamic-update-slice.1",
         "6:dynamic-update-slice.1\n    7:broadcast.16", "10:     7:»broadcast.16«",
         "`broadcast.16`, step 7 of the schedule, is repeated or out of order"),
        ("5:a.1\n", "5:b.1\n", "8:     5:»b.1«",
         "step 5 is `b.1` in the schedule, but `a.1` in the module text"),
    ],
)  # fmt: skip
def test_mismatch_reports_row_and_module_text(
    compiled: Path, old: str, new: str, place: str, sentence: str
) -> None:
    assert reports_after_change(compiled, old, new) == [("schedule-mismatch", place, sentence)]


def _change_module(folder: Path, start: str, *, swap: bool) -> Path:
    """Swap an instruction with the next one, or remove it."""
    (path,) = folder.glob("*after_optimizations.txt")
    lines = path.read_text("utf-8").split("\n")
    at = next(row for row, line in enumerate(lines) if line.startswith(start))
    lines[at : at + 2] = [lines[at + 1], lines[at]] if swap else [lines[at + 1]]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_swapped_instructions_of_module_text_are_related(compiled: Path) -> None:
    path = _change_module(compiled, "  %constant.29 =", swap=True)
    (finding,) = problems(compiled)
    assert finding.code == "schedule-mismatch"
    assert finding.related[0].place.file.path == path


def test_instruction_missing_in_module_text_is_reported(compiled: Path) -> None:
    _change_module(compiled, "  %broadcast.16 =", swap=False)
    found = {finding.code: finding.message for finding in problems(compiled)}
    assert found.keys() == {"undefined-instruction", "schedule-mismatch"}
    assert found["schedule-mismatch"] == (
        "`broadcast.16`, step 6 of the schedule, is not in the module text"
    )
