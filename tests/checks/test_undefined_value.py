"""``undefined-value``: every mention of a value is one of a value that exists."""

from pathlib import Path

from checks.damage import findings, found_in, replaced, tell, told
from hlo_lsp.checks.finding import Severity


def _codes(folder: Path) -> list[str]:
    """What is wrong in a folder, beside files that are missing."""
    codes = [finding.code for _, finding in found_in(folder)]
    return [code for code in codes if code != "sibling-missing"]


def test_a_live_range_of_a_name_that_no_value_has(sample: str) -> None:
    (finding,) = findings(replaced(sample, "    fusion.5{}:10-13", "    fusion.55{}:10-13"))
    assert told(finding) == (
        "undefined-value",
        "241:     »fusion.55«{}:10-13",
        "no value `fusion.55{}` is in any allocation or under `Used values`",
    )
    assert finding.severity is Severity.ERROR


def test_a_live_range_of_a_leaf_that_the_instruction_lacks(sample: str) -> None:
    text = replaced(sample, "    copy-start{2}:1-4", "    copy-start{3}:1-4")
    assert tell(text) == [
        (
            "undefined-value",
            "236:     »copy-start«{3}:1-4",
            "no value `copy-start{3}` is in any allocation or under `Used values`",
        )
    ]


def test_a_row_at_the_peak_of_a_name_that_no_value_has(sample: str) -> None:
    text = replaced(sample, "    fusion.2{}: 64 bytes", "    fusion.3{}: 64 bytes")
    assert tell(text) == [
        (
            "undefined-value",
            "252:     »fusion.3«{}: 64 bytes (cumulative: 43136 bytes)",
            "no value `fusion.3{}` is in any allocation or under `Used values`",
        )
    ]


def test_a_value_whose_own_line_is_broken_is_not_missed_elsewhere(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    text = assignment.read_text()
    values.unlink()
    assignment.write_text(replaced(text, " value: <10 a.1 @0> (size=", " value: <10 a.1 @0> (sie="))
    assert _codes(compiled) == ["syntax"]


def test_a_value_whose_own_header_is_broken_is_not_missed_elsewhere(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    values.write_text(replaced(values.read_text(), "\n<10 a.1 @0>", "\n<10 a.1 @0"))
    assert _codes(compiled) == ["syntax"]
    assignment.unlink()
    assert _codes(compiled) == ["syntax"]


def test_in_a_split_dump_a_name_is_looked_for_in_the_files_beside_it(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(replaced(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    ((name, finding),) = found_in(compiled)
    assert (name, finding.code) == ("-live-range.txt", "undefined-value")
    assert finding.spot.line == 17


def test_without_the_files_beside_it_no_name_is_judged(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(ranges.read_text().replace("a.1{}", "a.2{}"))
    for path in (*compiled.glob("*-values.txt"), *compiled.glob("*-buffer-assignment.txt")):
        path.unlink()
    assert _codes(compiled) == []


def test_the_values_file_alone_is_enough_to_know_a_name(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    assignment.unlink()
    assert _codes(compiled) == []
    ranges.write_text(replaced(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    assert _codes(compiled) == ["undefined-value"]


def test_in_the_form_of_jax_0_4_a_row_at_the_peak_names_an_instruction(corpus_small: Path) -> None:
    folder = corpus_small / "gpu_h100_jax_0.4.38"
    name = "module_0014.jit_scan_g.sm_9.0_gpu_after_optimizations-buffer-assignment.txt"
    text = (folder / name).read_text()
    assert " bytes (cumulative" not in text
    assert tell(text, name) == []
