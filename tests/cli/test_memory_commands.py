"""The commands that show where memory goes: find, timeline, why, and export."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from cli.command import run
from reports.example import ASSIGNMENT, STEM


@pytest.fixture
def without_ranges(tmp_path: Path) -> Path:
    """Return a buffer assignment without live ranges."""
    path = tmp_path / f"{STEM}-buffer-assignment.txt"
    path.write_text(ASSIGNMENT, "utf-8")
    return path


def test_find_searches_the_current_folder(dump: Path) -> None:
    found = run("find", "model.py:3", cwd=dump)
    assert found.status == 0
    assert found.out.startswith("jit_f: 1 buffer, 2.0 KiB of 5.0 KiB at the peak of HBM (step 2)")


@pytest.mark.parametrize("command", ["cost --collectives", "summary --timeline"])
def test_largest_module_comes_first(command: str, dump: Path) -> None:
    for path in dump.glob(f"{STEM}*"):
        text = path.read_text("utf-8").replace("jit_f", "jit_g").replace("size 1024,", "size 4096,")
        (dump / path.name.replace("module_0001.jit_f", "module_0002.jit_g")).write_text(text)
    assert run(*command.split(), dump).out.startswith("jit_g")


def test_find_names_the_order_of_swapped_arguments(dump: Path) -> None:
    found = run("find", dump, "model.py:7")
    assert found.status == 2
    assert "the query precedes the dumps: hlo-lsp find model.py:7" in found.err


def test_missing_file_is_reported_once(dump: Path) -> None:
    found = run("summary", dump / "none.txt")
    assert (found.status, found.err.count("\n")) == (2, 1)


def test_find_of_an_axis_names_the_meshes(dump: Path) -> None:
    for paths in ([dump], []):
        found = run("find", *paths, "--axis", "model", cwd=dump)
        assert found.status == 1
        assert "no collectives over model in these dumps (meshes: none)" in found.err


def test_find_without_query_names_what_is_missing(dump: Path) -> None:
    found = run("find", cwd=dump)
    assert found.status == 2
    assert "a query is missing" in found.err


def test_find_without_result_exits_with_1(dump: Path) -> None:
    found = run("find", "nothing.py:3", dump)
    assert (found.status, found.out) == (1, "")
    assert found.err == "hlo-lsp: no line `nothing.py:3` in these dumps\n"


@pytest.mark.parametrize("arguments", [("find", "a", "."), ("inspect", ".", "a")])
def test_answers_state_what_is_missing(arguments: tuple[str, ...], dump: Path) -> None:
    (dump / f"{STEM}.txt").unlink()
    found = run(*arguments, cwd=dump)
    assert found.status == 0
    assert found.err == "hlo-lsp: no module text: origins and Python lines are unknown\n"


def test_compile_with_empty_assignment_is_read(dump: Path) -> None:
    (dump / f"{STEM}-buffer-assignment.txt").write_text("", "utf-8")
    found = run("summary", dump)
    assert found.out.startswith("jit_f · ")
    assert "no buffer assignment: allocations and peaks are unknown" in found.out


@pytest.mark.parametrize(
    "command", ["summary", "modules", "cost", "report", "summary --donation", "summary --timeline"]
)
def test_folder_of_other_texts_is_an_error(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", "utf-8")
    found = run(*command.split(), tmp_path)
    assert (found.status, found.out) == (2, "")
    assert "no dumps in this folder" in found.err


def test_folder_of_empty_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / f"{STEM}-buffer-assignment.txt").write_text("", "utf-8")
    found = run("summary", tmp_path)
    assert (found.status, found.out) == (2, "")
    assert "not an HLO module or XLA memory dump" in found.err


def test_files_of_one_compile_are_shown_once(dump: Path) -> None:
    found = run("summary", "--timeline", *sorted(dump.iterdir()), "--format", "json")
    assert [module["name"] for module in found.json["modules"]] == ["jit_f"]


@pytest.mark.parametrize("command", ["summary --timeline", "summary"])
def test_unknown_memory_space_is_an_error(dump: Path, command: str) -> None:
    found = run(*command.split(), dump, "--space", "CMEM")
    assert found.status == 2
    assert "no memory space CMEM" in found.err


@pytest.mark.parametrize(
    "arguments", [["summary", "--timeline"], ["report", "--as", "folded"]], ids=" ".join
)
def test_step_outside_of_the_schedule_is_an_error(arguments: list[str], dump: Path) -> None:
    found = run(*arguments, dump, "--at", "6")
    assert (found.status, found.out.strip()) == (2, "")
    assert found.err.endswith("no step 6: the schedule has the steps 0 to 5\n")


def test_why_prints_the_largest_result(dump: Path) -> None:
    found = run("inspect", dump, "c")
    assert found.status == 0
    assert "computed by     step 3, c (cosine)" in found.out


def test_why_names_the_compile(dump: Path) -> None:
    found = run("inspect", dump, "c")
    assert found.out.startswith(f"in {next(dump.glob('*-buffer-assignment.txt'))}\n")


def test_why_lists_compiles_with_other_sizes(dump: Path) -> None:
    for path in list(dump.iterdir()):
        text = path.read_text("utf-8")
        copy = dump / "other" / path.name.replace("module_0001", "module_0002")
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(text, "utf-8")
    same = run("inspect", dump, "c")
    assert same.status == 0
    assert "also in " in same.out
    (larger,) = (dump / "other").glob("*-buffer-assignment.txt")
    text = larger.read_text("utf-8").replace("c @0> (size=", "c @0> (size=9")
    larger.write_text(text, "utf-8")
    found = run("inspect", dump, "c")
    assert (found.status, found.out) == (2, "")
    first, *listed = found.err.splitlines()
    assert first == ("hlo-lsp: 2 compiles have a buffer of `c`; give the path of one of them:")
    assert listed[0].endswith(larger.name)


def test_why_without_such_a_buffer_exits_with_1(dump: Path) -> None:
    found = run("inspect", dump, "nothing")
    assert (found.status, found.out) == (1, "")
    assert found.err == f"hlo-lsp: {dump}: no buffer or instruction `nothing`\n"


def test_folded_stacks_go_to_standard_output(dump: Path) -> None:
    found = run("report", dump, "--as", "folded", "-o", "-")
    assert found.status == 0
    assert sum(int(line.rpartition(" ")[2]) for line in found.out.splitlines()) == 5120


def test_profile_goes_to_a_file(dump: Path, tmp_path: Path) -> None:
    output = tmp_path / "peak.pb.gz"
    found = run("report", dump, "--as", "pprof", "-o", output)
    assert (found.status, found.out) == (0, "")
    assert found.err.startswith(f"{output}: ")
    assert b"p['w']" in gzip.decompress(output.read_bytes())


def test_table_of_kernels(corpus_small: Path) -> None:
    found = run("report", corpus_small / "gpu_h100", "--as", "csv", "-o", "-")
    assert (found.status, found.err) == (0, "")
    rows = list(csv.DictReader(found.out.splitlines()))
    assert {row["phase"] for row in rows} >= {"forward", "backward"}
    assert all(row["module"] and row["instruction"] for row in rows)
    fusion = next(row for row in rows if "." in row["instruction"] and row["kernel"])
    assert fusion["kernel"] == fusion["instruction"].replace(".", "_").replace("-", "_")


def test_trace_goes_to_a_file(dump: Path, tmp_path: Path) -> None:
    output = tmp_path / "buffers.pftrace"
    assert run("report", dump, "--as", "perfetto", "-o", output).status == 0
    assert b"HBM occupied" in output.read_bytes()


@pytest.mark.parametrize("form", ["pprof", "folded", "perfetto"])
def test_export_without_live_ranges_names_what_is_missing(without_ranges: Path, form: str) -> None:
    found = run("report", without_ranges, "--as", form, "-o", "-")
    assert (found.status, found.out) == (2, "")
    assert "no live ranges: peaks and owners are unknown" in found.err


def test_file_that_cannot_be_written_is_an_error(dump: Path, tmp_path: Path) -> None:
    found = run("report", dump, "-o", tmp_path / "none" / "out.folded")
    assert found.status == 2
    assert "cannot write" in found.err


@pytest.mark.parametrize("command", ["find x", "summary --timeline", "report --as folded"])
def test_text_that_is_no_dump_is_an_error(command: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Some notes.\n", "utf-8")
    found = run(*command.split(), path)
    assert found.status == 2
    assert "not an HLO module or XLA memory dump" in found.err


def test_truncated_assignment_shows_what_is_known(dump: Path) -> None:
    path = dump / f"{STEM}-buffer-assignment.txt"
    path.write_text(ASSIGNMENT[:-40], "utf-8")
    for arguments in (["find", "b"], ["summary", "--timeline"], ["inspect"]):
        more = ["b"] if arguments == ["inspect"] else []
        found = run(*arguments, dump, *more, "--format", "json")
        assert found.status == 0
        assert json.loads(found.out)
