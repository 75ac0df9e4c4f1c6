"""Entries of out-of-memory messages lead to buffers of the dump."""

import pytest

from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.oom_join import JoinedMessage, join_message
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.amounts import format_bytes_as_xla
from oom_messages import CPU_DUMP, DUMP, LONG, SHORT, dump, message, text_of

_GPU_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 6291456, parameter 0, shape |f32[4096,128,3]| at ShapeIndex {}:
 value: <1 p.1 @0> (size=6291456,offset=0): f32[4096,128,3]{2,1,0}
allocation 1: size 12582912, preallocated-temp:
 value: <2 add.1 @0> (size=6291456,offset=0): f32[4096,128,3]{2,1,0}
 value: <3 concatenate.1 @0> (size=6291456,offset=6291456): f32[4096,128,3]{2,1,0}
"""
_GPU_MODULE = """\
HloModule jit_f, is_scheduled=true

ENTRY main {
  p.1 = f32[4096,128,3]{2,1,0} parameter(0)
  add.1 = f32[4096,128,3]{2,1,0} add(p.1, p.1), metadata={op_name="jit(f)/add"}
  ROOT concatenate.1 = f32[4096,128,3]{2,1,0} concatenate(add.1), dimensions={0}, \
metadata={op_name="jit(f)/concatenate" source_file="m.py" source_line=6}
}
"""
_GPU_ENTRY = """\
Buffer {rank}:
  Size: 6.00MiB
  Operator: op_name="jit(f)/{opcode}"
  XLA Label: {opcode}
  Shape: f32[4096,128,3]
  ==========================
"""


@pytest.fixture(scope="module")
def joined() -> JoinedMessage:
    return join_message(message(text_of(LONG)), [dump()])


def test_every_buffer_has_value_and_allocation(joined: JoinedMessage) -> None:
    found = [
        (one.value.record.key, one.allocation.record.number)
        for one in joined.entries
        if one.value is not None and one.allocation is not None
    ]
    assert found == [
        ("fusion.4{}", 33),
        ("reduce_sum.23{}", 33),
        ("fusion.9{}", 33),
        ("copy-start{}", 33),
        ("reverse_multiply_fusion{}", 4),
        ("x.1{}", 6),
        ("fusion.19{}", 5),
        ("big.1{}", 7),
        ("copy.12{}", 8),
        ("pos.1{}", 9),
        ("w.1{}", 10),
        ("add.1{}", 11),
    ]


def test_sizes_agree_at_printed_precision(joined: JoinedMessage) -> None:
    for one in joined.entries:
        if one.value is not None:
            assert one.entry.size is not None
            printed = format_bytes_as_xla(one.value.record.size).replace("iB", "")
            assert printed == one.entry.size.text


def test_buffer_leads_to_python_line(joined: JoinedMessage) -> None:
    assert str(joined.entries[0].source) == "/home/user/models/oom2.py:16"


def test_argument_leads_to_its_name(joined: JoinedMessage) -> None:
    argument = joined.entries[7]
    assert argument.origin is not None
    assert argument.origin.argument == "x"


def test_module_is_named_by_dump(joined: JoinedMessage) -> None:
    assert joined.module == "jit_train_step"


def test_totals_match_peak_of_dump() -> None:
    (hbm,) = [one for one in memory_space_occupancies(dump()) if one.space == 0]
    needed = message(text_of(LONG)).needed
    assert needed is not None
    assert needed.matches(hbm.peak_bytes)


@pytest.mark.parametrize("name", ["*.oom_top_memory*", "*.peak_memory_tensors.txt"])
def test_file_of_dump_matches_by_content(name: str) -> None:
    (path,) = DUMP.glob(name)
    found = join_message(message(path.read_text("utf-8")), [dump()])
    assert found.dump is not None


@pytest.mark.parametrize("name", ["libtpu_0.0.37_hbm", "libtpu_0.0.52_scoped_vmem", SHORT])
def test_dump_of_other_program_does_not_match(name: str) -> None:
    assert join_message(message(text_of(name)), [dump()]).dump is None


def test_short_message_matches_by_total() -> None:
    total = sum(one.record.size for one in dump().allocations() if one.record.color == 0)
    text = text_of(SHORT).replace("18.19G", format_bytes_as_xla(total).replace("iB", ""))
    assert join_message(message(text), [dump()]).dump is not None


def test_message_without_dump_keeps_entries() -> None:
    found = join_message(message(text_of(LONG)), [])
    assert found.entries[0].bytes == 7247757312
    assert found.module == "jit_train_step"


def test_buffers_of_gpu_match_by_operation() -> None:
    compile_ = Compile(
        [
            DumpFile.of_text(_GPU_ASSIGNMENT, "module_0000.jit_f.gpu_after_optimizations-b.txt"),
            DumpFile.of_text(_GPU_MODULE, "module_0000.jit_f.gpu_after_optimizations.txt"),
        ]
    )
    text = "Peak buffers:\n" + "".join(
        _GPU_ENTRY.format(rank=rank, opcode=opcode)
        for rank, opcode in enumerate(("concatenate", "add"), 1)
    )
    text += "Buffer 3:\n  Size: 6.00MiB\n  Entry Parameter Subshape: f32[4096,128,3]\n"
    found = join_message(message(text), [compile_])
    assert [one.value.record.name for one in found.entries if one.value] == [
        "concatenate.1",
        "add.1",
        "p.1",
    ]
    assert str(found.entries[0].source) == "m.py:6"


def _cpu_dump() -> Compile:
    workspace = DumpWorkspace()
    (path,) = CPU_DUMP.glob("*-buffer-assignment.txt")
    return workspace.compile_of(workspace.file(path))


def test_exact_bytes_find_the_allocation() -> None:
    found = join_message(message(text_of("cpu")), [dump(), _cpu_dump()])
    assert found.failed is not None
    assert (found.module, found.failed.record.number) == ("jit_nufft", 0)


@pytest.mark.parametrize("size", ["95999999999999", "87.31TiB", "16"])
def test_other_bytes_find_no_dump(size: str) -> None:
    text = text_of("cpu").replace("96000000000000", size)
    assert join_message(message(text), [_cpu_dump()]).dump is None
