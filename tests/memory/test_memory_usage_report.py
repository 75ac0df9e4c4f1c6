"""The memory usage report made again from the buffer assignment."""

from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.memory.memory_usage_report import (
    ReportSection,
    in_printed_order,
    printed_report,
    report_by_size,
    report_by_space,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

# Up to jaxlib 0.7 rows of equal size came in the order of a hash map.
UNORDERED = {"cpu_jax_0.6.2", "gpu_h100_jax_0.4.38", "tpu_v5e_jax_0.6.2"}


def _dump(report: Path) -> Compile:
    assignment = Path(str(report).replace("-memory-usage-report", "-buffer-assignment"))
    return Compile(
        [DumpFile.of_text(disk.read_document(path).text) for path in (assignment, report)]
    )


def _text(sections: list[ReportSection]) -> str:
    """Return the lines of a report that are not blank."""
    return "\n".join(line for section in sections for line in section.lines if line)


def _expected(dump: Compile) -> tuple[str, str]:
    """Return the expected report, and the same in the printed order of what has no order."""
    printed = printed_report(dump.files)
    assert printed is not None
    sections = (report_by_size if printed.is_by_size else report_by_space)(dump)
    ordered = in_printed_order(sections, printed) if printed.is_by_size else sections
    return _text(sections), _text(ordered)


def _printed(dump: Compile) -> str:
    return "\n".join(line for line in dump.files[1].lines if line)


@pytest.mark.corpus
def test_expected_report_equals_printed_report(corpus_small: Path) -> None:
    exact = count = 0
    for report in files_of(corpus_small, FileKind.REPORT):
        dump = _dump(report)
        text, ordered = _expected(dump)
        assert ordered == _printed(dump), report
        assert text == ordered or report.parent.name in UNORDERED, report
        exact, count = exact + (text == ordered), count + 1
    assert (exact, count) == (337, 402)


def test_long_table_omits_small_rest(train_l24: Path) -> None:
    (report,) = files_of(train_l24, FileKind.REPORT)
    dump = _dump(report)
    text, _ = _expected(dump)
    assert text == _printed(dump)
    assert "values are less than 5% of the total size and not shown." in text


def test_percentage_of_zero_is_nan() -> None:
    text = "BufferAssignment:\nallocation 0: size 0, color 1, preallocated-temp:\n"
    dump = Compile([DumpFile.of_text(text)])
    assert _text(report_by_space(dump)).endswith("shapes_list\n  " + "-" * 60)
    text += " value: <1 a @1> (size=0,offset=0): f32[0]{0:T(128)S(1)}\n"
    dump = Compile([DumpFile.of_text(text)])
    assert "         0B(-nan%);         0B;" in _text(report_by_space(dump))


@pytest.mark.parametrize(("rows", "rest"), [(50, None), (51, 0), (52, 1)])
def test_table_over_50_rows_states_the_rest(rows: int, rest: int | None) -> None:
    """Even of no rest at all, as jax 0.6 and 0.8 did for a table of 51 rows."""
    values = [
        f" value: <{count} a.{count} @0> (size=4,offset={4 * count}): f32[]"
        for count in range(rows)
    ]
    label = f"allocation 0: size {4 * rows}, preallocated-temp:"
    dump = Compile([DumpFile.of_text("\n".join(["BufferAssignment:", label, *values, ""]))])
    for report in (report_by_space, report_by_size):
        text = _text(report(dump))
        assert text.count("The rest ") == text.count(f"The rest {rest} values are less than 5%")
        assert ("The rest " in text) is (rest is not None)
