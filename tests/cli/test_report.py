"""``hlo-lsp report`` writes one file."""

import json
from pathlib import Path

import pytest

from cli.command import run

_STEM = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"


def test_page_is_written(corpus_small: Path, tmp_path: Path) -> None:
    dump = corpus_small / "tpu_v5e" / f"{_STEM}-buffer-assignment.txt"
    result = run("report", dump, "-o", tmp_path / "out.html")
    assert (result.status, result.out) == (0, "")
    assert "1 memory map" in result.err
    page = (tmp_path / "out.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "jit_mlp_train" in page


def test_data_is_written_as_json(corpus_small: Path, tmp_path: Path) -> None:
    dump = corpus_small / "tpu_v5e" / f"{_STEM}-buffer-assignment.txt"
    assert run("report", dump, "-o", tmp_path / "out.json").status == 0
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [module["name"] for module in document["modules"]] == ["jit_mlp_train"]


def test_dump_without_allocations_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("HloModule m\n\nENTRY e {\n  a = f32[4] parameter(0)\n}\n")
    result = run("report", tmp_path / "m.txt", "-o", tmp_path / "out.html")
    assert result.status == 2
    assert "no buffer assignment" in result.err
    assert not (tmp_path / "out.html").exists()


def test_folder_that_does_not_exist_is_reported(corpus_small: Path, tmp_path: Path) -> None:
    dump = corpus_small / "tpu_v5e" / f"{_STEM}-buffer-assignment.txt"
    result = run("report", dump, "-o", tmp_path / "missing" / "out.html")
    assert result.status == 2
    assert "cannot write" in result.err


def test_costs_are_written(corpus_small: Path, tmp_path: Path) -> None:
    dump = corpus_small / "tpu_v5e" / f"{_STEM}.txt"
    options = ("report", dump, "--metric", "cost", "--chip", "v5e", "-o")
    result = run(*options, tmp_path / "cost.html")
    assert (result.status, result.out) == (0, "")
    assert result.err.endswith("cost.html: 1 module\n")
    assert ">programs.py:41</td>" in (tmp_path / "cost.html").read_text("utf-8")
    assert run(*options, tmp_path / "cost.json").status == 0
    (module,) = json.loads((tmp_path / "cost.json").read_text("utf-8"))["modules"]
    assert module["chip"] == "v5e"


def test_measured_times_are_written(corpus_profiles: Path, tmp_path: Path) -> None:
    profile = corpus_profiles / "jax_0_12" / "train"
    options = ("report", profile, "--metric", "time", "-o")
    assert run(*options, tmp_path / "time.html").status == 0
    assert "profiled_programs.py:41</td>" in (tmp_path / "time.html").read_text("utf-8")
    assert run(*options, tmp_path / "time.json").status == 0
    assert json.loads((tmp_path / "time.json").read_text("utf-8"))["modules"]


def test_profile_without_events_is_an_error(dump: Path, tmp_path: Path) -> None:
    result = run("report", dump, "--metric", "time", "-o", tmp_path / "time.html")
    assert result.status == 2
    assert not (tmp_path / "time.html").exists()


def test_memory_map_has_measured_times(corpus_profiles: Path, tmp_path: Path) -> None:
    profile = corpus_profiles / "jax_0_12" / "train"
    options = ("--profile", profile, "-o", tmp_path / "map.json")
    assert run("report", profile / "profile.xplane.pb", *options).status == 0
    maps = json.loads((tmp_path / "map.json").read_text("utf-8"))["modules"]
    (time,) = [sum(one["time"]["picoseconds"]) for one in maps if "time" in one]
    (program,) = json.loads(run("profile", profile, "--format", "json").out)["modules"]
    own = sum(one["own_ps"] for one in program["instructions"])
    assert round(time / 10**6) == round(own / program["runs"] / 10**6)


def test_profile_of_other_programs_is_reported(
    corpus_profiles: Path, corpus_small: Path, tmp_path: Path
) -> None:
    dump = corpus_small / "tpu_v5e" / f"{_STEM}-buffer-assignment.txt"
    profile = corpus_profiles / "jax_0_12" / "train"
    result = run("report", dump, "--profile", profile, "-o", tmp_path / "map.json")
    assert result.status == 2
    assert result.err.endswith("train: no run of these dumps\n")


@pytest.mark.parametrize("option", [("--at", "3"), ("--space", "HBM")])
def test_page_has_all_steps_and_spaces(dump: Path, option: tuple[str, str]) -> None:
    found = run("report", dump, *option, "-o", "-")
    problem = "hlo-lsp: --at and --space are for pprof and folded stacks\n"
    assert (found.status, found.err) == (2, problem)
