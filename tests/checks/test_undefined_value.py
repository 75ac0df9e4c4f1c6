"""``undefined-value``: every mention of a value is one of a value that exists."""

from pathlib import Path

from checks.damage import findings, found_in, quoted, related, replaced, tell, told
from hlo_lsp.checks.finding import Severity


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


def test_an_entry_whose_value_lies_in_no_allocation(sample: str) -> None:
    text = replaced(sample, "\n<69 Arg_1.2 @0>", "\n<99 Arg_1.2 @0>")
    assert tell(text) == [
        (
            "undefined-value",
            "5:  value: <»69« Arg_1.2 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}",
            "value 69 `Arg_1.2{}` has no entry under `Used values`",
        ),
        (
            "undefined-value",
            "132: <»99« Arg_1.2 @0>",
            "value 99 `Arg_1.2{}` lies in no allocation",
        ),
    ]


def test_a_value_line_that_was_cut_out(sample: str) -> None:
    line = next(line for line in sample.split("\n") if line.startswith(" value: <79 fusion"))
    assert tell(replaced(sample, line + "\n", "")) == [
        ("undefined-value", "203: <»79« fusion @0>", "value 79 `fusion{}` lies in no allocation")
    ]


def test_an_entry_that_was_cut_out(sample: str) -> None:
    start, end = sample.index("\n<68 Arg_0.1"), sample.index("\n<69 Arg_1.2")
    assert tell(sample[:start] + sample[end:]) == [
        (
            "undefined-value",
            "11:  value: <»68« Arg_0.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}",
            "value 68 `Arg_0.1{}` has no entry under `Used values`",
        )
    ]


def test_a_value_that_has_two_names(sample: str) -> None:
    text = replaced(sample, " value: <69 Arg_1.2 @0>", " value: <69 Arg_1.7 @0>")
    (finding,) = findings(text)
    assert told(finding) == (
        "undefined-value",
        "132: <69 »Arg_1.2« @0>",
        "value 69 is `Arg_1.2{}` here and `Arg_1.7{}` in its allocation",
    )
    assert related(finding) == [
        (
            "5:  value: <69 »Arg_1.7« @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}",
            "the other name",
        )
    ]


def test_a_value_whose_own_line_is_broken_is_not_missed_elsewhere(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    text = assignment.read_text()
    values.unlink()
    assignment.write_text(replaced(text, " value: <10 a.1 @0> (size=", " value: <10 a.1 @0> (sie="))
    assert [finding.code for _, finding in found_in(compiled)] == ["syntax"]


def test_a_value_whose_own_header_is_broken_is_not_missed_elsewhere(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    values.write_text(replaced(values.read_text(), "\n<10 a.1 @0>", "\n<10 a.1 @0"))
    assert [finding.code for _, finding in found_in(compiled)] == ["syntax"]
    assignment.unlink()
    assert [finding.code for _, finding in found_in(compiled)] == ["syntax"]


def test_in_a_split_dump_a_name_is_looked_for_in_the_files_beside_it(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(replaced(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    ((name, finding),) = found_in(compiled)
    assert (name, finding.code) == ("-live-range.txt", "undefined-value")
    assert quoted(finding.place) == "17:     »a.2«{}:0-8"


def test_without_the_files_beside_it_no_name_is_judged(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(ranges.read_text().replace("a.1{}", "a.2{}"))
    for path in (*compiled.glob("*-values.txt"), *compiled.glob("*-buffer-assignment.txt")):
        path.unlink()
    assert found_in(compiled) == []


def test_the_values_file_alone_is_enough_to_know_a_name(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    assignment.unlink()
    assert found_in(compiled) == []
    ranges.write_text(replaced(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    assert [finding.code for _, finding in found_in(compiled)] == ["undefined-value"]


def test_in_the_form_of_jax_0_4_a_row_at_the_peak_names_an_instruction(corpus_small: Path) -> None:
    folder = corpus_small / "gpu_h100_jax_0.4.38"
    name = "module_0014.jit_scan_g.sm_9.0_gpu_after_optimizations-buffer-assignment.txt"
    text = (folder / name).read_text()
    assert " bytes (cumulative" not in text
    assert tell(text, name) == []
