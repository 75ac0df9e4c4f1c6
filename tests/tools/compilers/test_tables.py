"""Tests for the line of a release and the tables of the documentation."""

from dataclasses import replace
from pathlib import Path

from compilers.records import Count, Record, read_record, write_record
from compilers.tables import (
    WATCH_MARKS,
    Table,
    markdown,
    parse_tables,
    problem_lines,
    release_line,
    update_document,
    watch_table,
)

_CPU = Record(
    "0.12.0.1",
    "cpu",
    "3.12",
    "jaxlib 0.12.0.1",
    {"mlp": "", "f4": "no such type"},
    compiles=1,
    files=9,
    errors=0,
    warnings=0,
    counts={"sizes": Count(1000, 0, 0), "parser": Count(2, 0, 1)},
)
_TPU = Record(
    "0.12.0.1",
    "tpu",
    "3.12",
    "libtpu 0.0.50.1",
    {"mlp": ""},
    compiles=1,
    files=9,
    errors=2,
    warnings=1,
    counts={"sizes": Count(500, 3, 0)},
    differences=["sizes: f32[2]: hlo-lsp 8, XLA 512"],
)
_LACKING = Record("0.11.0", "cpu", problem="needs Python 3.12 or newer; this machine has 3.11")


def test_line_has_all_numbers_of_a_release() -> None:
    assert release_line([_CPU, _TPU]) == (
        "jax 0.12.0.1: Python 3.12, libtpu 0.0.50.1; cpu 1 compiles, 9 files, 1 fail; "
        "tpu 1 compiles, 9 files; 2 errors, 1 warnings; sizes 1,500 agree 3 differ; "
        "uses 0 agree 0 differ; totals 0 agree 0 differ; peaks 0 agree 0 differ; "
        "parser 2 agree 0 differ 1 unknown"
    )


def test_line_names_the_missing_python() -> None:
    line = release_line([_LACKING])
    assert line.startswith("jax 0.11.0: Python none, libtpu –; cpu needs Python 3.12 or newer;")


def test_problems_are_failures_and_differences() -> None:
    assert problem_lines([_CPU, _TPU]) == [
        "cpu: f4 fails: no such type",
        "tpu: sizes: f32[2]: hlo-lsp 8, XLA 512",
    ]


def test_only_agreement_is_no_difference() -> None:
    assert not _CPU.is_different  # A program that early releases lack does not count.
    assert _TPU.is_different
    assert _LACKING.is_different


def test_records_are_stored_and_read(tmp_path: Path) -> None:
    write_record(tmp_path / "cpu_jax_0.12.0.1", _CPU)
    assert read_record(tmp_path / "cpu_jax_0.12.0.1") == _CPU


def test_watch_table_has_a_row_per_release() -> None:
    rows = watch_table([_LACKING, _TPU, _CPU])[""].rows
    assert [row[:3] for row in rows] == [["0.12.0.1", "0.0.50.1", "3.12"], ["0.11.0", "–", "–"]]
    assert rows[0][8] == "1,500, **3 differ**"
    assert rows[0][-1] == "2, 1 unknown"


def test_watch_table_has_a_row_per_libtpu() -> None:
    newer = replace(_TPU, compiler="libtpu 0.0.52", counts={"sizes": Count(7)})
    rows = watch_table([_TPU, newer, _CPU])[""].rows
    assert [(row[1], row[8]) for row in rows] == [
        ("0.0.52", "1,007"),
        ("0.0.50.1", "1,500, **3 differ**"),
    ]


def test_watch_table_counts_failing_programs() -> None:
    (row,) = watch_table([_CPU])[""].rows
    assert row[3:6] == ["1 compiles, 9 files, 1 fail", "–", "–"]


def test_tables_are_read_as_written() -> None:
    tables = {
        "CPU": Table(["jax", "stem"], [["0.12.0", "`a`"]]),
        "TPU v5e": Table(["jax", "stem"], [["0.11.0", "`b`"]]),
    }
    assert parse_tables(markdown(tables)) == tables


def test_document_keeps_rows_of_other_releases(tmp_path: Path) -> None:
    begin, end = WATCH_MARKS
    document = tmp_path / "page.md"
    old = Table(["jax", "libtpu", "n"], [["0.10.2", "0.0.45", "1"], ["0.9.2", "0.0.40", "1"]])
    document.write_text(f"# Page\n\n{begin}\n\n{old}\n\n{end}\n\nEnd\n", "utf-8")
    new = Table(["jax", "libtpu", "n"], [["0.10.2", "0.0.45", "2"], ["0.12.0", "0.0.50", "2"]])
    update_document(document, WATCH_MARKS, {"": new})
    text = document.read_text("utf-8")
    assert [row[0] + "=" + row[2] for row in parse_tables(text)[""].rows] == [
        "0.12.0=2",
        "0.10.2=2",
        "0.9.2=1",
    ]
    assert text.startswith("# Page\n")
    assert text.endswith("\nEnd\n")
