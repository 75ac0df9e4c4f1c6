"""Tests for the order of sections and for truncated texts."""

from pathlib import Path

import pytest

from checks.damage import dump_of, replace_once
from checks.values_rules import edit_file, reports_in, reports_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.sections import ending

ASSIGNMENT = "-buffer-assignment.txt"
VALUES = "-buffer-assignment-values.txt"
RANGES = "-live-range.txt"
REPORT = "-memory-usage-report.txt"
MODULE = "after_optimizations.txt"


LABELS = {
    "BufferAssignment:\n": "»allocation 0: size 512, thread-local:«",
    "Total bytes used: 172580 (168.5KiB)\n": "»Used values:«",
    "Used values:\n": "»<0 Arg_0.12 @0>«",
    "HloLiveRange (max 14):\n": "  »InstructionSequence:«",
    "  InstructionSequence:\n": "    »0:Arg_2.3«",
    "  BufferLiveRange:\n": "    »Arg_2.3{}:0-14«",
    "  Live ranges at 13 (peak):\n": "    »Arg_1.2{}: 16384 bytes (cumulative: 16384 bytes)«",
}


@pytest.mark.parametrize("label", LABELS)
def test_missing_label_is_reported_after_it(sample: str, label: str) -> None:
    text = replace_once(sample, label, "")
    line = label.strip()
    ((code, place, message),) = reports_of(text)
    assert code == "section-order"
    expected = text.split("\n")[int(place.split(":")[0]) - 1].strip()
    assert place.endswith(f"»{expected}«")
    assert int(place.split(":")[0]) in {
        sample.split("\n").index(label.rstrip()) + 1,
        sample.split("\n").index(label.rstrip()) + 2,
    }
    assert message.endswith("is missing before this line")
    assert message[1:5] == line[:4]


def test_late_section_is_reported(sample: str) -> None:
    start, end = sample.index("HloLiveRange"), sample.index("Total bytes")
    text = sample[start:].rstrip("\n") + "\n" + sample[:end] + "\n" + sample[end:start]
    assert reports_of(text) == [
        (
            "section-order",
            "44: »BufferAssignment:«",
            "`BufferAssignment:` must be before `Live ranges at ... (peak):`",
        )
    ]


def test_rows_of_another_section_are_reported(sample: str) -> None:
    text = replace_once(
        sample, "<1 Arg_1.13 @0>\n pos", "    fusion.5{}:10-13\n<1 Arg_1.13 @0>\n pos"
    )
    text = replace_once(text, "\n    fusion.5{}:10-13\n    fusion.2", "\n    fusion.2")
    assert reports_of(text) == [
        (
            "section-order",
            "53:     »fusion.5{}:10-13«",
            "this line belongs below `BufferLiveRange:`, not below `Used values:`",
        )
    ]


def test_two_dumps_in_one_text_are_one_finding(sample: str) -> None:
    ((code, place, message),) = reports_of(sample + sample)
    assert (code, place) == ("section-order", "254: »BufferAssignment:«")
    assert message == (
        "`BufferAssignment:` is repeated, first on line 1: this text has more than one dump"
    )


def test_two_modules_in_one_text_are_one_finding(corpus_small: Path) -> None:
    names = ("jit_while_fn", "jit_mlp_train")
    one, other = (
        next((corpus_small / "tpu_v5e").glob(f"*.{name}.*after_optimizations.txt")).read_text(
            "utf-8"
        )
        for name in names
    )
    ((code, place, message),) = reports_of(one + other)
    assert (code, place.split(":")[0]) == ("section-order", str(one.count("\n") + 1))
    assert message.startswith("`HloModule` is repeated, first on line 1: ")


def test_concatenated_split_dump_is_in_order(compiled: Path) -> None:
    texts = [next(compiled.glob(f"*{end}")).read_text() for end in (ASSIGNMENT, VALUES, RANGES)]
    assert reports_of("".join(texts)) == []


# Place of the truncation and missing text.
CUTS = {
    "in the line of a value": ("(size=8192,off", "the rest of this line"),
    "in a shape": ("offset=0): f32[16,", "the rest of this line"),
    "behind the line of a constant's allocation": (
        "allocation 3: size 8192, output shape is |f32[16,32]|, maybe-live-out:\n",
        "the values in allocation 3",
    ),
    "behind the total": ("Total bytes used: 172580 (168.5KiB)\n", "`Used values:`"),
    "behind a label": ("Used values:\n", "the values"),
    "behind a header": ("\n<8 add.38 @0>\n", "the rest of the entry of value 8"),
    "in positions": ("<8 add.38 @0>\n positions:\n  add.38\n", "the rest of the entry of value 8"),
    "in an instruction": (
        "from instruction: %add.38 = f32[]{:T(128)} add(%Arg_0",
        "the rest of this",
    ),
    "in front of a shape": ("from instruction: %add.38 = ", "the rest of this instruction"),
    "behind the head of the live ranges": ("HloLiveRange (max 14):\n", "the schedule"),
    "in the schedule": ("    5:multiply_reduce_fusion\n", "the live ranges"),
    "behind the label of live ranges": ("  BufferLiveRange:\n", "the peak"),
    "in the live ranges": ("    fusion.5{}:10-13\n", "the peak"),
    "behind the peak": ("  Live ranges at 13 (peak):\n", "the values at the peak"),
}


@pytest.mark.parametrize("where", CUTS)
def test_cut_text_is_truncated(sample: str, where: str) -> None:
    last, missing = CUTS[where]
    text = sample[: sample.index(last) + len(last)]
    reported = reports_of(text)
    assert [code for code, _, _ in reported] == ["truncated"]
    _, place, message = reported[0]
    assert int(place.split(":")[0]) == len(text.rstrip("\n").split("\n"))
    assert message.startswith(f"the text ends here, expected {missing}")


def test_text_may_end_after_the_used_values(sample: str) -> None:
    assert reports_of(sample[: sample.index("\n\nHloLiveRange")] + "\n") == []


def test_last_line_end_may_be_missing(sample: str, compiled: Path) -> None:
    assert reports_of(sample.rstrip("\n")) == []
    for path in compiled.iterdir():
        path.write_text(path.read_text().rstrip("\n"))
    assert reports_in(compiled) == []


def _up_to(folder: Path, end: str, last: str) -> None:
    edit_file(folder, end, lambda text: text[: text.index(last)])


def test_short_list_of_entries_is_truncated(compiled: Path) -> None:
    _up_to(compiled, VALUES, "<14 c.1 @0>")
    ((name, code, _, message),) = reports_in(compiled)
    assert (name, code) == (VALUES, "truncated")
    assert message == "the text ends here, expected the entries of 7 more values"


def test_short_list_of_allocations_is_truncated(compiled: Path) -> None:
    _up_to(compiled, ASSIGNMENT, "allocation 9:")
    ((name, code, place, message),) = reports_in(compiled)
    assert (name, code, place[:3]) == (ASSIGNMENT, "truncated", "21:")
    assert message == "the text ends here, expected the allocations of 4 more values"


def test_missing_entry_truncates_nothing(compiled: Path) -> None:
    edit_file(
        compiled,
        VALUES,
        lambda text: text[: text.index("<14 c.1")] + text[text.index("<15 constant.3") :],
    )
    assert [code for _, code, _, _ in reports_in(compiled)] == ["value-set-mismatch"]


@pytest.mark.parametrize(
    ("end", "last"),
    [
        (RANGES, "  Stack trace breakdown"),
        (RANGES, "      ├── jit(don)/scatter"),
        (REPORT, "  ------"),
        (REPORT, "  cumulative_size"),
        (MODULE, "ENTRY "),
        (MODULE, "  %c.1 ="),
    ],
)
def test_file_cut_before_a_line_is_truncated(compiled: Path, end: str, last: str) -> None:
    _up_to(compiled, end, last)
    reported = reports_in(compiled)
    assert [(name, code) for name, code, _, _ in reported] == [
        (end.removeprefix("after_optimizations"), "truncated")
    ]


def test_peak_without_bytes_has_no_stack_traces() -> None:
    text = """HloLiveRange (max 1):
  InstructionSequence:
    0:tuple.1
  BufferLiveRange:
    tuple.1{}:0-1
  Live ranges at 0 (peak):
    tuple.1{}: 0 bytes (cumulative: 0 bytes)
  Stack trace breakdown for peak usage: 0 bytes
"""
    assert ending(DumpFile.of_text(text)) is None
    cut = ending(DumpFile.of_text(text.replace(" 0 bytes", " 8 bytes")))
    assert cut is not None
    assert cut.missing == "the stack traces"


_STACKS = """HloLiveRange (max 1):
  InstructionSequence:
    0:a
  BufferLiveRange:
    a{}:0-1
    b{}:0-1
  Live ranges at 0 (peak):
    a{}: 8 bytes (cumulative: 8 bytes)
    b{}: 4 bytes (cumulative: 12 bytes)
  Stack trace breakdown for peak usage: 12 bytes
    main (100.0%, total: 12 bytes, current: 0 bytes, remaining: 12 bytes)
      ├── a (66.7%, total: 8 bytes, current: 8 bytes, remaining: 4 bytes)
      └── b (33.3%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)
"""


@pytest.mark.parametrize(
    ("end", "missing"),
    [
        ("      └── b", "stack traces of 4 B"),
        ("      ├── a", "stack traces of 12 B"),
        ("    b{}: 4", "`Stack trace breakdown for peak usage`"),
        (" (cumulative: 12", "the rest of this line"),
    ],
)
def test_text_cut_after_the_peak_is_truncated(end: str, missing: str) -> None:
    found = ending(DumpFile.of_text(_STACKS[: _STACKS.index(end)]))
    assert found is not None
    assert found.missing == missing


def test_wrong_stack_row_truncates_nothing() -> None:
    assert ending(DumpFile.of_text(_STACKS)) is None
    damaged = replace_once(_STACKS, "remaining: 0 bytes", "remaining: 1 bytes")
    assert ending(DumpFile.of_text(damaged)) is None
    *above, a, b = _STACKS.splitlines(keepends=True)
    assert ending(DumpFile.of_text("".join([*above, b, a]))) is None


def test_missing_line_truncates_nothing(sample: str) -> None:
    (file,) = dump_of(sample.replace("    5:multiply_reduce_fusion\n", "")).files
    assert ending(file) is None
