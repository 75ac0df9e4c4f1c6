"""``live-range-unknown`` ``-missing`` ``-order`` ``-bounds`` ``-start`` ``-parameter``."""

from pathlib import Path

import pytest

from checks.damage import findings, related, replaced, tell, told
from checks.live import PREFIXES, problems, tell_beside, tell_live
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet

ROW = "    fusion.5{}:10-13\n"


def test_a_name_that_no_value_has(sample: str) -> None:
    assert tell_live(replaced(sample, ROW, "    fusion.55{}:10-13\n")) == [
        (
            "live-range-unknown",
            "241:     »fusion.55«{}:10-13",
            "no value `fusion.55{}` is in any allocation or under `Used values`; the live range of "
            "`fusion.5{}` is due here",
        )
    ]


def test_a_leaf_that_the_instruction_lacks(sample: str) -> None:
    text = replaced(sample, "    copy-start{2}:1-4", "    copy-start{3}:1-4")
    ((code, place, _),) = tell_live(text)
    assert (code, place) == ("live-range-unknown", "236:     »copy-start«{3}:1-4")


def test_a_row_too_many(sample: str) -> None:
    ((code, _, sentence),) = tell_live(replaced(sample, ROW, ROW + "    more.1{}:10-13\n"))
    assert code == "live-range-unknown"
    assert sentence == "no value `more.1{}` is in any allocation or under `Used values`"


def test_a_thread_local_value(sample: str) -> None:
    assert tell_live(replaced(sample, ROW, "    add.38{}:10-10\n" + ROW)) == [
        (
            "live-range-unknown",
            "241:     »add.38«{}:10-10",
            "`add.38{}` is thread-local: such a value has no live range",
        )
    ]


def test_a_row_that_is_gone(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, ""))
    assert told(finding) == (
        "live-range-missing",
        "241:     »fusion.2{}:11-13«",
        "value 77 `fusion.5{}` has no live range: it is due in front of `fusion.2{}`",
    )
    assert related(finding)[0][0].startswith("41:  »value: <77 fusion.5 @1>")


def test_the_last_row_is_gone(sample: str) -> None:
    assert tell_live(replaced(sample, "    fusion{}:13-14\n", "")) == [
        (
            "live-range-missing",
            "242:     »fusion.2{}:11-13«",
            "value 79 `fusion{}` has no live range: it is due behind the last row",
        )
    ]


def test_all_rows_are_gone(sample: str) -> None:
    label = "  BufferLiveRange:\n"
    start, end = sample.index(label) + len(label), sample.index("  Live ranges at")
    assert tell_live(sample[:start] + sample[end:]) == [
        (
            "live-range-missing",
            "227:   »BufferLiveRange:«",
            "16 values have no live range, and 0 have one",
        )
    ]


def test_the_only_row_is_gone(corpus_small: Path) -> None:
    paths = sorted((corpus_small / "cpu").glob("module_0055.jit__lambda.*after_optimizations-*"))
    texts = {path.name: path.read_text() for path in paths}
    (name,) = (name for name in texts if name.endswith("-live-range.txt"))
    texts[name] = replaced(texts[name], "    wrapped_iota{}:0-1\n", "")
    dump = DumpSet([DumpFile.of_text(text, name) for name, text in texts.items()])
    found = [told(one) for file in dump.files for one in check(dump, file)]
    assert found == [
        (
            "live-range-missing",
            "4:   »BufferLiveRange:«",
            "value 1 `wrapped_iota{}` has no live range: it is due below this line",
        )
    ]


def test_neighbours_that_are_gone_are_told_once(sample: str) -> None:
    lines = [line for line in sample.split("\n") if not line.startswith("    copy-start{0}:")]
    text = replaced("\n".join(lines), "    copy-start{2}:1-4\n", "")
    ((code, _, sentence),) = tell_live(text)
    assert code == "live-range-missing"
    assert sentence.startswith("value 71 `copy-start{0}` and 1 more values have no live range")


def test_a_line_that_cannot_be_read_is_not_missed(sample: str) -> None:
    text = replaced(sample, ROW, "    fusion.5{}:10=13\n")
    assert [code for code, _, _ in tell(text)] == ["syntax"]


def test_rows_that_changed_places_are_told_once(sample: str) -> None:
    other = "    fusion.2{}:11-13\n"
    assert tell(replaced(sample, ROW + other, other + ROW)) == [
        (
            "live-range-order",
            "241:     »fusion.2{}:11-13«",
            "value 78 `fusion.2{}` and value 77 `fusion.5{}` have changed places: live ranges "
            "stand by the ids of their values",
        )
    ]


def test_a_row_that_was_moved(sample: str) -> None:
    text = replaced(sample, ROW, "")
    text = replaced(text, "    copy-start{}:1-4\n", ROW + "    copy-start{}:1-4\n")
    ((code, place, sentence),) = tell_live(text)
    assert (code, place) == ("live-range-order", "234:     »fusion.5{}:10-13«")
    assert "is due in front of value 78 `fusion.2{}`" in sentence


def test_a_row_that_is_doubled(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, ROW + ROW))
    assert (finding.code, finding.message) == (
        "live-range-order",
        "`fusion.5{}` has two live ranges",
    )


def test_a_row_that_took_the_name_of_another(sample: str) -> None:
    assert tell_live(replaced(sample, ROW, "    Arg_0.1{}:10-13\n")) == [
        (
            "live-range-order",
            "241:     »Arg_0.1{}:10-13«",
            "`Arg_0.1{}` has two live ranges; that of `fusion.5{}` is due here",
        )
    ]


def test_a_range_that_ends_before_it_starts(sample: str) -> None:
    ((code, place, sentence),) = tell_live(replaced(sample, ROW, "    fusion.5{}:13-10\n"))
    assert (code, place) == ("live-range-bounds", "241:     fusion.5{}:»13«-10")
    assert sentence == "the range starts at step 13, after its end at step 10"
    ((_, place, _),) = tell_live(replaced(sample, ROW, "    fusion.5{}:10-9\n"))
    assert place == "241:     fusion.5{}:10-»9«", "it starts where it should"


def test_a_range_that_ends_behind_the_schedule(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, "    fusion.5{}:10-15\n"))
    assert told(finding) == (
        "live-range-bounds",
        "241:     fusion.5{}:10-»15«",
        "the range ends at step 15, but the schedule ends at 14",
    )
    assert related(finding) == [("211: HloLiveRange (max »14«):", "the schedule ends at 14")]


def test_without_a_head_the_rows_are_the_schedule(sample: str) -> None:
    text = sample.replace("HloLiveRange (max 14):\n", "")
    assert [code for code, _, _ in tell_live(text)] == []
    ((code, _, _),) = tell_live(replaced(text, ROW, "    fusion.5{}:10-99\n"))
    assert code == "live-range-bounds"


def test_a_start_that_is_not_the_step_of_the_instruction(sample: str) -> None:
    (finding,) = findings(replaced(sample, ROW, "    fusion.5{}:9-13\n"))
    assert told(finding) == (
        "live-range-start",
        "241:     fusion.5{}:»9«-13",
        "the range starts at step 9, not at 10: `fusion.5` stands at step 10 of the schedule",
    )
    (fix,) = finding.fixes
    assert [edit.text for edit in fix.edits] == ["10"]


@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            "    b.1{}:0-12",
            "    b.1{}:4-12",
            "16:     b.1{}:»4«-12",
            "the range starts at step 4, not at 0: the computation `main.3` begins at step 0",
        ),
        (
            "    a.1{}:0-8",
            "    a.1{}:5-8",
            "17:     a.1{}:»5«-8",
            "the range starts at step 5, not at 0: the computation `main.3` begins at step 0",
        ),
        (
            "    b.1{}:0-12",
            "    b.1{}:0-11",
            "16:     b.1{}:0-»11«",
            "the range of a parameter that is not overwritten ends at step 11, not at 12",
        ),
    ],
)
def test_parameters_live_from_the_first_step(
    compiled: Path, old: str, new: str, place: str, sentence: str
) -> None:
    assert tell_beside(compiled, old, new) == [("live-range-parameter", place, sentence)]


def test_a_value_whose_line_or_entry_is_broken_is_known_by_the_other(compiled: Path) -> None:
    assert (
        tell_beside(
            compiled, " value: <10 a.1 @0> (size=", " value: <10 a.1 @0> (sie=", "-assignment.txt"
        )
        == []
    )


def test_where_all_lists_of_values_are_broken_no_name_is_judged(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.unlink()
    broken = " value: <10 a.1 @0> (sie="
    assert tell_beside(compiled, " value: <10 a.1 @0> (size=", broken, "-assignment.txt") == []


def test_the_values_file_alone_is_enough_to_know_a_name(compiled: Path) -> None:
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    assignment.unlink()
    assert problems(compiled) == []
    ((code, _, _),) = tell_beside(compiled, "    a.1{}:0-8", "    a.2{}:0-8")
    assert code == "live-range-unknown"


def test_without_the_files_beside_it_no_name_is_judged(compiled: Path) -> None:
    for path in (*compiled.glob("*-values.txt"), *compiled.glob("*-buffer-assignment.txt")):
        path.unlink()
    assert tell_beside(compiled, "    a.1{}:0-8", "    a.2{}:0-8") == []


def test_ranges_of_another_compile_are_compared_with_nothing(
    corpus_small: Path, compiled: Path
) -> None:
    (own,) = compiled.glob("*-live-range.txt")
    (other,) = (corpus_small / "tpu_v5e").glob("*jit_mlp_train*-live-range.txt")
    own.write_bytes(other.read_bytes())
    codes = [one.code for one in problems(compiled)]
    assert "sibling-mismatch" in codes
    assert [code for code in codes if code.startswith(PREFIXES)] == []
