"""Tests for the rules ``live-range-*``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replace_once, reports
from checks.live import PREFIXES, live_range_reports, problems, reports_after_change

ROW = "    fusion.5{}:10-13\n"
NEXT_ROW = "    fusion.2{}:11-13\n"


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "sentence"),
    [
        (ROW, "    fusion.55{}:10-13\n", "live-range-unknown", "241:     »fusion.55«{}:10-13",
         "no allocation or used value has a value `fusion.55{}`"),
        ("    copy-start{2}:1-4", "    copy-start{3}:1-4", "live-range-unknown",
         "236:     »copy-start«{3}:1-4", "no allocation or used value has a value `copy-start{3}`"),
        (ROW, "    add.38{}:10-10\n" + ROW, "live-range-unknown", "241:     »add.38«{}:10-10",
         "thread-local value `add.38{}` has a live range: expected none"),
        (ROW, "", "live-range-missing", "241:     »fusion.2{}:11-13«",
         "`fusion.5{}` has no live range: expected before `fusion.2{}`"),
        ("    fusion{}:13-14\n", "", "live-range-missing", "242:     »fusion.2{}:11-13«",
         "`fusion{}` has no live range: expected at the end of the list"),
        (ROW + NEXT_ROW, NEXT_ROW + ROW, "live-range-order", "242:     »fusion.5{}:10-13«",
         "value 77 `fusion.5{}` is listed after value 78 `fusion.2{}`: expected the order of "
         "value ids"),
        (ROW, ROW + ROW, "live-range-order", "242:     »fusion.5{}:10-13«",
         "`fusion.5{}` has two live ranges: expected one"),
        (ROW, "    Arg_0.1{}:10-13\n", "live-range-order", "241:     »Arg_0.1{}:10-13«",
         "`Arg_0.1{}` has two live ranges: expected one"),
        (ROW, "    fusion.5{}:13-10\n", "live-range-bounds", "241:     fusion.5{}:13-»10«",
         "the range ends at step 10, before its start at step 13"),
        (ROW, "    fusion.5{}:10-15\n", "live-range-bounds", "241:     fusion.5{}:10-»15«",
         "the range ends at step 15, but the schedule ends at step 14"),
        (ROW, "    fusion.5{}:9-13\n", "live-range-start", "241:     fusion.5{}:»9«-13",
         "the range starts at step 9, but `fusion.5` runs at step 10"),
    ],
)  # fmt: skip
def test_damaged_row_is_reported_once(
    sample: str, old: str, new: str, *, code: str, place: str, sentence: str
) -> None:
    assert reports(replace_once(sample, old, new)) == [(code, place, sentence)]


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (ROW, "", "41:  »value: <77 fusion.5 @1>", "the value"),
        (ROW, "    fusion.5{}:10-15\n", "211: »HloLiveRange (max 14):«", "the schedule ends"),
        (ROW, "    fusion.5{}:9-13\n", "223:     »10:fusion.5«", "in the schedule"),
    ],
)
def test_contradicting_place_is_related(
    sample: str, old: str, new: str, place: str, message: str
) -> None:
    (finding,) = findings(replace_once(sample, old, new))
    ((where, what),) = related(finding)
    assert where.startswith(place)
    assert what.startswith(message)


def test_all_ranges_missing_are_reported_once(sample: str) -> None:
    label = "  BufferLiveRange:\n"
    start, end = sample.index(label) + len(label), sample.index("  Live ranges at")
    assert live_range_reports(sample[:start] + sample[end:])[0][:2] == (
        "live-range-missing",
        "227:   »BufferLiveRange:«",
    )


def test_neighboring_missing_ranges_are_reported_once(sample: str) -> None:
    lines = [line for line in sample.split("\n") if not line.startswith("    copy-start{0}:")]
    text = replace_once("\n".join(lines), "    copy-start{2}:1-4\n", "")
    ((code, _, sentence),) = live_range_reports(text)
    assert code == "live-range-missing"
    assert sentence.startswith("`copy-start{0}` and 1 more values have no live range")


def test_unreadable_range_is_not_missing(sample: str) -> None:
    text = replace_once(sample, ROW, "    fusion.5{}:1013\n")
    assert [code for code, _, _ in reports(text)] == ["syntax"]


def test_moved_range_is_related(sample: str) -> None:
    text = replace_once(sample, ROW, "")
    text = replace_once(text, "    copy-start{}:1-4\n", ROW + "    copy-start{}:1-4\n")
    (finding,) = findings(text)
    assert finding.code == "live-range-order"
    assert related(finding) == [("234:     »fusion.5{}:10-13«", "fusion.5{}")]


def test_bounds_without_head_use_last_step(sample: str) -> None:
    text = sample.replace("HloLiveRange (max 14):\n", "")
    assert live_range_reports(text) == []
    ((code, _, _),) = live_range_reports(replace_once(text, ROW, "    fusion.5{}:10-99\n"))
    assert code == "live-range-bounds"


def test_wrong_start_can_be_fixed(sample: str) -> None:
    (finding,) = findings(replace_once(sample, ROW, "    fusion.5{}:9-13\n"))
    (fix,) = finding.fixes
    assert [edit.text for edit in fix.edits] == ["10"]


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        ("    b.1{}:0-12", "    b.1{}:4-12", "16:     b.1{}:»4«-12",
         "the range starts at step 4, but computation `main.3` begins at step 0"),
        ("    a.1{}:0-8", "    a.1{}:5-8", "17:     a.1{}:»5«-8",
         "the range starts at step 5, but computation `main.3` begins at step 0"),
        ("    b.1{}:0-12", "    b.1{}:0-11", "16:     b.1{}:0-»11«",
         "the range of a parameter ends at step 11: expected 12, the end of the program"),
    ],
)  # fmt: skip
def test_parameter_starts_with_computation_and_lives_on(
    compiled: Path, old: str, new: str, place: str, sentence: str
) -> None:
    assert reports_after_change(compiled, old, new) == [("live-range-parameter", place, sentence)]


def test_value_is_known_by_entry_alone(compiled: Path) -> None:
    broken = " value: <10 a.1 @0> (sie="
    assert (
        reports_after_change(compiled, " value: <10 a.1 @0> (size=", broken, "-assignment.txt")
        == []
    )


def test_unreadable_value_hides_unknown_ranges(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.unlink()
    broken = " value: <10 a.1 @0> (sie="
    assert (
        reports_after_change(compiled, " value: <10 a.1 @0> (size=", broken, "-assignment.txt")
        == []
    )


def test_used_values_alone_identify_ranges(compiled: Path) -> None:
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    assignment.unlink()
    assert problems(compiled) == []
    ((code, _, _),) = reports_after_change(compiled, "    a.1{}:0-8", "    a.2{}:0-8")
    assert code == "live-range-unknown"


def test_live_range_file_alone_has_no_unknown_ranges(compiled: Path) -> None:
    for path in (*compiled.glob("*-values.txt"), *compiled.glob("*-buffer-assignment.txt")):
        path.unlink()
    assert reports_after_change(compiled, "    a.1{}:0-8", "    a.2{}:0-8") == []


def test_foreign_live_ranges_are_not_compared(corpus_small: Path, compiled: Path) -> None:
    (own,) = compiled.glob("*-live-range.txt")
    (other,) = (corpus_small / "tpu_v5e").glob("*jit_mlp_train*-live-range.txt")
    own.write_bytes(other.read_bytes())
    codes = [one.code for one in problems(compiled)]
    assert "sibling-mismatch" in codes
    assert [code for code in codes if code.startswith(PREFIXES)] == []
