"""Grouping of file names by module."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.compiles import group_by_module

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


def _names(module: _Module, suffixes: set[str]) -> frozenset[str]:
    number, name, timestamp = module
    head = f"module_{number:04d}.{name}"
    stamp = "" if timestamp is None else f"{timestamp}."
    return frozenset(
        {f"{stamp}{head}.before_optimizations.txt"}
        | {f"{'' if suffix in _UNSTAMPED else stamp}{head}.{suffix}" for suffix in suffixes}
    )


@given(st.dictionaries(_MODULES, _SUFFIXES))
def test_every_file_goes_to_its_module(modules: dict[_Module, set[str]]) -> None:
    groups = {module: _names(module, suffixes) for module, suffixes in modules.items()}
    found = group_by_module({name for names in groups.values() for name in names})
    runs = Counter(module[:2] for module in modules)
    expected = {names for module, names in groups.items() if runs[module[:2]] == 1}
    assert expected <= {frozenset(group) for group in found.values()}
    assert Counter(name for group in found.values() for name in group) == Counter(
        {name: 1 for names in groups.values() for name in names}
    )
