"""``peak-moment`` ``peak-list`` ``peak-bytes`` ``peak-cumulative``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replaced, tell, told
from checks.live import problems, tell_live
from dumps import SMALL_DUMPS
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.run import check
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.document import Document

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


def test_a_moment_that_is_not_the_first_of_the_largest(corpus_small: Path) -> None:
    name = "module_0018.jit_scan_fn.cl_1003875606.after_optimizations-live-range.txt"
    library = DumpWorkspace()
    path = corpus_small / "tpu_v5e" / name
    text = replaced(path.read_text("utf-8"), "ranges at 26 (peak)", "ranges at 27 (peak)")
    file = library.open(path.as_uri(), path, Document(text))
    rules = [rule for rule in CATALOGUE if rule.code == "peak-moment"]
    (finding,) = check(library.set_of(file), file, rules)
    assert finding.message == (
        "the peak is said to be at step 27; XLA takes the first step at which it counts most, and "
        "counts the same 241,852 B at step 26 already"
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


def test_rows_that_are_gone(sample: str) -> None:
    ((_, place, sentence),) = tell(replaced(sample, FUSION + SQRT, ""))
    assert place.startswith("250:     »fusion.2{}")
    assert sentence == "`fusion{}` and 1 more live at step 13 and are missing in front of this row"
    start = sample.index(SQRT)
    ((_, place, sentence),) = tell(sample[:start])
    assert place.startswith("250:     »fusion{}")
    assert sentence == (
        "`add_sqrt_fusion{}` and 2 more live at step 13 and are missing at the end of the list"
    )


def test_a_list_that_is_none_of_this_program_is_told_once(sample: str) -> None:
    start = sample.index("    Arg_1.2{}: 16384")
    rows = sample[start:].replace("    ", "    x")
    assert tell(sample[:start] + rows) == [
        (
            "peak-list",
            "244:   »Live ranges at 13 (peak):«",
            "9 times this list differs from what lives at step 13",
        )
    ]
    # As many numbers are no list of another program's either.
    rows = sample[start:].replace(" bytes)", "1 bytes)")
    assert [code for code, _, _ in tell(sample[:start] + rows)] == ["peak-list"]


def _many(count: int, row: str) -> str:
    """As many values that live from step 1 on; the rows of the list are from a pattern."""
    numbers = range(10, 10 + count)
    values = (f" value: <{n} v.{n} @0> (size=8,offset={8 * n}): u8[8]{{0}}\n" for n in numbers)
    entries = (
        f"<{n} v.{n} @0>\n positions:\n  v.{n}\n uses:\n from instruction: "
        f"%v.{n} = u8[8]{{0}} iota(), iota_dimension=0\n"
        for n in numbers
    )
    return "".join(
        [
            "BufferAssignment:\n",
            f"allocation 0: size {8 * numbers[-1] + 8}, preallocated-temp:\n",
            *values,
            "\nUsed values:\n",
            *entries,
            f"\n\nHloLiveRange (max {count}):\n  InstructionSequence:\n",
            *(f"    {n - 10}:v.{n}\n" for n in numbers),
            "  BufferLiveRange:\n",
            *(f"    v.{n}{{}}:{n - 10}-{count}\n" for n in numbers),
            f"  Live ranges at {count - 1} (peak):\n",
            *(row.format(n=n, sum=8 * (n - 9)) for n in numbers),
        ]
    )


@pytest.mark.parametrize(
    ("row", "damage", "code"),
    [
        ("    v.{n}{{}}: 8 bytes (cumulative: {sum} bytes)\n", ("}: 8 b", "}: 9 b"), "peak-bytes"),
        ("    v.{n}: 8 bytes\n", (": 8 b", ": 9 b"), "peak-bytes"),
        ("    v.{n}{{}}: 8 bytes (cumulative: {sum} bytes)\n", ("v.", "w."), "peak-list"),
        ("    v.{n}: 8 bytes\n", ("v.", "w."), "peak-list"),
    ],
)
def test_of_many_flaws_five_are_told(row: str, damage: tuple[str, str], code: str) -> None:
    right = _many(20, row)
    assert tell_live(right) == []
    start = right.index("(peak):\n") + len("(peak):\n")
    found = tell_live(right[:start] + right[start:].replace(*damage, 7))
    assert [one[0] for one in found] == [code] * 5
    assert [one[1].split(":")[0] for one in found] == [
        str(right[:start].count("\n") + number) for number in range(1, 6)
    ]


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


def test_of_a_live_range_the_end_that_is_wrong_is_accused(sample: str) -> None:
    late = replaced(sample, "    9:add_sqrt_fusion\n", "    9:nobody\n")
    late = replaced(late, "add_sqrt_fusion{}:9-13", "add_sqrt_fusion{}:14-14")
    (told_of,) = [one for one in tell(late) if one[0] == "peak-list"]
    assert told_of[1:] == (
        "240:     add_sqrt_fusion{}:»14«-14",
        "`add_sqrt_fusion{}` lives from step 14 to 14, but is in the list at the peak, step 13",
    )
    (finding,) = findings(replaced(sample, "    copy-start{0}:1-5\n", "    copy-start{0}:1-13\n"))
    assert told(finding) == (
        "peak-list",
        "235:     copy-start{0}:1-»13«",
        "`copy-start{0}` lives from step 1 to 13, but is not in the list at the peak, step 13",
    )
    assert related(finding) == [
        ("244:   »Live ranges at 13 (peak):«", "the list at the peak"),
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


@pytest.fixture(scope="session")
def unsorted() -> str:
    """A dump of jax 0.6.0: the list at the peak has indexes, but no cumulative sizes."""
    return (SMALL_DUMPS / "jax_0.6.0_gpu.txt").read_text("utf-8")


def test_a_list_without_cumulative_sizes_is_in_the_order_of_ids(unsorted: str) -> None:
    assert tell(unsorted) == []
    one, two = "    Arg_1.2{}: 864 bytes\n", "    loop_transpose_fusion{}: 864 bytes\n"
    assert tell_live(replaced(unsorted, one + two, two + one)) == [
        (
            "peak-list",
            "73:     »loop_transpose_fusion{}: 864 bytes«",
            "`loop_transpose_fusion{}` and `Arg_1.2{}` have changed places",
        )
    ]


UNSORTED = {
    "another size": (
        "    cudnn-conv.1{0}: 16384 bytes",
        "    cudnn-conv.1{0}: 16 bytes",
        "peak-bytes",
        "76:     cudnn-conv.1{0}: »16« bytes",
        "`cudnn-conv.1{0}` takes 16,384 B without padding, not 16 B",
    ),
    "a missing row": (
        "    cudnn-conv.1{0}: 16384 bytes\n",
        "",
        "peak-list",
        "76:     »cudnn-conv.1{1}: 0 bytes«",
        "`cudnn-conv.1{0}` lives at step 4 and is missing in front of this row",
    ),
    "another index": (
        "    cudnn-conv.1{0}: 16384",
        "    cudnn-conv.1{2}: 16384",
        "peak-list",
        "76:     »cudnn-conv.1«{2}: 16384 bytes",
        "no value `cudnn-conv.1{2}` is in any allocation or under `Used values`; "
        "`cudnn-conv.1{0}` is due here",
    ),
}


@pytest.mark.parametrize("what", UNSORTED)
def test_a_list_without_cumulative_sizes_is_held_against_the_values(
    unsorted: str, what: str
) -> None:
    old, new, *told_of = UNSORTED[what]
    assert tell_live(replaced(unsorted, old, new)) == [tuple(told_of)]


def test_a_declared_peak_that_is_right_is_not_spoken_of(compiled: Path) -> None:
    found = problems(compiled, Severity.INFORMATION)
    assert [one.code for one in found if one.code == "peak-understated"] == []
