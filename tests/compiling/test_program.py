"""The program of a dump that is compiled again, and changes to it."""

import os
from pathlib import Path

import pytest

from compiling.stand_in import UNOPTIMIZED, write_dump
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from protos.messages import MODULE as PROTO_MODULE
from protos.messages import serialized
from reports.example import MODULE, STEM


def _refusal(path: Path, changes: Changes | None = None) -> str:
    with pytest.raises(CompileFailedError) as failed:
        program_at(path).request(changes or Changes(), path)
    return str(failed.value)


def _text(tmp_path: Path, text: str, name: str = "f.hlo") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("suffix", ["before_optimizations.txt", "after_optimizations.txt", ""])
def test_any_file_stands_for_the_program(tmp_path: Path, suffix: str) -> None:
    folder = write_dump(tmp_path)
    path = next(folder.glob(f"*.{suffix}")) if suffix else folder
    found = program_at(path)
    assert found.text == UNOPTIMIZED
    assert found.dump is not None


def test_proto_is_read_as_text(tmp_path: Path) -> None:
    module = PROTO_MODULE.partition("schedule {")[0]
    path = tmp_path / "module_0001.jit_f.before_optimizations.hlo.pb"
    path.write_bytes(serialized("HloModuleProto", module))
    found = program_at(path)
    assert found.text.startswith("HloModule jit_f")
    assert found.dump is None


def test_empty_compiled_module_is_none(tmp_path: Path) -> None:
    folder = write_dump(tmp_path, module="")
    (folder / f"{STEM}-buffer-assignment.txt").unlink()
    assert program_at(folder).dump is None


def test_optimized_text_alone_is_refused(tmp_path: Path) -> None:
    _text(tmp_path, MODULE, f"{STEM}.txt")
    assert "no text before optimizations, which XLA writes with" in _refusal(tmp_path)


def test_scheduled_text_is_refused(tmp_path: Path) -> None:
    assert _refusal(_text(tmp_path, MODULE)).endswith(
        "an optimized module, which cannot be compiled again"
    )


def test_several_texts_in_a_file_are_refused(tmp_path: Path) -> None:
    text = UNOPTIMIZED.replace(":T(256)", "")
    path = _text(tmp_path, f"{text}\n// -----\n\n{text}")
    assert "several module texts; save the one before optimizations" in _refusal(path)


def test_gpu_is_refused(tmp_path: Path) -> None:
    assert _refusal(write_dump(tmp_path), Changes(chip="h100")) == "no TPU h100"


def test_number_of_devices_is_limited(tmp_path: Path) -> None:
    many = "f, num_partitions=30000, replica_count=30000, entry"
    path = _text(tmp_path, UNOPTIMIZED.replace("f, entry", many))
    assert _refusal(path).endswith("f.hlo: 900,000,000 devices are too many")


def test_truncated_text_is_refused(tmp_path: Path) -> None:
    text = UNOPTIMIZED.partition("  ROOT")[0]
    assert _refusal(_text(tmp_path, text)).endswith("f.hlo: the text is not complete")


def test_link_to_nothing_is_ignored(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    (folder / "module_0001.jit_f.cl_12.more.txt").symlink_to(folder / "none")
    assert not program_at(folder).is_newest


def test_missing_path_is_named(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "none").endswith("none: No such file or directory")


def test_several_programs_are_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _text(tmp_path, UNOPTIMIZED, f"module_0001.{name}.before_optimizations.txt")
    assert "2 programs; name a file of one: module_0001.a.before_" in _refusal(tmp_path)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (None, "the dump does not describe its GPU"),
        ('platform_name: "CUDA"', "the dump does not describe its GPU"),
        ("rocm_compute_capability {}", "programs for GPUs of AMD"),
    ],
)
def test_program_for_another_gpu_needs_a_tpu(
    tmp_path: Path, config: str | None, problem: str
) -> None:
    _text(tmp_path, UNOPTIMIZED, "module_0001.f.before_optimizations.txt")
    _text(tmp_path, MODULE, "module_0001.f.sm_9.0_gpu_after_optimizations.txt")
    if config is not None:
        _text(tmp_path, config, "module_0001.f.gpu_target_config.pbtxt")
    assert problem in _refusal(tmp_path)
    program = program_at(tmp_path)
    assert not program.names_chip  # so that the program without the changes is for the same chip
    request = program.request(Changes(chip="v5e"))
    assert (request["platform"], request["topology"]) == ("tpu", "v5e:2x2")


def test_text_for_an_unknown_tpu_needs_a_chip(tmp_path: Path) -> None:
    path = _text(tmp_path, UNOPTIMIZED, "module_0001.f.cl_1.before_optimizations.txt")
    assert "the dump does not name its chip; choose one, such as v5e" in _refusal(path)
    assert program_at(path).request(Changes(chip="v6e"), tmp_path)["topology"] == "v6e:2x2"


def test_lone_text_is_for_the_cpu(tmp_path: Path) -> None:
    text = UNOPTIMIZED.replace(":T(256)", "")
    request = program_at(_text(tmp_path, text)).request(Changes(), tmp_path)
    assert (request["platform"], request["topology"]) == ("cpu", None)


def test_unknown_chip_names_similar_ones(tmp_path: Path) -> None:
    assert _refusal(write_dump(tmp_path), Changes(chip="v7e")).startswith("no TPU v7e; did you ")


def test_other_chip_has_a_slice_of_its_own(tmp_path: Path) -> None:
    request = program_at(write_dump(tmp_path)).request(Changes(chip="v6e"), tmp_path)
    assert (request["topology"], request["dumped_topology"]) == ("v6e:2x2", "v5e:2x4")


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [("x", [1]), ("1", [1]), ("p['w']", [0]), ("p[*", [0]), ("*", [0, 1]), (9, [9])],
)
def test_donated_arguments_are_found(tmp_path: Path, wanted: str | int, numbers: list[int]) -> None:
    program = program_at(write_dump(tmp_path))
    assert program.request(Changes(donated=(wanted,)), tmp_path)["donated"] == numbers


def test_all_usable_arguments_are_donated(tmp_path: Path) -> None:
    program = program_at(write_dump(tmp_path))
    assert program.request(Changes(donated=()), tmp_path)["donated"] == [0]


def test_unknown_argument_names_similar_ones(tmp_path: Path) -> None:
    found = _refusal(write_dump(tmp_path), Changes(donated=("p['v']",)))
    assert found.endswith("no argument p['v']; did you mean p['w']?")


def test_donors_of_the_header_stay_donated(tmp_path: Path) -> None:
    text = UNOPTIMIZED.replace("entry", "buffer_donor={ (1, {}) }, entry", 1)
    program = program_at(_text(tmp_path, text.replace(":T(256)", "")))
    assert program.request(Changes(), tmp_path)["donated"] == [1]
    assert program.request(Changes(no_donation=True), tmp_path)["donated"] == []


def test_edited_text_replaces_that_of_jax(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    (folder / "module_0001.jit_f.cl_12").mkdir()
    (folder / "module_0001.jit_f.cl_12" / "module.mlir").write_text("module {}\n", "utf-8")
    program = program_at(folder)
    assert program.request(Changes(), tmp_path)["mlir"] == "module {}\n"
    edited = program.request(Changes(text="HloModule g"), tmp_path)
    assert (edited["mlir"], edited["text"]) == (None, "HloModule g")


def test_omitted_constants_are_noted(tmp_path: Path) -> None:
    text = UNOPTIMIZED.replace("parameter(1)", "constant({...})")
    (note,) = program_at(_text(tmp_path, text)).notes(None)
    assert note == "the text omits the values of 1 constant; XLA compiles with other values"


def test_edited_text_is_compiled_in_place_of_the_original(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    stem = STEM.removesuffix(".after_optimizations")
    (folder / stem).mkdir()
    (folder / stem / "module.mlir").write_text("module {}", "utf-8")
    text = folder / f"{stem}.before_optimizations.txt"
    assert program_at(folder).original == "module {}"
    newest = max(path.stat().st_mtime for path in folder.iterdir())
    os.utime(text, (newest + 60, newest + 60))
    assert program_at(folder).original is None
