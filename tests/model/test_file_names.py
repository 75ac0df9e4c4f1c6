"""Names of dump files."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hlo_lsp.model.file_names import DumpName, FileRole, group_key, is_dump_file

_COPIES = "after adding copies to resolve interference"


def _of(filename: str) -> DumpName:
    name = DumpName.of(filename)
    assert name is not None, filename
    return name


@pytest.mark.parametrize(
    ("filename", "head", "suffix", "role"),
    [
        ("module_0000.jit_f.cl_1003875606.after_optimizations.txt",
         (None, "jit_f", 1003875606), "after_optimizations.txt", FileRole.AFTER_OPTIMIZATIONS),
        ("1795261231143510.module_0000.jit_f.cpu_after_optimizations-live-range.txt",
         (1795261231143510, "jit_f", None), "cpu_after_optimizations-live-range.txt",
         FileRole.LIVE_RANGE),
        ("module_16585.sm_9.0a_gpu_after_optimizations-buffer-assignment-values.txt",
         (None, None, None), "sm_9.0a_gpu_after_optimizations-buffer-assignment-values.txt",
         FileRole.VALUES),
        ("module_0007.SyncTensorsGraph.42.before_optimizations.txt",
         (None, "SyncTensorsGraph.42", None), "before_optimizations.txt",
         FileRole.BEFORE_OPTIMIZATIONS),
        ("module_0001.after_optimizations.before_optimizations.txt",
         (None, "after_optimizations", None), "before_optimizations.txt",
         FileRole.BEFORE_OPTIMIZATIONS),
        ("module_0264.extracted.cl_5.after_optimizations_before_buffer_assignment.txt",
         (None, "extracted", 5), "after_optimizations_before_buffer_assignment.txt",
         FileRole.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT),
        ("module_0264.f.cl_5.after_codegen_after_hlo_sanitization.txt",
         (None, "f", 5), "after_codegen_after_hlo_sanitization.txt", FileRole.AFTER_CODEGEN),
        ("module_0004.jit_f.cl_5.oom_intermediate_module.txt",
         (None, "jit_f", 5), "oom_intermediate_module.txt",
         FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT),
        ("module_0001.jit_f.thunk_sequence_after_thunk_passes.txt",
         (None, "jit_f", None), "thunk_sequence_after_thunk_passes.txt", FileRole.THUNKS),
        ("module_0001.jit_f.thunk_metadata.txt",
         (None, "jit_f", None), "thunk_metadata.txt", FileRole.THUNK_METADATA),
        ("module_0001.jit_f.after_spmd_partitioner.txt",
         (None, "jit_f", None), "after_spmd_partitioner.txt", FileRole.AFTER_SPMD_PARTITIONER),
        ("module_0001.a.b.cl_7", (None, "a.b", 7), "", FileRole.MODULE_FOLDER),
        ("module_0001", (None, None, None), "", FileRole.MODULE_FOLDER),
        ("module_0001.a.b.debug_options", (None, "a.b", None), "debug_options", FileRole.OTHER),
        ("module_0001.metadata.textproto",
         (None, None, None), "metadata.textproto", FileRole.OTHER),
        ("module_0001.a.b.cl_7.no_one_knows.txt", (None, "a.b", 7), "no_one_knows.txt",
         FileRole.OTHER),
        ("module_0001.jit_f.0.ir-no-opt.ll", (None, "jit_f", None), "0.ir-no-opt.ll",
         FileRole.OTHER),
    ],
)  # fmt: skip
def test_parts_of_a_name(
    filename: str, head: tuple[int | None, str | None, int | None], suffix: str, role: FileRole
) -> None:
    name = _of(filename)
    assert (name.timestamp, name.module_name, name.cl) == head
    assert (name.suffix.text, name.role) == (suffix, role)


@pytest.mark.parametrize(
    ("filename", "architecture"),
    [
        ("module_0001.f.after_optimizations.txt", ""),
        ("module_0001.f.cpu_after_optimizations-live-range.txt", "cpu_"),
        ("module_0001.f.sm_8.9_gpu_after_optimizations.txt", "sm_8.9_gpu_"),
        ("module_0001.f.sm_10.0f_gpu_after_optimizations-memory-usage-report.txt",
         "sm_10.0f_gpu_"),
        ("module_0001.f.gfx942_gpu_after_optimizations.txt", "gfx942_gpu_"),
        ("module_0001.sm_8.gpu_after_optimizations.txt", "gpu_"),
    ],
)  # fmt: skip
def test_target_of_a_module_is_read(filename: str, architecture: str) -> None:
    assert _of(filename).suffix.architecture == architecture


@pytest.mark.parametrize(
    ("suffix", "step"),
    [
        ("0007.simplification.after_cse.before_dce.txt",
         (7, "simplification")),
        ("0013.after_layout_assignment.after_pipeline-start.before_pipeline-end.txt",
         (13, "after_layout_assignment")),
        ("12345.HLO passes after scheduling.after_a.b.before_c.d.txt",
         (12345, "HLO passes after scheduling")),
        ("0003.p.after_x.before_optimizations.txt", (3, "p")),
        (f"0018.copy-insertion.{_COPIES}.txt", (18, "copy-insertion")),
        ("0018.copy-insertion.after_removing_unnecessary_copies.txt",
         (18, "copy-insertion")),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "head", ["module_0002", "module_0002.fused_reduce.1", "1795.module_0002.jit_f.cl_12"]
)
def test_pipeline_step_of_a_text(head: str, suffix: str, step: tuple[int, str]) -> None:
    name = _of(f"{head}.{suffix}")
    assert (name.suffix.number, name.suffix.pipeline) == step
    assert (name.role, name.suffix.text) == (FileRole.PASS, suffix)
    assert name.head == head.removeprefix("1795.")


@pytest.mark.parametrize(
    "filename",
    ["sample_2.txt", "step.after_optimizations.txt", "module_12.f.txt", "module_0001x.txt", "",
     "triton_ir.module_0001.jit_f.ttir", "my_module_0001.jit_f.after_optimizations.txt"],
)  # fmt: skip
def test_names_of_another_form(filename: str) -> None:
    assert DumpName.of(filename) is None


@pytest.mark.parametrize(
    ("filename", "key"),
    [
        ("1795.module_0002.jit_f.after_optimizations.txt", "module_0002.jit_f"),
        ("module_0002.jit_f.debug_options", "module_0002.jit_f"),
        ("module_0002.jit_f", "module_0002.jit_f"),
        ("module_0002.after_optimizations.txt", "module_0002"),
        ("module_00020.after_optimizations.txt", "module_00020"),
        ("sample_2.txt", "sample_2"),
        ("my-buffer-assignment.txt", "my"),
        ("my.txt", "my"),
        ("foo.hlo", "foo.hlo"),
        ("step.sm_9.0_gpu_after_optimizations-live-range.txt", "step"),
        ("step.thunk_sequence.txt", "step"),
        ("after_optimizations.txt", ""),
        ("", ""),
    ],
)
def test_group_key(filename: str, key: str) -> None:
    assert group_key(filename) == key


_WORDS = st.from_regex(r"[A-Za-z_][\w\-]{0,9}", fullmatch=True) | st.sampled_from(
    ["after_optimizations", "before_optimizations", "cpu_after_optimizations-live-range", "42",
     "txt", "thunk_sequence", "sm_8", "module_0001", "before_fusion", "debug_options"]
)  # fmt: skip
_NAMES = st.none() | st.lists(_WORDS, min_size=1, max_size=4).map(".".join)
_PASSES = st.from_regex(r"[a-z][a-z0-9 _\-]{0,12}", fullmatch=True)
_MEMORY = {
    "-buffer-assignment": FileRole.ASSIGNMENT,
    "-buffer-assignment-values": FileRole.VALUES,
    "-live-range": FileRole.LIVE_RANGE,
    "-memory-usage-report": FileRole.REPORT,
    "": FileRole.AFTER_OPTIMIZATIONS,
}
_STEMS = st.sampled_from(["", "cpu_", "gpu_", "sm_8.9_gpu_", "sm_10.0a_gpu_", "gfx90a_gpu_"])
_TEXTS = [role for role in FileRole if role.is_module_text and role is not FileRole.PASS]


@st.composite
def _suffixes(draw: st.DrawFn) -> tuple[str, FileRole, object]:
    kind = draw(st.sampled_from(["memory", "text", "between", "during"]))
    if kind == "memory":
        tail = draw(st.sampled_from(sorted(_MEMORY)))
        architecture = draw(_STEMS)
        return f"{architecture}after_optimizations{tail}.txt", _MEMORY[tail], architecture
    if kind == "text":
        role = draw(st.sampled_from(_TEXTS))
        return f"{role.value}.txt", role, ""
    number = draw(st.integers(0, 123_456))
    words = [draw(_PASSES) for _ in range(3)]
    if kind == "between":
        suffix = f"{number:04d}.{words[0]}.after_{words[1]}.before_{words[2]}.txt"
        return suffix, FileRole.PASS, (number, words[0])
    suffix = f"{number:04d}.{words[0]}.after {words[1]}.txt"
    return suffix, FileRole.PASS, (number, words[0])


@given(
    st.none() | st.integers(1, 10**18),
    st.integers(0, 10**6),
    _NAMES,
    st.none() | st.integers(0, 10**12),
    _suffixes(),
)
def test_name_put_together_comes_apart(
    timestamp: int | None,
    module_id: int,
    module_name: str | None,
    cl: int | None,
    suffix: tuple[str, FileRole, object],
) -> None:
    assume(cl is not None or not (module_name or "").rpartition(".")[2].startswith("cl_"))
    head = f"module_{module_id:04d}"
    head += "" if module_name is None else f".{module_name}"
    head += "" if cl is None else f".cl_{cl}"
    text, role, detail = suffix
    name = _of(("" if timestamp is None else f"{timestamp}.") + f"{head}.{text}")
    assert (name.timestamp, name.head) == (timestamp, head)
    assert (name.module_name, name.cl) == (module_name, cl)
    assert (name.suffix.text, name.role) == (text, role)
    assert detail in ((name.suffix.number, name.suffix.pipeline), name.suffix.architecture)


@given(st.text(max_size=60), st.sampled_from(["", "module_0001.", "17.module_0001.jit_f."]))
def test_any_name_has_a_key_and_loses_nothing(text: str, start: str) -> None:
    name = DumpName.of(start + text)
    assert isinstance(group_key(start + text), str)
    if name is not None:
        rest = (start + text).removeprefix(f"{name.timestamp}.").removeprefix(name.head)
        assert rest.lstrip(".") == name.suffix.text.lstrip(".")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "module_0001.jit_f.cl_12.after_optimizations.txt",
            "x.after_optimizations.txt",
            "my.hlo",
            "train.log",
        ),
        *("module_0001.jit_f.sm_9.0_gpu_target_config.pbtxt", "module_0001.jit_f.ptx"),
        *("module_0001.jit_f.debug_options", "module_0001.jit_f.hlo.pb", "a.hlo.pb.gz"),
        *("host.xplane.pb", "host.trace.json.gz", "dumps.tar.xz", "x.trace.json"),
    ],
)
def test_names_of_dump_files(name: str) -> None:
    assert is_dump_file(name)


@pytest.mark.parametrize(
    "name",
    [
        *(".a.txt", ".git", "train.py", "module_0001.py", "module_0001.jit_f.sh", "Makefile"),
        *(
            "package.json",
            "config",
            "requirements.txt",
            "CMakeLists.txt",
            "module_0001.jit_f",
            "conftest.py",
            "sitecustomize.pyc",
        ),
    ],
)
def test_names_of_other_files(name: str) -> None:
    assert not is_dump_file(name)
