"""Tests for ``report-mismatch``: the memory usage report and the buffer assignment."""

from pathlib import Path

import pytest

from checks.damage import Report, related, replace_once, report_of
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

RULES = [rule for rule in CATALOGUE if rule.code == "report-mismatch"]
CODE = "report-mismatch"


class AssignmentAndReport:
    """A buffer assignment and its report, either of which can be damaged."""

    def __init__(self, assignment: str, report: str) -> None:
        self.assignment = assignment
        self.report = report

    def findings(self, assignment: str | None = None, report: str | None = None) -> list[Finding]:
        texts = (assignment or self.assignment, report or self.report)
        dump = Compile([DumpFile.of_text(text) for text in texts])
        return [found for file in dump.files for found in check(dump, file, RULES)]

    def findings_with_report(self, old: str, new: str) -> list[Report]:
        """Return the findings after a replacement in the report."""
        return [
            report_of(found) for found in self.findings(report=replace_once(self.report, old, new))
        ]

    def findings_with_assignment(self, old: str, new: str) -> list[Finding]:
        """Return the findings after a replacement in the assignment."""
        return self.findings(assignment=replace_once(self.assignment, old, new))


def _assignment_and_report(folder: Path, stem: str) -> AssignmentAndReport:
    names = [f"{stem}-{kind}.txt" for kind in ("buffer-assignment", "memory-usage-report")]
    return AssignmentAndReport(*(disk.read_document(folder / name).text for name in names))


@pytest.fixture(scope="module")
def new(corpus_small: Path) -> AssignmentAndReport:
    """Return 16 allocations in three memory spaces of a TPU, and a temp with two offsets."""
    stem = "module_0012.jit_while_fn.cl_1003875606.after_optimizations"
    return _assignment_and_report(corpus_small / "tpu_v5e", stem)


@pytest.fixture(scope="module")
def old(corpus_small: Path) -> AssignmentAndReport:
    """Return an older report, in which shapes and rows of equal size have no order."""
    stem = "module_0004.jit_while_fn.sm_9.0_gpu_after_optimizations"
    return _assignment_and_report(corpus_small / "gpu_h100_jax_0.4.38", stem)


VMEM = """  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
   256.0KiB(100%);   256.0KiB;            0;                1; f32[256,256]


Memory Space: color_6 (color=6)
Total bytes: 1024 (1.0KiB)
"""


@pytest.mark.parametrize(
    ("old_text", "new_text"),
    [
        (" 256.0KiB(", " 255.0KiB("),
        ("(100%)", "( 99%)"),
        (" 256.0KiB;", " 255.0KiB;"),
        (" 0;", " 7;"),
        (" 1;", " 3;"),
        ("256,256", "256,257"),
        ("color_6", "vmem"),
        ("=6", "=7"),
        ("1024", "1025"),
    ],
)
def test_wrong_field_is_reported(new: AssignmentAndReport, old_text: str, new_text: str) -> None:
    ((code, place, message),) = new.findings_with_report(
        VMEM, replace_once(VMEM, old_text, new_text)
    )
    marked = place.partition("»")[2].partition("«")[0].strip()
    assert code == CODE
    assert message.startswith(f"`{marked}` does not match the buffer assignment: expected `")


def test_allocation_is_related(new: AssignmentAndReport) -> None:
    (finding,) = new.findings(report=replace_once(new.report, VMEM, VMEM.replace(" 0;", " 7;")))
    ((place, label),) = related(finding)
    assert f"»{label}:" in place


def test_rounded_size_is_not_compared(new: AssignmentAndReport) -> None:
    assert new.findings_with_report("262144 (256.0KiB)", "262144 (255.0KiB)") == []


PREDICATES = (
    "       512B( 50%);       512B;            0;                1; pred[]\n",
    "     1.0KiB(100%);       512B;          512;                1; pred[]\n",
)


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (PREDICATES[1:], 72,
         "`1.0KiB(100%); 512B; 512; 1; pred[]` does not match the buffer assignment: expected "
         "`512B( 50%); 512B; 0; 1; pred[]`"),
        (PREDICATES[:1] + PREDICATES, 73,
         "`512B( 50%); 512B; 0; 1; pred[]` does not match the buffer assignment: expected "
         "`1.0KiB(100%); 512B; 512; 1; pred[]`"),
    ],
)  # fmt: skip
def test_first_wrong_line_is_reported(
    new: AssignmentAndReport, rows: tuple[str, ...], line: int, message: str
) -> None:
    assert [
        (place.partition(":")[0], reported)
        for _, place, reported in new.findings_with_report("".join(PREDICATES), "".join(rows))
    ] == [(str(line), message)]


def test_early_end_is_reported(new: AssignmentAndReport) -> None:
    (finding,) = new.findings(report=new.report[: new.report.index("Memory Space: vmem")])
    assert finding.message == (
        "the report ends early: expected `Memory Space: vmem (color=1)` after this line"
    )


def test_line_after_the_end_is_reported(new: AssignmentAndReport) -> None:
    row = new.report.rstrip("\n").rpartition("\n")[2]
    (finding,) = new.findings(report=f"{new.report.rstrip()}\n{row}\n")
    assert finding.message.endswith("follows the end of the expected report")


def test_older_report_is_compared(old: AssignmentAndReport) -> None:
    ((code, place, _),) = old.findings_with_report("   1.00MiB( 80%)", "   1.00MiB( 81%)")
    assert (code, place[:2], "81«" in place) == (CODE, "8:", True)
    head = "values:\nallocation 9: size 768.1KiB"
    ((_, place, _),) = old.findings_with_report(head, head.replace("768", "767"))
    assert "»767.1KiB«" in place
    ((_, place, _),) = old.findings_with_report(
        "768.0KiB(100%);        16B;", "768.0KiB(100%);        17B;"
    )
    assert "»       17B«" in place


def test_older_report_has_unordered_shapes(old: AssignmentAndReport) -> None:
    assert (
        old.findings_with_report("f32[256], s8[524288], pred[]", "s8[524288], pred[], f32[256]")
        == []
    )
    assert (
        old.findings_with_report("f32[256], s8[524288], pred[]", "s8[524288], pred[], f32[255]")
        != []
    )


def test_moved_value_is_reported_in_report(new: AssignmentAndReport) -> None:
    (found,) = new.findings_with_assignment(
        "<31 tuple.10{} @0> (size=512,offset=16384)", "<31 tuple.10{} @0> (size=512,offset=8192)"
    )
    assert found.place.file.kind is FileKind.REPORT


@pytest.mark.parametrize(
    ("old_text", "new_text"),
    [
        ("(size=262144,offset=0): f32[256,256]{1,0:T(8,128)S(1)}",
         "(size=262143,offset=0): f32[256,256]{1,0:T(8,128)S(1)}"),
        ("allocation 14: size", "allocation 13: size"),
        (" value: <7 lt.1 @6>", " value = <7 lt.1 @6>"),
    ],
)  # fmt: skip
def test_incomplete_assignment_is_not_compared(
    new: AssignmentAndReport, old_text: str, new_text: str
) -> None:
    assert new.findings_with_assignment(old_text, new_text) == []
