"""Compiles by file names, checked against the content of the corpus."""

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumps import files_of
from hlo_lsp.model import compile_files
from hlo_lsp.model.compile_files import (
    CompileFiles,
    FolderCache,
    FolderListing,
    FolderSnapshot,
    compiles_below,
    group_by_module,
)
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk

_FOLDER = Path("dump")
_MEMORY = ("buffer-assignment-values", "buffer-assignment", "live-range", "memory-usage-report")
_TPU = "module_0000.jit_f.cl_7"
_TPU_MEMORY = [f"{_TPU}.after_optimizations-{kind}.txt" for kind in _MEMORY]
_TPU_TEXTS = [
    f"{_TPU}.{suffix}.txt"
    for suffix in (
        "before_optimizations",
        "0002.simplification.after_cse.before_dce",
        "0010.copy-insertion.after_adding_copies",
        "12345.fusion.after_a.before_b",
        "after_optimizations_before_buffer_assignment",
        "after_optimizations",
        "after_optimizations_after_buffer_assignment",
        "after_codegen",
        "after_codegen_after_hlo_sanitization",
    )
]
_TPU_ALL = [*reversed(_TPU_TEXTS), *_TPU_MEMORY, f"{_TPU}.transfer_stats.txt"]


def _compile(name: str, names: Iterable[str]) -> CompileFiles:
    return FolderListing(_FOLDER, {*names, name}).compile_files(name)


def _names(paths: Iterable[Path]) -> list[str]:
    return [path.name for path in paths]


def test_module_texts_are_in_pipeline_order() -> None:
    compile_ = _compile(_TPU_TEXTS[2], _TPU_ALL)
    assert _names(compile_.texts) == _TPU_TEXTS
    assert _names(compile_.files) == sorted(_TPU_ALL)


def test_partitioning_comes_before_the_first_optimization() -> None:
    """Check the order of jaxlib 0.10.2 for a GPU."""
    texts = [
        f"module_0001.jit_fx.{suffix}.txt"
        for suffix in (
            "before_optimizations",
            "0000.annotate-host-compute.after_pipeline-start.before_wrapper",
            "0003.sharding-removal.after_pipeline-start.before_sharding-remover",
            "0004.host-compute.after_pipeline-start.before_host_compute_asyncifier",
            "after_spmd_partitioner",
            "0005.optimization.after_pipeline-start.before_ragged_dot_rewriter",
            "sm_9.0a_gpu_after_optimizations",
        )
    ]
    assert _names(_compile(texts[0], texts).texts) == texts


@pytest.mark.parametrize("name", _TPU_TEXTS[4:])
def test_texts_with_equal_instructions_share_memory_files(name: str) -> None:
    compile_ = _compile(name, _TPU_ALL)
    assert _names(compile_.memory) == sorted(_TPU_MEMORY)
    assert compile_.module == _FOLDER / f"{_TPU}.after_optimizations.txt"
    assert _names(compile_.files_read_together()) == [name, *sorted(_TPU_MEMORY)]
    assert compile_.stem == f"{_TPU}.after_optimizations"


@pytest.mark.parametrize("name", _TPU_TEXTS[:4])
def test_no_memory_files_belong_to_an_earlier_text(name: str) -> None:
    compile_ = _compile(name, _TPU_ALL)
    assert (compile_.memory, compile_.files_read_together()) == ((), [_FOLDER / name])
    assert compile_.stem == name.removesuffix(".txt")


def test_memory_file_has_companions_and_module_text() -> None:
    compile_ = _compile(_TPU_MEMORY[2], _TPU_ALL)
    text = f"{_TPU}.after_optimizations.txt"
    assert set(_names(compile_.files_read_together())) == {*_TPU_MEMORY, text}
    assert compile_.files_read_together()[0] == compile_.path
    # the text after buffer assignment is identical, so it can replace the module
    kept = [name for name in _TPU_ALL if name != text]
    assert compile_.module == _FOLDER / text
    assert _compile(_TPU_MEMORY[2], kept).module == _FOLDER / _TPU_TEXTS[6]
    assert _compile(_TPU_MEMORY[2], _TPU_MEMORY).module is None


@pytest.mark.parametrize("thunks", ["thunk_sequence", "thunk_sequence_after_thunk_passes"])
@pytest.mark.parametrize("arch", ["sm_9.0a_gpu", "gfx942_gpu", "gpu"])
@pytest.mark.parametrize("stamp", ["", "17."])
def test_thunks_belong_to_the_optimized_module(thunks: str, arch: str, stamp: str) -> None:
    head = "module_0001.jit_f"
    module = f"{stamp}{head}.{arch}_after_optimizations"
    memory = [f"{module}-{kind}.txt" for kind in _MEMORY]
    metadata = f"{stamp}{head}.thunk_metadata.txt"
    names = [*memory, f"{module}.txt", metadata, f"{stamp}{head}.before_optimizations.txt",
             "module_0001.jit_f.g.gpu_after_optimizations.txt"]  # fmt: skip
    compile_ = _compile(f"{head}.{thunks}.txt", names)
    assert _names(compile_.files_read_together()) == [
        f"{head}.{thunks}.txt",
        *memory,
        f"{module}.txt",
    ]
    assert compile_.thunk_metadata == _FOLDER / metadata
    of_module = _compile(f"{module}.txt", [*names, f"{head}.{thunks}.txt"])
    assert of_module.stem == compile_.stem


def test_one_folder_for_two_machines() -> None:
    names = [f"module_0001.jit_f.{arch}after_optimizations{tail}.txt"
             for arch in ("cpu_", "sm_8.9_gpu_", "sm_9.0_gpu_")
             for tail in ("", "-live-range")]  # fmt: skip
    thunks = "module_0001.jit_f.thunk_sequence.txt"
    for text, ranges in zip(names[::2], names[1::2], strict=True):
        assert _names(_compile(text, names).memory) == [ranges]
    assert _names(_compile(thunks, names[:4]).memory) == [names[3]]
    assert _compile(thunks, names).memory == ()  # the GPU is ambiguous


def test_files_that_were_named_by_hand() -> None:
    names = ["my.txt", "my-buffer-assignment.txt", "mine.txt", "sample_2.txt", "foo.hlo"]
    assert _names(_compile("my.txt", names).memory) == ["my-buffer-assignment.txt"]
    assert _names(_compile("my-buffer-assignment.txt", names).files_read_together())[1:] == [
        "my.txt"
    ]
    for name in names[2:]:
        assert _names(_compile(name, names).files_read_together()) == [name]
    cut = ["module_0002.jit_f.txt", "module_0002.jit_f-live-range.txt"]
    assert _names(_compile(cut[0], cut).files_read_together()) == cut


def test_file_need_not_be_listed() -> None:
    assert _names(_compile("a.txt", ()).files) == ["a.txt"]
    with pytest.raises(KeyError):
        FolderListing(_FOLDER, ["b.txt"]).compile_files("a.txt")


_JAX_HEAD = re.compile(r"module_\d+\.[^.]+")  # jax module names have no dot


@pytest.mark.corpus
def test_every_compile_of_the_corpus_is_complete(corpus_small: Path, train_l24: Path) -> None:
    seen: Counter[str] = Counter()
    for root in (*sorted(path for path in corpus_small.iterdir() if path.is_dir()), train_l24):
        paths = files_of(root)
        listing = FolderListing(root, [path.name for path in paths])
        assert Counter(path for module in listing.modules() for path in module) == Counter(paths)
        kinds = {path: detect_file_kind(disk.read_document(path).lines[:60]) for path in paths}
        heads = [_JAX_HEAD.match(path.name) for path in paths]
        jax = {head[0] for head in heads if head is not None}
        assert len(listing.modules()) == len(jax) + heads.count(None)
        for path in paths:
            compile_ = listing.compile_files(path.name)
            assert FolderListing(root, compile_.names()).compile_files(path.name) == compile_
            if kinds[path] is FileKind.MODULE:
                seen["texts with memory files" if compile_.memory else "other texts"] += 1
                assert path in compile_.texts
            elif kinds[path].is_memory and root.name != "samples":
                seen["memory"] += 1
                assert path in compile_.memory
                assert compile_.module is not None
                shared = Counter(kinds[other] for other in compile_.files_read_together())
                assert set(shared.values()) == {1}, shared
            elif kinds[path] is FileKind.THUNKS:
                seen["thunks"] += 1
                assert compile_.memory
    assert dict(seen) == {
        "memory": 1266,
        "texts with memory files": 590,
        "other texts": 547,
        "thunks": 212,
    }


_TEXT = "module_0001.jit_f.cpu_after_optimizations.txt"
_RANGES = "module_0001.jit_f.cpu_after_optimizations-live-range.txt"
_LONG_AGO = 1_000_000_000_000_000_000  # ns


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders that are read, in order."""
    read: list[Path] = []

    def listdir(folder: Path) -> list[str]:
        read.append(folder)
        return [entry.name for entry in os.scandir(folder)]

    monkeypatch.setattr(os, "listdir", listdir)
    return read


def _touch(folder: Path, name: str, time: int = _LONG_AGO) -> Path:
    (folder / name).touch()
    os.utime(folder, ns=(time, time))
    return folder / name


def _cached_compile(cache: FolderCache, path: Path) -> CompileFiles:
    return cache.listing(path.parent).compile_files(path.name)


def test_folder_is_read_once(tmp_path: Path, listed: list[Path]) -> None:
    text, ranges = _touch(tmp_path, _TEXT), _touch(tmp_path, _RANGES)
    known = FolderCache()
    assert _cached_compile(known, text).memory == (ranges,)
    assert _cached_compile(known, ranges).module == text
    assert listed == [tmp_path]


def test_new_file_is_seen(tmp_path: Path, listed: list[Path]) -> None:
    text = _touch(tmp_path, _TEXT)
    known = FolderCache()
    assert _cached_compile(known, text).memory == ()
    ranges = _touch(tmp_path, _RANGES, _LONG_AGO + 1)
    assert _cached_compile(known, text).memory == (ranges,)
    assert listed == [tmp_path, tmp_path]


def test_recently_changed_folder_is_not_cached(tmp_path: Path, listed: list[Path]) -> None:
    """Check that changes within the resolution of the modification time are found."""
    coming = 1 << 62  # ns; later than any current time
    text = _touch(tmp_path, _TEXT, coming)
    known = FolderCache()
    assert _cached_compile(known, text).memory == ()
    ranges = _touch(tmp_path, _RANGES, coming)
    assert _cached_compile(known, text).memory == (ranges,)
    assert len(listed) == 2


def test_unchanged_names_are_not_grouped_again(tmp_path: Path) -> None:
    _touch(tmp_path, _TEXT, 1 << 62)
    known = FolderCache()
    listing = known.listing(tmp_path)
    assert known.listing(tmp_path) is listing


def test_snapshot_does_not_see_a_new_file(tmp_path: Path, listed: list[Path]) -> None:
    text = _touch(tmp_path, _TEXT)
    known = FolderSnapshot()
    assert known.listing(tmp_path).compile_files(_TEXT).memory == ()
    _touch(tmp_path, _RANGES, _LONG_AGO + 1)
    assert known.listing(tmp_path).compile_files(_TEXT).files == (text,)
    assert listed == [tmp_path]


def test_more_names_are_grouped_once() -> None:
    listing = FolderListing(_FOLDER, [_TEXT])
    assert listing.with_names([_TEXT]) is listing
    more = listing.with_names([_RANGES])
    assert more is listing.with_names([_RANGES])
    assert more.compile_files(_TEXT).memory == (_FOLDER / _RANGES,)


def test_missing_folder_is_empty(tmp_path: Path) -> None:
    assert FolderCache().listing(tmp_path / "no such folder").modules() == []


_LONG = "jit_" + "x" * 190
_CL = "cl_1003875606"


def _groups(*names: str) -> set[frozenset[str]]:
    return {frozenset(group) for group in group_by_module(names).values()}


def test_modules_with_other_numbers_or_names_stay_apart() -> None:
    names = [
        "module_0002.before_optimizations.txt",
        "module_0002.jit_f.before_optimizations.txt",
        "module_0002.jit_f.g.before_optimizations.txt",
        "module_00020.before_optimizations.txt",
        "module_0264.extracted.cl_5.before_optimizations.txt",
        "module_0265.extracted.cl_5.before_optimizations.txt",
    ]
    assert _groups(*names) == {frozenset({name}) for name in names}


def test_file_without_timestamp_joins_the_only_run() -> None:
    """Check ``thunk_sequence.txt``, which never has one (jaxlib 0.10.2)."""
    module = "17.module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt"
    thunks = "module_0001.jit_f.thunk_sequence.txt"
    assert _groups(module, thunks) == {frozenset({module, thunks})}


def test_timestamps_separate_runs_in_one_folder() -> None:
    first = {f"17.module_0001.jit_f.{what}_optimizations.txt" for what in ("before", "after")}
    second = {name.replace("17.", "18.") for name in first}
    # both runs wrote this file, and the last writer is unknown
    thunks = {"module_0001.jit_f.thunk_sequence.txt"}
    assert _groups(*first, *second, *thunks) == set(map(frozenset, (first, second, thunks)))


def test_long_file_names_omit_the_module_name() -> None:
    """Check libtpu: XLA omits the module name from a file name of 256 characters."""
    names = {
        f"module_0000.{_LONG}.{_CL}.after_codegen.txt",
        f"module_0000.{_LONG}.{_CL}",
        f"module_0000.{_CL}.after_optimizations_before_buffer_assignment.txt",
        f"module_0000.{_CL}.0003.Before_X64_rewriter.after_call-inliner.before_canonicalizer.txt",
    }
    assert _groups(*names) == {frozenset(names)}
    stamped = {f"1795261644439222.{name}" if name.endswith("t") else name for name in names}
    assert _groups(*stamped) == {frozenset(stamped)}


def test_missing_module_name_is_not_guessed() -> None:
    short = f"module_0000.{_CL}.after_codegen.txt"  # short enough for the module name
    missing = f"module_0000.{_CL}.after_optimizations_before_buffer_assignment.txt"
    named = f"module_0000.{_LONG}.{_CL}.after_codegen.txt"
    other = f"module_0000.{_LONG}y.{_CL}.after_codegen.txt"
    assert _groups(short, named) == {frozenset({short}), frozenset({named})}
    assert frozenset({missing}) in _groups(missing, named, other)
    assert frozenset({missing}) in _groups(missing, named.replace("0000", "0001"))
    assert frozenset({f"1.{missing}"}) in _groups(f"1.{missing}", f"2.{named}")


def test_unknown_suffix_joins_longest_module_name() -> None:
    longer = {
        "module_0007.SyncTensorsGraph.42.before_optimizations.txt",
        "module_0007.SyncTensorsGraph.42.my_kernel.ir-no-opt.ll",
        "module_0007.SyncTensorsGraph.42.new_in_2030.txt",
    }
    shorter = {
        "module_0007.SyncTensorsGraph.before_optimizations.txt",
        "module_0007.SyncTensorsGraph.43.new_in_2030.txt",
    }
    assert _groups(*longer, *shorter) == {frozenset(longer), frozenset(shorter)}
    assert _groups(*(f"17.{name}" for name in longer)) == {
        frozenset(f"17.{name}" for name in longer)
    }


def test_other_names_group_by_prefix() -> None:
    assert _groups(
        "step.before_optimizations.txt", "step.after_optimizations-live-range.txt",
        "my.txt", "my-buffer-assignment.txt", "sample_2.txt", "foo.hlo",
    ) == {
        frozenset({"step.before_optimizations.txt", "step.after_optimizations-live-range.txt"}),
        frozenset({"my.txt", "my-buffer-assignment.txt"}),
        frozenset({"sample_2.txt"}),
        frozenset({"foo.hlo"}),
    }  # fmt: skip


_STAMPED = (
    "0004.simplification.after_cse.before_dce.txt",
    "0018.copy-insertion.after adding copies.txt",
    "sm_9.0a_gpu_after_optimizations.txt",
    "sm_9.0a_gpu_after_optimizations-memory-usage-report.txt",
    "thunk_metadata.txt",
)
_UNSTAMPED = ("thunk_sequence.txt", "debug_options", "kernel_7.ir-with-opt.ll", "what_is_it.txt")
_Module = tuple[int, str, int | None]
_MODULES: st.SearchStrategy[_Module] = st.tuples(
    st.integers(0, 12_000),
    st.sampled_from(["jit_f", "jit_f.g", "SyncTensorsGraph.42", "after_optimizations", "a.cl_7"]),
    st.none() | st.integers(1, 3),
)
_SUFFIXES = st.sets(st.sampled_from(_STAMPED + _UNSTAMPED))


def _file_names(module: _Module, suffixes: set[str]) -> frozenset[str]:
    number, name, timestamp = module
    head = f"module_{number:04d}.{name}"
    stamp = "" if timestamp is None else f"{timestamp}."
    return frozenset(
        {f"{stamp}{head}.before_optimizations.txt"}
        | {f"{'' if suffix in _UNSTAMPED else stamp}{head}.{suffix}" for suffix in suffixes}
    )


@given(st.dictionaries(_MODULES, _SUFFIXES))
def test_every_file_goes_to_its_module(modules: dict[_Module, set[str]]) -> None:
    groups = {module: _file_names(module, suffixes) for module, suffixes in modules.items()}
    found = group_by_module({name for names in groups.values() for name in names})
    runs = Counter(module[:2] for module in modules)
    expected = {names for module, names in groups.items() if runs[module[:2]] == 1}
    assert expected <= {frozenset(group) for group in found.values()}
    assert Counter(name for group in found.values() for name in group) == Counter(
        {name: 1 for names in groups.values() for name in names}
    )


@given(st.dictionaries(_MODULES, _SUFFIXES))
def test_names_of_a_module_are_one_group(modules: dict[_Module, set[str]]) -> None:
    names = {name for module, each in modules.items() for name in _file_names(module, each)}
    for group in group_by_module(names).values():
        assert _groups(*group) == {frozenset(group)}


def test_walk_keeps_the_listing_of_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "module_0001.jit_f.txt").touch()
    made: WeakSet[FolderListing] = WeakSet()

    class Listing(FolderListing):
        def __init__(self, folder: Path, names: Iterable[str]) -> None:
            super().__init__(folder, names)
            made.add(self)

    monkeypatch.setattr(compile_files, "FolderListing", Listing)
    assert [len(made) for _ in compiles_below(tmp_path)] == [1, 1, 1]
