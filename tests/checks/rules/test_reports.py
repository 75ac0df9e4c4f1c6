"""``report-mismatch``: the memory usage report follows from the buffer assignment."""

from pathlib import Path

import pytest

from checks.damage import Told, related, replaced, told
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.text import disk

RULES = [rule for rule in CATALOGUE if rule.code == "report-mismatch"]
CODE = "report-mismatch"


class Pair:
    """A buffer assignment and its report, both free to change."""

    def __init__(self, assignment: str, report: str) -> None:
        self.assignment = assignment
        self.report = report

    def findings(self, assignment: str | None = None, report: str | None = None) -> list[Finding]:
        texts = (assignment or self.assignment, report or self.report)
        dump = DumpSet([DumpFile.of_text(text) for text in texts])
        return [found for file in dump.files for found in check(dump, file, RULES)]

    def reported(self, old: str, new: str) -> list[Told]:
        """What is said where a place of the report is damaged."""
        return [told(found) for found in self.findings(report=replaced(self.report, old, new))]

    def assigned(self, old: str, new: str) -> list[Finding]:
        """What is said where a place of the assignment is damaged."""
        return self.findings(assignment=replaced(self.assignment, old, new))


def _pair(folder: Path, stem: str) -> Pair:
    names = [f"{stem}-{kind}.txt" for kind in ("buffer-assignment", "memory-usage-report")]
    return Pair(*(disk.read_document(folder / name).text for name in names))


@pytest.fixture(scope="module")
def new(corpus_small: Path) -> Pair:
    """Sixteen allocations in three memory spaces of a TPU; a temp with two offsets."""
    stem = "module_0012.jit_while_fn.cl_1003875606.after_optimizations"
    return _pair(corpus_small / "tpu_v5e", stem)


@pytest.fixture(scope="module")
def old(corpus_small: Path) -> Pair:
    """The older report, with shapes and rows of equal size in any order."""
    stem = "module_0004.jit_while_fn.sm_9.0_gpu_after_optimizations"
    return _pair(corpus_small / "gpu_h100_jax_0.4.38", stem)


def test_nothing_is_wrong_with_what_was_printed(new: Pair, old: Pair) -> None:
    assert new.findings() == []
    assert old.findings() == []


VMEM = """  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
   256.0KiB(100%);   256.0KiB;            0;                1; f32[256,256]


Memory Space: color_6 (color=6)
Total bytes: 1024 (1.0KiB)
"""


@pytest.mark.parametrize(
    ("was", "now", "word"),
    [
        (" 256.0KiB(", " 255.0KiB(", "the cumulative size"),
        ("(100%)", "( 99%)", "the percentage"),
        (" 256.0KiB;", " 255.0KiB;", "the size"),
        (" 0;", " 7;", "the offset"),
        (" 1;", " 3;", "the number of values"),
        ("256,256", "256,257", "the list of shapes"),
        ("color_6", "vmem", "the name of the memory space"),
        ("=6", "=7", "the color"),
        ("1024", "1025", "the total"),
    ],
)
def test_a_field_that_was_changed(new: Pair, was: str, now: str, word: str) -> None:
    ((code, place, sentence),) = new.reported(VMEM, replaced(VMEM, was, now))
    assert code == CODE
    marked = place.partition("»")[2].partition("«")[0].strip()
    assert marked in sentence
    assert sentence.startswith(f"{word} is `{marked}`, but by the buffer assignment it is `")


def test_only_the_bytes_for_people_are_another_rule_s(new: Pair) -> None:
    assert new.reported("262144 (256.0KiB)", "262144 (255.0KiB)") == []


def test_the_list_of_shapes(new: Pair) -> None:
    ((code, place, sentence),) = new.reported("5×(s32[], f32[256,256],", "4×(s32[], f32[256,256],")
    assert (code, place.split("; ")[-1][:8]) == (CODE, "»4×(s32[")
    assert sentence.startswith("the list of shapes is `4×(s32[], f32[256,256], s32[], s32[]")


PREDICATES = (
    "       512B( 50%);       512B;            0;                1; pred[]\n",
    "     1.0KiB(100%);       512B;          512;                1; pred[]\n",
)


def test_a_row_that_is_gone_and_one_that_is_twice(new: Pair) -> None:
    row = PREDICATES[0]
    assert new.reported(row, "") == [
        (
            CODE,
            "71:   »------------------------------------------------------------«",
            "`512B( 50%); 512B; 0; 1; pred[]` is missing behind this line",
        )
    ]
    ((code, place, sentence),) = new.reported(row, row + row)
    assert (code, place[:4]) == (CODE, "73: ")
    assert (
        sentence == "the buffer assignment makes no such row here: `512B( 50%); 512B; 0; 1; pred[]`"
    )


def test_rows_in_another_order_are_one_damage(new: Pair) -> None:
    rows = PREDICATES
    ((code, place, sentence),) = new.reported("".join(rows), "".join(reversed(rows)))
    assert sentence.endswith(" belongs in front of this line and stands elsewhere")
    assert (code, place[:2]) == (CODE, "72")


def test_the_rest_of_a_report_that_ends_too_early(new: Pair) -> None:
    text = new.report[: new.report.index("Memory Space: vmem")]
    (found,) = new.findings(report=text)
    assert found.message.startswith(
        "11 lines are missing behind this line, the first is `Memory Sp"
    )
    header = text[: text.rindex("  ------")]  # a line that shows by itself that more follows
    assert new.findings(report=header) == []


def test_a_report_of_another_compile_is_said_once(new: Pair, corpus_small: Path) -> None:
    stem = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
    other = _pair(corpus_small / "tpu_v5e", stem)
    (found,) = new.findings(report=other.report)
    assert found.place.line == 0
    assert found.message.startswith("the report is not of this buffer assignment: ")


def test_the_older_report(old: Pair) -> None:
    ((code, place, sentence),) = old.reported("   1.00MiB( 80%)", "   1.00MiB( 81%)")
    assert (code, place[:2]) == (CODE, "8:")
    assert sentence == "the percentage is `81`, but by the buffer assignment it is `80`"
    head = "values:\nallocation 9: size 768.1KiB"
    ((_, place, sentence),) = old.reported(head, head.replace("768", "767"))
    assert place.startswith("20: allocation 9: size »767.1KiB«")
    assert sentence == "the size is `767.1KiB`, but by the buffer assignment it is `768.1KiB`"
    ((_, place, _),) = old.reported("768.0KiB(100%);        16B;", "768.0KiB(100%);        17B;")
    assert "»       17B«" in place


def test_the_older_report_has_no_order_of_shapes(old: Pair) -> None:
    assert old.reported("f32[256], s8[524288], pred[]", "s8[524288], pred[], f32[256]") == []
    assert old.reported("f32[256], s8[524288], pred[]", "s8[524288], pred[], f32[255]") != []


def test_a_value_that_the_report_counts_elsewhere(new: Pair) -> None:
    (found,) = new.assigned(
        "<31 tuple.10{} @0> (size=512,offset=16384)", "<31 tuple.10{} @0> (size=512,offset=8192)"
    )
    assert told(found)[1].startswith("43:  value: <31 tuple.10{} @0> (size=512,offset=»8192«)")
    assert found.message == (
        "value 31 `tuple.10{}` is at offset 8,192 here, but the memory usage report counts it at "
        "offset 16,384"
    )
    ((place, _),) = related(found)
    assert "»               5«" in place


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("(size=262144,offset=0): f32[256,256]{1,0:T(8,128)S(1)}", "(size=262143,offset=0): "
         "f32[256,256]{1,0:T(8,128)S(1)}"),
        ("<22 copy.11 @1>", "<22 copy.11 @2>"),
        ("allocation 14: size 16896", "allocation 14: size 1689"),
        ("allocation 14: size", "allocation 13: size"),
        (" value: <7 lt.1 @6>", " value: <3 lt.1 @6>"),
        (" value: <7 lt.1 @6>", " value = <7 lt.1 @6>"),
    ],
)  # fmt: skip
def test_an_assignment_that_contradicts_itself_is_not_blamed_on_the_report(
    new: Pair, was: str, now: str
) -> None:
    assert new.assigned(was, now) == []


def test_a_shape_that_the_instruction_does_not_define(old: Pair) -> None:
    was = "<33 input_reduce_fusion.1 @0> (size=4,offset=1024): f32[]"
    assert old.assigned(was, was.replace("f32", "s32")) == []


def test_a_row_that_nobody_can_read_costs_its_table_only(new: Pair) -> None:
    row = PREDICATES[0]
    assert new.reported(row, row.replace("( 50%)", "[ 50%]")) == []
    both = new.report.replace(row, row.replace("( 50%)", "[ 50%]")).replace("vmem (", "smem (")
    assert len(new.findings(report=both)) == 1


def test_a_report_beside_values_without_their_allocations(
    new: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    lines = new.assignment.split("\n")
    values = "\n".join(line for line in lines if not line.startswith("allocation "))
    for found in new.findings(assignment=values):
        assert found.related == ()
    assert caplog.text == ""
