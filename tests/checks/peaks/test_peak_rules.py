"""Tests for ``peak-moment``, ``peak-list``, ``peak-bytes``, and ``peak-cumulative``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replace_once, reports
from checks.live import live_range_reports
from dumps import SMALL_DUMPS
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.run import check
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.document import Document

FUSION = "    fusion{}: 2048 bytes (cumulative: 43008 bytes)\n"
SQRT = "    add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)\n"
LAST = "    fusion.5{}: 64 bytes (cumulative: 43200 bytes)"


@pytest.fixture(scope="session")
def old(corpus_small: Path) -> str:
    """Return a list of jax 0.4: names without index, bytes of whole instructions."""
    name = "module_0042.jit_don.sm_9.0_gpu_after_optimizations-buffer-assignment.txt"
    return (corpus_small / "gpu_h100_jax_0.4.38" / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "sentence"),
    [
        ("ranges at 13 (peak)", "ranges at 11 (peak)", "peak-moment",
         "244:   Live ranges at »11« (peak):",
         "the peak is declared at step 11, where XLA counts 28,952 B: expected step 13, the "
         "first with the maximum of 31,000 B"),
        ("    fusion{}: 2048", "    fusion.1{}: 2048", "peak-list",
         "250:     »fusion.1{}: 2048 bytes (cumulative: 43008 bytes)«",
         "`fusion.1{}` is not live at the declared peak"),
        (SQRT, "    copy-start{}: 24 bytes (cumulative: 43100 bytes)\n" + SQRT, "peak-list",
         "251:     »copy-start{}: 24 bytes (cumulative: 43100 bytes)«",
         "`copy-start{}` is not live at the declared peak"),
        (FUSION, "", "peak-list",
         "250:     »add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)«",
         "`fusion{}` is live at the declared peak, but missing here"),
        (FUSION, FUSION + FUSION, "peak-list",
         "251:     »fusion{}: 2048 bytes (cumulative: 43008 bytes)«",
         "`fusion{}` is repeated or out of order"),
        (FUSION + SQRT, SQRT + FUSION, "peak-list",
         "251:     »fusion{}: 2048 bytes (cumulative: 43008 bytes)«",
         "`fusion{}` is repeated or out of order"),
        ("    add_sqrt_fusion{}:9-13", "    add_sqrt_fusion{}:9-12", "peak-list",
         "251:     »add_sqrt_fusion{}: 64 bytes (cumulative: 43072 bytes)«",
         "`add_sqrt_fusion{}` is not live at the declared peak"),
        ("fusion{}: 2048 bytes (c", "fusion{}: 2040 bytes (c", "peak-bytes",
         "250:     fusion{}: »2040« bytes (cumulative: 43008 bytes)",
         "`fusion{}` has 2,040 B, but its shape has 2,048 B"),
        ("cumulative: 43008", "cumulative: 43009", "peak-cumulative",
         "250:     fusion{}: 2048 bytes (cumulative: »43009« bytes)",
         "cumulative 43,009 B is not the sum so far: expected 43,008 B"),
    ],
)  # fmt: skip
def test_damaged_peak_is_reported_once(
    sample: str, old: str, new: str, *, code: str, place: str, sentence: str
) -> None:
    assert reports(replace_once(sample, old, new)) == [(code, place, sentence)]


def test_live_range_and_peak_are_related(sample: str) -> None:
    (finding,) = findings(
        replace_once(sample, "    add_sqrt_fusion{}:9-13", "    add_sqrt_fusion{}:9-12")
    )
    assert related(finding) == [
        ("240:     »add_sqrt_fusion{}:9-12«", "the live range"),
        ("244:   »Live ranges at 13 (peak):«", "the peak, step 13"),
    ]


def test_rows_missing_at_end_are_reported(sample: str) -> None:
    ((code, place, _),) = reports(sample[: sample.index(SQRT)])
    assert (code, place.split(":")[0]) == ("peak-list", "250")


def test_first_of_equal_maxima_is_the_peak(corpus_small: Path) -> None:
    name = "module_0018.jit_scan_fn.cl_1003875606.after_optimizations-live-range.txt"
    library = DumpWorkspace()
    path = corpus_small / "tpu_v5e" / name
    text = replace_once(path.read_text("utf-8"), "ranges at 26 (peak)", "ranges at 27 (peak)")
    file = library.open(path.as_uri(), path, Document(text))
    rules = [rule for rule in CATALOGUE if rule.code == "peak-moment"]
    (finding,) = check(library.compile_of(file), file, rules)
    assert finding.message == (
        "the peak is declared at step 27, where XLA counts 241,852 B: expected step 26, the first "
        "with the maximum of 241,852 B"
    )


def test_foreign_list_is_reported_once(sample: str) -> None:
    start = sample.index("    Arg_1.2{}: 16384")
    assert reports(sample[:start] + sample[start:].replace("    ", "    x")) == [
        (
            "peak-list",
            "244:   »Live ranges at 13 (peak):«",
            "9 rows differ from the values that are live at step 13",
        )
    ]


def test_first_five_differences_are_reported(sample: str) -> None:
    start, end = sample.split("(peak):\n")
    found = live_range_reports(f"{start}(peak):\n{end.replace('{}: ', '{}: 1', 9)}")
    assert [code for code, _, _ in found].count("peak-bytes") == 5


def test_list_of_instructions_is_compared(old: str) -> None:
    assert live_range_reports(old) == []
    start, end = old[: old.rindex("(peak):\n") + 8], old[old.rindex("(peak):\n") + 8 :]
    rows = end.split("\n")
    damages = {
        "peak-bytes": [rows[0].replace(": ", ": 1"), *rows[1:]],
        "peak-list": [rows[0].replace(": ", "x: "), *rows[1:]],
    }
    for code, damaged in damages.items():
        assert [reported[0] for reported in live_range_reports(start + "\n".join(damaged))] == [
            code
        ]
    swapped = [rows[1], rows[0], *rows[2:]]
    assert rows[0] != rows[1]
    ((code, _, sentence),) = live_range_reports(start + "\n".join(swapped))
    assert code == "peak-list"
    assert sentence.endswith("is repeated or out of order")


@pytest.fixture(scope="session")
def unsorted() -> str:
    """Return a dump of jax 0.6.0: the list at the peak has indexes, but no cumulative sizes."""
    return (SMALL_DUMPS / "jax_0.6.0_gpu.txt").read_text("utf-8")


def test_list_without_cumulative_bytes_has_id_order(unsorted: str) -> None:
    assert reports(unsorted) == []
    one, two = "    Arg_1.2{}: 864 bytes\n", "    loop_transpose_fusion{}: 864 bytes\n"
    assert live_range_reports(replace_once(unsorted, one + two, two + one)) == [
        (
            "peak-list",
            "74:     »Arg_1.2{}: 864 bytes«",
            "`Arg_1.2{}` is repeated or out of order",
        )
    ]


UNSORTED = {
    "another size": (
        "    cudnn-conv.1{0}: 16384 bytes", "    cudnn-conv.1{0}: 16 bytes", "peak-bytes",
        "76:     cudnn-conv.1{0}: »16« bytes",
        "`cudnn-conv.1{0}` has 16 B, but its shape has 16,384 B",
    ),
    "a missing row": (
        "    cudnn-conv.1{0}: 16384 bytes\n", "", "peak-list", "76:     »cudnn-conv.1{1}: 0 bytes«",
        "`cudnn-conv.1{0}` is live at the declared peak, but missing here",
    ),
    "another index": (
        "    cudnn-conv.1{0}: 16384", "    cudnn-conv.1{2}: 16384", "peak-list",
        "76:     »cudnn-conv.1{2}: 16384 bytes«",
        "`cudnn-conv.1{2}` is not live at the declared peak",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNSORTED)
def test_list_without_cumulative_bytes_is_compared(unsorted: str, what: str) -> None:
    old, new, *expected = UNSORTED[what]
    assert live_range_reports(replace_once(unsorted, old, new)) == [tuple(expected)]
