"""``out-of-bounds`` and ``total-mismatch``."""

from pathlib import Path

from checks.damage import dump_of, findings, found_in, related, replaced, tell, told
from hlo_lsp.checks.finding import Severity

LAST = "<66 copy-start.1{0} @1> (size=16384,offset="


def test_an_offset_that_is_one_too_large(sample: str) -> None:
    (finding,) = findings(replaced(sample, LAST + "53248", LAST + "53249"))
    shape = "f32[64,32]{0,1:T(8,128)S(1)}"
    assert told(finding) == (
        "out-of-bounds",
        f"36:  value: <66 copy-start.1{{0}} @1> (size=16384,offset=»53249«): {shape}",
        "the value ends at byte 69,633 (offset 53,249 + size 16,384), but allocation 15 has only "
        "69,632 B",
    )
    assert finding.severity is Severity.ERROR
    assert related(finding) == [
        (
            "35: allocation 15: size »69632«, color 1, preallocated-temp:",
            "allocation 15 ends at 69,632",
        )
    ]


def test_a_size_that_its_shape_contradicts_is_told_once(sample: str) -> None:
    text = replaced(sample, "<79 fusion @0> (size=8192", "<79 fusion @0> (size=8200")
    assert [code for code, _, _ in tell(text)] == ["size-mismatch"]


def test_a_value_that_just_fits_is_in_bounds(sample: str) -> None:
    assert tell(replaced(sample, LAST + "53248", LAST + "53000")) == []


def test_values_below_a_lost_allocation_line_are_not_blamed_on_the_one_above(sample: str) -> None:
    text = replaced(sample, "allocation 15: size 69632", "allocation 15: sie 69632")
    assert [(code, place.split(": ")[0]) for code, place, _ in tell(text)] == [("syntax", "35")]


def test_a_total_that_is_off_by_one(sample: str) -> None:
    (finding,) = findings(replaced(sample, "used: 172580 ", "used: 172581 "))
    assert told(finding) == (
        "total-mismatch",
        "44: Total bytes used: »172581« (168.5KiB)",
        "the total is given as 172,581 B, but the 16 allocations add up to 172,580 B (+1 B)",
    )
    assert finding.severity is Severity.ERROR
    assert related(finding) == [
        ("2: »allocation 0: size 512, thread-local:«", "the allocations add up to 172,580 B")
    ]


def test_an_allocation_whose_size_is_wrong_explains_the_sum(sample: str) -> None:
    text = replaced(sample, "allocation 5: size 512, thread-local", "allocation 5: size 1512, z")
    assert [code for code, _, _ in tell(text)] == ["allocation-slack"]


def test_an_allocation_that_was_cut_out_is_missing_in_the_sum(sample: str) -> None:
    start, end = sample.index("allocation 15:"), sample.index("\nTotal bytes used")
    told_of = tell(sample[:start] + sample[end:])
    totals = [sentence for code, _, sentence in told_of if code == "total-mismatch"]
    assert totals == [
        "the total is given as 172,580 B, but the 15 allocations add up to 102,948 B (+69,632 B)"
    ]


def test_a_total_in_the_values_file_is_held_against_the_assignment_beside_it(
    compiled: Path,
) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.write_text(replaced(values.read_text(), "used: 2135040 ", "used: 2135039 "))
    ((name, finding),) = found_in(compiled)
    assert (name, finding.code) == ("-buffer-assignment-values.txt", "total-mismatch")
    spot = finding.spot
    assert (spot.line, spot.column, spot.end_column) == (2, 19, 26)  # the number
    assert "13 allocations add up to 2,135,040 B (-1 B)" in finding.message
    (other,) = finding.related
    assert other.spot.path.endswith("-buffer-assignment.txt")


def test_a_total_beside_an_assignment_that_ends_too_early_is_not_judged(compiled: Path) -> None:
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    text = assignment.read_text()
    last = "allocation 12: size 512, color 1, page 0, preallocated-temp:\n"
    for end in (text.index(last), text.index(last) + len(last), len(text) - 20):
        assignment.write_text(text[:end])
        codes = {finding.code for _, finding in found_in(compiled)}
        assert codes
        assert "total-mismatch" not in codes


def test_a_total_is_not_judged_where_a_line_may_have_been_an_allocation(sample: str) -> None:
    text = replaced(sample, "allocation 13: size 4,", "allocation 13: sie 4,")
    assert [code for code, _, _ in tell(text)] == ["syntax"]
    # A line that is none of an assignment does not matter.
    text = replaced(sample, "used: 172580 ", "used: 172581 ").replace("  Arg_0.12\n", "  ?\n", 1)
    assert "total-mismatch" in [code for code, _, _ in tell(text)]


def test_a_total_without_allocations_is_not_judged(sample: str) -> None:
    text = sample[sample.index("Total bytes used") :].replace("172580", "1")
    assert dump_of(text).total_bytes == 1
    assert "total-mismatch" not in [code for code, _, _ in tell(text)]
