"""Which files belong to one compile, by their names."""

from pathlib import Path

import pytest

from dumps import files_of, memory_files
from hlo_lsp.model.stems import family, stem_of, thunk_names_path

_TPU = "module_0000.jit_f.cl_1003875606.after_optimizations"


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        (f"{_TPU}.txt", _TPU),
        (f"{_TPU}-buffer-assignment.txt", _TPU),
        (f"{_TPU}-buffer-assignment-values.txt", _TPU),
        (f"{_TPU}-live-range.txt", _TPU),
        (f"{_TPU}-memory-usage-report.txt", _TPU),
        ("module_0001.a.b.c_d.cpu_after_optimizations-live-range.txt",
         "module_0001.a.b.c_d.cpu_after_optimizations"),
        ("1795231261143510.module_0000.jit_f.after_optimizations-live-range.txt",
         "1795231261143510.module_0000.jit_f.after_optimizations"),
        ("module_16585.sm_9.0a_gpu_after_optimizations.txt",
         "module_16585.sm_9.0a_gpu_after_optimizations"),
        ("module_0001.jit_f.before_optimizations.txt", "module_0001.jit_f.before_optimizations"),
        ("sample_001.txt", "sample_001"),
        ("notes.md", "notes.md"),
    ],
)  # fmt: skip
def test_the_stem_of_a_name(name: str, stem: str, tmp_path: Path) -> None:
    assert stem_of(tmp_path / name) == stem


def test_a_family_begins_with_the_file_itself(tmp_path: Path) -> None:
    paths = family(tmp_path / f"{_TPU}-live-range.txt")
    assert paths[0] == tmp_path / f"{_TPU}-live-range.txt"
    assert sorted(path.name for path in paths) == [
        f"{_TPU}-buffer-assignment-values.txt",
        f"{_TPU}-buffer-assignment.txt",
        f"{_TPU}-live-range.txt",
        f"{_TPU}-memory-usage-report.txt",
        f"{_TPU}.txt",
    ]


def test_modules_of_one_name_are_different_compiles(tmp_path: Path) -> None:
    one = family(tmp_path / "module_0014.jit_f.cpu_after_optimizations.txt")
    other = family(tmp_path / "module_0002.jit_f.cpu_after_optimizations.txt")
    assert set(one).isdisjoint(other)


@pytest.mark.parametrize("arch", ["sm_9.0a_gpu", "sm_9.0_gpu", "gfx942_gpu", "gfx90a_gpu", "gpu"])
@pytest.mark.parametrize("name", ["thunk_sequence", "thunk_sequence_after_thunk_passes"])
def test_thunks_belong_to_the_optimized_module_beside_them(
    arch: str, name: str, tmp_path: Path
) -> None:
    for other in ("module_0001.jit_f", "module_00012.jit_f", "module_0001.jit_f.g"):
        (tmp_path / f"{other}.{arch}_after_optimizations.txt").touch()
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").touch()
    thunks = tmp_path / f"module_0001.jit_f.{name}.txt"
    assert stem_of(thunks) == f"module_0001.jit_f.{arch}_after_optimizations"
    assert tmp_path / f"module_0001.jit_f.{arch}_after_optimizations.txt" in family(thunks)


def test_thunks_alone_are_a_family_of_their_own(tmp_path: Path) -> None:
    thunks = tmp_path / "module_0001.jit_f.thunk_sequence.txt"
    assert stem_of(thunks) == "module_0001.jit_f.thunk_sequence"
    assert stem_of(tmp_path / "no such folder" / thunks.name) == stem_of(thunks)


def test_the_names_of_thunks_lie_beside_them(tmp_path: Path) -> None:
    names = tmp_path / "module_0001.jit_f.thunk_metadata.txt"
    for thunks in ("thunk_sequence.txt", "thunk_sequence_after_thunk_passes.txt"):
        assert thunk_names_path(tmp_path / f"module_0001.jit_f.{thunks}") == names
    assert thunk_names_path(names) is None
    assert thunk_names_path(tmp_path / "module_0001.jit_f.gpu_after_optimizations.txt") is None


def test_the_memory_files_of_a_real_compile_find_one_another(corpus_small: Path) -> None:
    folder = corpus_small / "tpu_v5e"
    present = set(files_of(folder))
    for path in memory_files(folder):
        found = present.intersection(family(path))
        assert len(found) == 5, path.name
        assert {stem_of(member) for member in found} == {stem_of(path)}
