"""The numbers of ``memory_analysis()`` beside those that jax 0.10.2 printed."""

import pytest

from hlo_lsp.memory.memory_analysis import memory_analysis
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from reports.example import MODULE

_TPU = """\
BufferAssignment:
allocation 0: size 98304, page 0, parameter 1, shape |f32[64,300]| at ShapeIndex {}:
 value: <1 x @0> (size=98304,offset=0): f32[64,300]{1,0:T(8,128)}
allocation 1: size 2801664, page 0, parameter 0, shape |f32[1824,384]| at ShapeIndex {}, \
maybe-live-out:
allocation 2: size 512, page 0, output shape is |(f32[1824,384])|, maybe-live-out:
allocation 3: size 1048576, color 5, page 0, parameter 2, shape |f32[512,512]| at ShapeIndex {}:
allocation 4: size 98816, page 0, preallocated-temp:
allocation 5: size 3072000, color 1, page 0, preallocated-temp:
allocation 6: size 2560, page 0, constant:
allocation 7: size 512, page 0, thread-local:
"""
_CPU = """\
BufferAssignment:
allocation 0: size 400, parameter 0, shape |f32[100]| at ShapeIndex {}:
allocation 1: size 400, output shape is |f32[100]|, maybe-live-out:
allocation 2: size 131168, preallocated-temp:
allocation 3: size 16, constant:
"""


def _sizes(text: str) -> dict[str, int | None]:
    file = DumpFile.of_text(text)
    return {one.key: one.bytes for one in memory_analysis(Compile([file]))}


def test_tpu_sizes_follow_from_allocations() -> None:
    assert _sizes(_TPU) == {
        "argument_size_in_bytes": 2899968,
        "output_size_in_bytes": 2802176,
        "alias_size_in_bytes": 2801664,
        "host_argument_size_in_bytes": 1048576,
        "host_output_size_in_bytes": 0,
        "host_alias_size_in_bytes": 0,
        "temp_size_in_bytes": 7 * 16384,
        "peak_memory_in_bytes": None,
        "generated_code_size_in_bytes": None,
    }


def test_sizes_for_gpus_are_sums() -> None:
    name = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
    sizes = {one.key: one.bytes for one in memory_analysis(Compile([DumpFile.of_text(_CPU, name)]))}
    assert [sizes[f"{key}_size_in_bytes"] for key in ("argument", "output", "alias", "temp")] == [
        *(400, 400, 0, 131168)
    ]
    assert sizes["peak_memory_in_bytes"] is None


@pytest.mark.parametrize(
    ("number", "temp"),
    [(1003875606, 7 * 16384), (1000038190, None), (1004524046, None)],
    ids=["libtpu 0.0.51", "libtpu 0.0.48.1", "libtpu 0.0.50.1"],
)
def test_releases_that_count_fragmentation_are_unknown(number: int, temp: int | None) -> None:
    name = f"module_0001.jit_f.cl_{number}.after_optimizations-buffer-assignment.txt"
    dump = Compile([DumpFile.of_text(_TPU, name)])
    assert {one.key: one.bytes for one in memory_analysis(dump)}["temp_size_in_bytes"] == temp


def test_module_alone_has_no_sizes() -> None:
    assert not memory_analysis(Compile([DumpFile.of_text(MODULE)]))


@pytest.mark.parametrize("name", ["argument_size_in_bytes", "temp_size_in_bytes"])
def test_unknown_backend_has_no_sizes(name: str) -> None:
    assert _sizes(_CPU)[name] is None


_STORED = "<2 add @0> (size=512,offset=0): f32[2]{0:T(128)}"
_SCALAR = "<3 add.1 @0> (size=512,offset=0): s32[]{:T(128)}"
_TABLE = "<4 while{} @0> (size=512,offset=0): (s32[]{:T(128)}, f32[2]{0:T(128)})"
_TOKEN = "<5 after-all @0> (size=0,offset=0): token[]"


@pytest.mark.parametrize(
    ("values", "bytes_"),
    [
        ([_STORED, _SCALAR, _TABLE], 16384),
        ([_TABLE, _TOKEN], 0),
        ([_SCALAR, _TABLE], None),
    ],
)
def test_tpu_stores_no_tuple_tables(values: list[str], bytes_: int | None) -> None:
    lines = ["BufferAssignment:", "allocation 0: size 512, page 0, preallocated-temp:"]
    text = "\n".join([*lines, *(f" value: {value}" for value in values), ""])
    assert _sizes(text)["temp_size_in_bytes"] == bytes_


def test_temporaries_of_older_libtpu_are_unknown() -> None:
    assert _sizes(_TPU.replace(", page 0", ""))["temp_size_in_bytes"] is None
