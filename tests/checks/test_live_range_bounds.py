"""``live-range-bounds``: 0 <= start <= end <= max."""

from pathlib import Path

from checks.damage import findings, found_in, quoted, related, replaced, tell, told
from hlo_lsp.checks.finding import Severity

ROW = "    fusion.5{}:10-13"


def test_a_range_that_ends_before_it_starts(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, "    fusion.5{}:13-10"))
    assert told(finding) == (
        "live-range-bounds",
        "241:     fusion.5{}:»13«-10",
        "the range starts at step 13, after its end at step 10",
    )
    assert finding.severity is Severity.ERROR


def test_a_range_that_ends_behind_the_schedule(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, "    fusion.5{}:10-15"))
    assert told(finding) == (
        "live-range-bounds",
        "241:     fusion.5{}:10-»15«",
        "the range ends at step 15, but the schedule ends at 14",
    )
    assert related(finding) == [("211: HloLiveRange (max »14«):", "the schedule ends at 14")]


def test_a_range_that_does_both(sample: str) -> None:
    told_of = tell(replaced(sample, ROW, "    fusion.5{}:18-16"))
    assert told_of == [
        (
            "live-range-bounds",
            "241:     fusion.5{}:»18«-16",
            "the range starts at step 18, after its end at step 16",
        ),
        (
            "live-range-bounds",
            "241:     fusion.5{}:18-»16«",
            "the range ends at step 16, but the schedule ends at 14",
        ),
    ]


def test_a_schedule_that_is_said_to_be_shorter_names_every_range_behind_its_end(
    sample: str,
) -> None:
    told_of = tell(replaced(sample, "(max 14)", "(max 13)"))
    assert {code for code, _, _ in told_of} == {"live-range-bounds"}
    assert [place.split("»")[1].rstrip("«") for _, place, _ in told_of] == ["14"] * 4


def test_one_step_and_the_end_of_the_program_are_in_bounds(sample: str) -> None:
    assert tell(replaced(sample, ROW, "    fusion.5{}:14-14")) == []
    assert tell(replaced(sample, ROW, "    fusion.5{}:0-0")) == []


def test_without_a_schedule_only_the_order_is_judged(sample: str) -> None:
    text = sample.replace("HloLiveRange (max 14):\n", "")
    assert tell(replaced(text, ROW, "    fusion.5{}:10-99")) == []
    assert [code for code, _, _ in tell(replaced(text, ROW, "    fusion.5{}:9-8"))] == [
        "live-range-bounds"
    ]


def test_in_a_split_dump(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(replaced(ranges.read_text(), "    a.1{}:0-8", "    a.1{}:0-13"))
    ((name, finding),) = found_in(compiled)
    assert (name, finding.code) == ("-live-range.txt", "live-range-bounds")
    assert quoted(finding.place) == "17:     a.1{}:0-»13«"
