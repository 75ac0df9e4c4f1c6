"""The memory usage report made again from the buffer assignment."""

from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.analysis.reports.printed_report import (
    differences,
    in_printed_order,
    printed_report,
    wanted_lines,
)
from hlo_lsp.analysis.reports.report import report_by_size, report_by_space, text_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

# Up to jaxlib 0.7 rows of equal size came in the order of a hash map.
UNORDERED = {"cpu_jax_0.6.2", "gpu_h100_jax_0.4.38", "tpu_v5e_jax_0.6.2"}


def _dump(report: Path) -> DumpSet:
    assignment = Path(str(report).replace("-memory-usage-report", "-buffer-assignment"))
    return DumpSet(
        [DumpFile.of_text(disk.read_document(path).text) for path in (assignment, report)]
    )


def _made_again(dump: DumpSet) -> tuple[str, int]:
    """The text, and in how many places it differs from the printed one."""
    printed = printed_report(dump.files)
    assert printed is not None
    blocks = (report_by_size if printed.by_size else report_by_space)(dump)
    text = text_of(blocks)
    if printed.by_size:
        blocks = in_printed_order(blocks, printed)
    return text, len(list(differences(printed, wanted_lines(blocks))))


@pytest.mark.corpus
def test_every_report_is_made_again_to_the_byte(corpus_small: Path) -> None:
    exact = in_order = 0
    for report in files_of(corpus_small, FileKind.REPORT):
        dump = _dump(report)
        text, count = _made_again(dump)
        assert count == 0, report
        same = text == dump.files[1].document.text
        assert same or report.parent.name in UNORDERED, report
        exact, in_order = exact + same, in_order + 1
    assert (exact, in_order) == (337, 402)


def test_a_long_table_is_cut_where_the_rest_is_small(train_l24: Path) -> None:
    (report,) = files_of(train_l24, FileKind.REPORT)
    dump = _dump(report)
    text, count = _made_again(dump)
    assert count == 0
    assert text == dump.files[1].document.text
    assert "values are less than 5% of the total size and not shown." in text


def test_nothing_of_nothing() -> None:
    text = "BufferAssignment:\nallocation 0: size 0, color 1, preallocated-temp:\n"
    dump = DumpSet([DumpFile.of_text(text)])
    assert text_of(report_by_space(dump)).endswith("shapes_list\n  " + "-" * 60 + "\n\n\n")
    text += " value: <1 a @1> (size=0,offset=0): f32[0]{0:T(128)S(1)}\n"
    dump = DumpSet([DumpFile.of_text(text)])
    assert "         0B(-nan%);         0B;" in text_of(report_by_space(dump))


@pytest.mark.parametrize(("rows", "rest"), [(50, None), (51, 0), (52, 1)])
def test_a_table_of_more_than_50_rows_says_that_the_rest_is_small(
    rows: int, rest: int | None
) -> None:
    """Even of no rest at all, as jax 0.6 and 0.8 did for a table of 51 rows."""
    values = [
        f" value: <{count} a.{count} @0> (size=4,offset={4 * count}): f32[]"
        for count in range(rows)
    ]
    label = f"allocation 0: size {4 * rows}, preallocated-temp:"
    dump = DumpSet([DumpFile.of_text("\n".join(["BufferAssignment:", label, *values, ""]))])
    for report in (report_by_space, report_by_size):
        text = text_of(report(dump))
        assert text.count("The rest ") == text.count(f"The rest {rest} values are less than 5%")
        assert ("The rest " in text) is (rest is not None)
