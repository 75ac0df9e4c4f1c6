"""``peak-moment`` ``peak-list`` ``peak-bytes`` ``peak-cumulative`` ``peak-understated``."""

from pathlib import Path

import pytest

from checks.damage import dump_of, findings, related, replaced, tell, told
from checks.live import problems, tell_live
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.rules.peaks import peak_understated

FIRST = "    Arg_1.2{}: 16384 bytes (cumulative: 16384 bytes)\n"
FUSION = "    fusion{}: 2048 bytes (cumulative: 43008 bytes)\n"
SQRT = "    add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)\n"
LAST = "    fusion.5{}: 64 bytes (cumulative: 43200 bytes)"


@pytest.fixture(scope="session")
def old(corpus_small: Path) -> str:
    """A list of jax 0.4: names without index, bytes of whole instructions."""
    name = "module_0042.jit_don.sm_9.0_gpu_after_optimizations-buffer-assignment.txt"
    return (corpus_small / "gpu_h100_jax_0.4.38" / name).read_text("utf-8")


def test_a_moment_that_is_not_the_largest(sample: str) -> None:
    (finding,) = findings(replaced(sample, "ranges at 13 (peak)", "ranges at 11 (peak)"))
    assert told(finding) == (
        "peak-moment",
        "244:   Live ranges at »11« (peak):",
        "the peak is said to be at step 11, where XLA counts 28,952 B; it counts most at step 13, "
        "31,000 B",
    )


def test_a_name_that_no_value_has(sample: str) -> None:
    assert tell(replaced(sample, "    fusion{}: 2048", "    fusion.1{}: 2048")) == [
        (
            "peak-list",
            "250:     »fusion.1«{}: 2048 bytes (cumulative: 43008 bytes)",
            "no value `fusion.1{}` is in any allocation or under `Used values`; `fusion{}` is due "
            "here",
        )
    ]


def test_a_value_that_does_not_live_then(sample: str) -> None:
    more = "    copy-start{}: 24 bytes (cumulative: 43100 bytes)\n"
    (finding,) = findings(replaced(sample, SQRT, more + SQRT))
    assert (finding.code, finding.message) == (
        "peak-list",
        "`copy-start{}` does not live at step 13",
    )
    assert related(finding) == [("234:     »copy-start{}:1-4«", "its live range")]


def test_a_row_that_is_gone(sample: str) -> None:
    assert tell(replaced(sample, FUSION, "")) == [
        (
            "peak-list",
            "250:     »add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)«",
            "`fusion{}` lives at step 13 and is missing in front of this row",
        )
    ]
    ((_, place, sentence),) = tell(replaced(sample, LAST, ""))
    assert place.startswith("252:")
    assert sentence == "`fusion.5{}` lives at step 13 and is missing at the end of the list"


def test_a_row_that_is_doubled_or_changed_places(sample: str) -> None:
    (finding,) = findings(replaced(sample, FUSION, FUSION + FUSION))
    assert (finding.code, finding.message) == ("peak-list", "`fusion{}` stands in this list twice")
    assert finding.place.line == 250
    ((code, _, sentence),) = tell(replaced(sample, FUSION + SQRT, SQRT + FUSION))
    assert code == "peak-list"
    assert sentence == "`add_sqrt_fusion{}` and `fusion{}` have changed places"


def test_a_live_range_that_the_list_contradicts_is_accused_itself(sample: str) -> None:
    text = replaced(sample, "    add_sqrt_fusion{}:9-13", "    add_sqrt_fusion{}:9-12")
    (finding,) = findings(text)
    assert told(finding) == (
        "peak-list",
        "240:     add_sqrt_fusion{}:9-»12«",
        "`add_sqrt_fusion{}` lives from step 9 to 12, but is in the list at the peak, step 13",
    )
    assert related(finding) == [
        (
            "251:     »add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)«",
            "the running sums need this row",
        )
    ]


def test_bytes_and_running_sums_are_told_apart(sample: str) -> None:
    assert tell(replaced(sample, "fusion{}: 2048 bytes (c", "fusion{}: 2040 bytes (c")) == [
        (
            "peak-bytes",
            "250:     fusion{}: »2040« bytes (cumulative: 43008 bytes)",
            "`fusion{}` takes 2,048 B without padding, not 2,040 B",
        )
    ]
    assert tell(replaced(sample, "cumulative: 43008", "cumulative: 43009")) == [
        (
            "peak-cumulative",
            "250:     fusion{}: 2048 bytes (cumulative: »43009« bytes)",
            "the rows up to here add up to 43,008 B, not 43,009 B",
        )
    ]


def test_a_shape_that_the_sums_contradict_is_no_fault_of_the_list(sample: str) -> None:
    text = replaced(
        sample, "0> (size=8192,offset=0): f32[16,32]{", "0> (size=8192,offset=0): f32[16,3]{"
    )
    assert tell_live(text) == []


def test_the_form_of_jax_0_4(old: str) -> None:
    assert tell_live(old) == []
    start, end = old[: old.rindex("(peak):\n") + 8], old[old.rindex("(peak):\n") + 8 :]
    rows = end.split("\n")
    damages = {
        "peak-bytes": [rows[0].replace(": ", ": 1"), *rows[1:]],
        "peak-list": [rows[0].replace(": ", "x: "), *rows[1:]],
    }
    for code, damaged in damages.items():
        assert [told[0] for told in tell_live(start + "\n".join(damaged))] == [code]
    swapped = [rows[1], rows[0], *rows[2:]]
    assert rows[0] != rows[1]
    ((code, _, sentence),) = tell_live(start + "\n".join(swapped))
    assert code == "peak-list"
    assert sentence.endswith("have changed places")


def test_a_declared_peak_that_is_too_low(sample: str) -> None:
    dump = dump_of(sample)
    survey = Survey(Context(dump), "peak-understated", Severity.INFORMATION)
    (finding,) = [found for found in peak_understated(survey) if found is not None]
    assert told(finding) == (
        "peak-understated",
        "244:   Live ranges at »13« (peak):",
        "43,200 B (42.2 KiB) live at the declared peak, step 13; the true peak is at step 5: "
        "49,232 B (48.1 KiB), 1.14 times as much",
    )
    assert related(finding) == [("218:     »5:multiply_reduce_fusion«", "the true peak")]


def test_a_declared_peak_that_is_right_is_not_spoken_of(compiled: Path) -> None:
    found = problems(compiled, Severity.INFORMATION)
    assert [one.code for one in found if one.code == "peak-understated"] == []
