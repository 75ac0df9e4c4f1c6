"""``hlo-lsp profile``, and other commands on profiles."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.stats.measured_programs import measured_program, read_profile_times
from profiles.written import Event, Stats, profile

_KERNEL: Stats = {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 7}


@pytest.fixture
def train(corpus_profiles: Path) -> Path:
    """Return the folder of the profile of a training step."""
    return corpus_profiles / "jax_0_12" / "train"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a profile of one kernel, without modules."""
    path = tmp_path / "p.xplane.pb"
    path.write_bytes(profile({"/device:GPU:0": {"Stream #1": [Event("k", 0, 5000, _KERNEL)]}}))
    return path


def test_first_screen(train: Path) -> None:
    found = run("profile", train / "profile.xplane.pb", "-n", "2")
    assert (found.status, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0].startswith(
        "jit_train_step · 3 runs on CPU 0 · median 392 µs (375 µs to 423 µs)"
    )
    assert lines[1] == (
        "mean per run: 397 µs = busy 386 µs (97.3%) + idle 10.6 µs (2.7%) · no communication"
    )
    assert lines[2] == "own times: 386 µs = busy; shares are of this sum"
    assert lines[4].split()[:4] == ["336", "µs", "86.9%", "17"]
    assert lines[4].endswith(" GiB  profiled_programs.py:41")
    assert lines[6].endswith("  in 4 more")


@pytest.mark.parametrize("key", [one.value for one in InstructionKey])
def test_groups_add_up(train: Path, key: str) -> None:
    found = run("profile", train, "--by", key, "--format", "json")
    (module,) = found.json["modules"]
    times = [one["own_ps"] for one in module["instructions"]]
    assert sum(one["own_ps"] for one in module["groups"]) == sum(times)
    assert sum(one["busy_ps"] for one in module["executions"]) == sum(times)
    assert {one["phase"] for one in module["instructions"]} == {
        "backward",
        "forward",
        "other",
        "rematerialized",
    }


def test_collectives_are_exposed(corpus_profiles: Path) -> None:
    found = run("profile", corpus_profiles / "jax_0_12" / "sharded")
    assert "jit_step · 3 runs on 8 devices · " in found.out
    assert "exposed communication" in found.out.splitlines()[1]


def test_dump_replaces_missing_modules(train: Path) -> None:
    trace = train / "profile.trace.json.gz"
    alone, with_dump = (
        run("profile", *paths, "--format", "json") for paths in ((trace,), (trace, train / "dump"))
    )
    assert not alone.json["modules"][0]["has_text"]
    xplane = run("profile", train / "profile.xplane.pb", "--format", "json")
    keys = "name", "occurrences", "own_ps", "source", "phase", "opcode"
    parts = [
        [[one[key] for key in keys] for one in each.json["modules"][0]["instructions"]]
        for each in (with_dump, xplane)
    ]
    assert parts[0] == parts[1]


def test_equal_dumps_are_ambiguous_without_modules(train: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(train / "dump", tmp_path / name)
    dumps = tmp_path / "a", tmp_path / "b"
    line = run("profile", train / "profile.trace.json.gz", *dumps).out.splitlines()[3]
    assert line.startswith("ambiguous: the text is ")
    assert "name only one of them" in line
    assert "ambiguous" not in run("profile", train / "profile.xplane.pb", *dumps).out


def renamed(dump: Path, folder: Path, pattern: str) -> Path:
    """Write a dump with other names of some instructions, as another compile has them."""
    folder.mkdir()
    for file in dump.iterdir():
        text = re.sub(pattern, r"\1.77", file.read_text("utf-8"))
        (folder / file.name).write_text(text, "utf-8")
    return folder


def test_dump_of_another_compile_is_not_used(train: Path, tmp_path: Path) -> None:
    dump = renamed(train / "dump", tmp_path / "dump", r"(\w*fusion\w*)\.\d+\b")
    trace = train / "profile.trace.json.gz"
    assert (
        "is of another compile: instructions with the same names" in run("profile", trace, dump).out
    )
    (module,) = run("profile", trace, dump, "--format", "json").json["modules"]
    assert not module["has_text"]
    assert Path(module["foreign_dump"]).parent == dump
    assert {one["source"] for one in module["instructions"]} == {None}


@pytest.mark.parametrize("profile", ["profile.trace.json.gz", "profile.xplane.pb"])
@pytest.mark.parametrize(
    ("pattern", "is_same"),
    [(r"(wrapped_reduce-window)\b", True), (r"(\w*fusion\w*)\.\d+\b", False)],
)
def test_command_and_editor_use_the_same_dump(
    train: Path, tmp_path: Path, profile: str, pattern: str, *, is_same: bool
) -> None:
    folder = renamed(train / "dump", tmp_path / "dump", pattern)
    shown = run("profile", train / profile, folder).out
    assert ("is of another compile" not in shown) is is_same
    assert ("not in the module text: 1 instruction" in shown) is is_same
    (dump,) = dumps_at([folder], [])
    times = read_profile_times(train / profile)
    assert (measured_program(dump, (times,)) is not None) is is_same


def test_comparison_of_two_profiles(train: Path, corpus_profiles: Path) -> None:
    before = corpus_profiles / "jax_0_10" / "train"
    found = run("profile", train, "--compare", before, "-n", "1")
    assert (found.status, found.err) == (0, "")
    assert found.out.splitlines()[:3] == [
        "jit_train_step · median 395 µs → 392 µs (-3.37 µs, -0.9%)"
        " · mean idle 14.4 µs → 10.6 µs (-3.84 µs, -26.7%)",
        "    change  before  →    after  mean own time per run",
        "  +12.1 µs    0 ns  →  12.1 µs  profiled_programs.py:45",
    ]
    same = run("profile", train, "--compare", train, "--format", "json").json
    assert [one["groups"] for one in same["modules"]] == [[]]


def test_newest_run_of_a_folder(train: Path, tmp_path: Path) -> None:
    runs = tmp_path / "plugins" / "profile"
    for name in ("2025_01_01", "2026_01_01"):
        (runs / name).mkdir(parents=True)
    (runs / "2025_01_01" / "h.xplane.pb").write_bytes(b"not read")
    newest = runs / "2026_01_01"
    shutil.copy(train / "profile.xplane.pb", newest / "h.xplane.pb")
    lines = run("profile", tmp_path).out.splitlines()
    assert lines[:2] == [f"read: {newest}, the newest of 2 runs", ""]
    assert lines[2].startswith("jit_train_step")
    read = {"path": str(newest), "other_runs": 1}
    assert run("profile", tmp_path, "--format", "json").json["run"] == read
    assert not run("profile", newest).out.startswith("read: ")


def test_comparison_names_the_newest_runs(train: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(train / "profile.xplane.pb", tmp_path / name / "h.xplane.pb")
    runs = tmp_path, "--compare", tmp_path / "a"
    assert (
        run("profile", *runs).out.splitlines()[0]
        == f"after: {tmp_path / 'b'}, the newest of 2 runs"
    )
    found = run("profile", *runs, "--format", "json").json
    assert found["before"] == {"path": str(tmp_path / "a"), "other_runs": 0}
    assert found["after"] == {"path": str(tmp_path / "b"), "other_runs": 1}


def test_newest_run_of_several_folders_is_the_latest_date(train: Path, tmp_path: Path) -> None:
    for folder, run_name in (("a", "2026_11_28_10_00_00"), ("b", "2026_11_27_10_00_00")):
        path = tmp_path / folder / "plugins" / "profile" / run_name / "host.xplane.pb"
        path.parent.mkdir(parents=True)
        if folder == "a":
            shutil.copy(train / "profile.xplane.pb", path)
        else:
            path.write_bytes(b"")
    assert run("profile", tmp_path).out.splitlines()[2].startswith("jit_train_step · ")


def test_folder_with_only_a_profile_names_its_file(written: Path) -> None:
    assert run("cost", written.parent).err == (
        f"hlo-lsp: {written.parent}: no dumps in this folder; name the file of a profile to read"
        f" the modules in it: {written}\n"
    )


def test_extracted_dump_has_the_same_memory(train: Path, tmp_path: Path) -> None:
    found = run("profile", train / "profile.xplane.pb", "--extract", tmp_path / "out")
    assert (found.status, found.err) == (0, "")
    printed, extracted = (
        _memory(next(one for one in run("summary", path, "--format", "json").json["modules"]))
        for path in (train / "dump", tmp_path / "out")
    )
    assert printed == extracted


def test_summary_reads_a_profile(train: Path) -> None:
    found = run("summary", train / "profile.xplane.pb", "--format", "json")
    assert (found.status, found.err) == (0, "")
    names = {one["name"]: one for one in found.json["modules"]}
    (printed,) = run("summary", train / "dump", "--format", "json").json["modules"]
    assert _memory(names["jit_train_step"]) == _memory(printed)


def _memory(module: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on the file."""
    return {key: value for key, value in module.items() if key not in {"path", "missing"}}


def test_module_without_text(written: Path) -> None:
    found = run("profile", written)
    assert (found.status, found.err) == (0, "")
    assert "no text of this module, so no Python lines: 5.00 ns" in found.out


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    names: Stats = {"hlo_op": "a\x1b]0;x\x07", "hlo_module": "\x1b[2Jm", "program_id": 1}
    events = [Event("k", 0, 5000, names), Event("\x1b[31mcopy", 9000, 5)]
    path = tmp_path / "p.xplane.pb"
    path.write_bytes(profile({"/device:GPU:0": {"Stream #1": events}}))
    found = run("profile", path, "--by", "instruction")
    assert "\x1b" not in found.out + found.err
    assert "\\x1b[2Jm · 1 run" in found.out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.xplane.pb", b"", "not a profile of XLA"),
        ("p.xplane.pb", b"\xff" * 100, "not a profile of XLA"),
        ("README.md", b"# Title\n", "not a profile of XLA"),
        ("p.trace.json.gz", b"\x1f\x8b", "not a profile: the compressed data is damaged"),
        ("p.trace.json", b"{}", "not a profile: not the JSON of a trace (no list traceEvents)"),
    ],
)
def test_other_files_get_one_message(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = run("profile", path)
    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 1
    assert message in found.err


def test_missing_file_and_empty_folder(tmp_path: Path) -> None:
    assert "No such file" in run("profile", tmp_path / "missing").err
    assert "no profile in this folder" in run("profile", tmp_path).err


def test_truncated_profile_shows_the_rest(train: Path, tmp_path: Path) -> None:
    data = (train / "profile.xplane.pb").read_bytes()
    path = tmp_path / "p.xplane.pb"
    path.write_bytes(data[:-20])
    found = run("profile", path)
    assert found.status == 2
    assert "jit_train_step · 3 runs" in found.out
    assert "damaged: byte " in found.err
