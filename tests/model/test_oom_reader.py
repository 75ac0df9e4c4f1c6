"""Out-of-memory messages in logs of all forms."""

import itertools
import json
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.oom_message import EntryList, OomKind, OomMessage, PrintedSize
from hlo_lsp.model.oom_reader import read_oom_messages
from hlo_lsp.text.amounts import format_bytes_as_xla
from oom_messages import (
    DUMP,
    GPU,
    LONG,
    NAMES,
    PROGRAM_LOAD,
    REMATERIALIZATION,
    facts,
    message,
    messages,
    text_of,
)

_OLD_VMEM = """\
Compilation failure: Ran out of memory in memory space vmem. It should not be possible.

Largest program allocations in vmem:

  XLA label: register allocator spill slots
  Allocation type: scoped

  XLA label: %fusion.177 = (bf16[], f32[256]{0}) fusion(f32[256]{0}, ...(+13)), kind=kOutput
  Allocation type: scoped
"""


@pytest.mark.parametrize(
    ("name", "kind", "module", "sizes", "entries"),
    [
        ("libtpu_0.0.17.1_arguments", OomKind.HBM, None, ("32.00G", "15.75G"), 0),
        ("libtpu_0.0.17.1_hbm", OomKind.HBM, None, ("15.86G", "15.75G"), 4),
        ("libtpu_0.0.17.1_scoped_vmem", OomKind.SCOPED_VMEM, None, ("48.82M", "16.00M"), 1),
        ("libtpu_0.0.32.1_hbm", OomKind.HBM, None, ("15.86G", "15.75G"), 4),
        ("libtpu_0.0.37_arguments", OomKind.HBM, None, ("32.00G", "15.75G"), 0),
        ("libtpu_0.0.37_hbm", OomKind.HBM, None, ("15.86G", "15.75G"), 4),
        ("libtpu_0.0.37_single_allocation", OomKind.ALLOCATION, None, ("25769803776",
         "17179869184"), 1),
        ("libtpu_0.0.52_hbm_long", OomKind.HBM, None, ("15.75G", "15.75G"), 14),
        ("libtpu_0.0.52_hbm_short", OomKind.HBM, "jit_train_step", ("18.19G", "15.75G"), 0),
        ("libtpu_0.0.52_scoped_vmem", OomKind.SCOPED_VMEM, None, ("48.82M", "16.00M"), 1),
    ],
)  # fmt: skip
def test_message_of_compiler_is_read(
    name: str, kind: OomKind, module: str | None, sizes: tuple[str, str], entries: int
) -> None:
    found = message(text_of(name))
    assert found.needed is not None
    assert found.limit is not None
    assert (found.kind, found.module) == (kind, module)
    assert (found.needed.text, found.limit.text) == sizes
    assert len(found.entries) == entries


def test_entry_has_all_fields() -> None:
    entry = message(text_of(LONG)).entries[3]
    assert entry.size is not None
    assert entry.unpadded is not None
    assert entry.instruction is not None
    assert (entry.rank, entry.section, entry.size.bytes) == (4, EntryList.ALLOCATIONS, 512)
    assert (entry.shape, entry.unpadded.bytes) == ("f32[]{:T(128)}", 4)
    assert (entry.op_name, entry.instruction.name.text) == (
        "jit(train_step)/reduce_sum",
        "reduce_sum.23",
    )
    assert (entry.allocation_type, entry.notes) == ("HLO temp", ())


def test_tables_are_read() -> None:
    found = message(text_of(LONG))
    assert [row.name for row in found.usage_rows] == ["reserved", "program", "arguments"]
    assert [row.name for row in found.requirement_rows] == ["global", "HLO temp", "overlays"]
    assert found.output == PrintedSize.of("7.70G")
    assert found.shared == PrintedSize.of("0B")


def test_unknown_line_of_entry_is_note() -> None:
    text = text_of(LONG).replace("     Allocation type: overlays", "     Tag: new\n\\g<0>", 1)
    assert message(text).entries[1].notes[0] == "Tag: new"


def test_gpu_message_has_totals_and_buffers() -> None:
    found = message(GPU)
    assert found.kind is OomKind.GPU
    assert found.needed == PrintedSize.of("6291456")
    assert found.statistic("total allocation") == PrintedSize.of("12.00MiB")
    assert [entry.shape for entry in found.entries] == ["f32[4096,128,3]", "f32[256,128,3]"]
    assert [entry.is_parameter for entry in found.entries] == [False, True]


def test_blanks_may_replace_tabs() -> None:
    assert facts(message(GPU.expandtabs(8))) == facts(message(GPU))


def test_program_load_names_program() -> None:
    found = message(PROGRAM_LOAD)
    assert (found.kind, found.module) == (OomKind.PROGRAM_LOAD, "jit__forward")
    assert found.is_limit_free


def test_rematerialization_warning_is_read() -> None:
    found = message(REMATERIALIZATION)
    assert found.kind is OomKind.REMATERIALIZATION
    assert found.needed == PrintedSize.of("71.27GiB")


def test_list_without_sizes_is_read() -> None:
    found = message(_OLD_VMEM)
    assert found.kind is OomKind.VMEM
    assert [(entry.rank, entry.size) for entry in found.entries] == [(1, None), (2, None)]


@pytest.mark.parametrize("name", ["*.oom_top_memory*", "*.peak_memory_tensors.txt"])
def test_files_of_dump_are_messages(name: str) -> None:
    (path,) = DUMP.glob(name)
    found = message(path.read_text("utf-8"))
    whole = message(text_of(LONG))
    assert found.kind is OomKind.HBM
    assert [entry.label for entry in found.entries] == [
        entry.label for entry in whole.entries[: len(found.entries)]
    ]


_PREFIXES = (
    "E1120 12:00:00.000000 123 file.cc:1] ",
    "2020-05-04 09:05:40.719332: E    1578 a/xla_util.cc:76] ",
    "(EngineCore pid=106339) ERROR 06-03 07:41:11 [core.py:1184] ",
    "> ",
    "host-0: ",
    "[worker-2] ",
    "pod-1  | ",
    "2026-11-23 06:10:00,123 ERROR train: ",
    "2026-11-23T06:10:00.123Z stderr F ",
    "2026-11-23T06:10:00.123Z pod/worker-0 ",
    "Nov 23 06:10:00 host python[123]: ",
    "[1,0]<stderr>:",
    "  | ",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prefix", _PREFIXES)
def test_prefix_of_logger_changes_nothing(name: str, prefix: str) -> None:
    text = text_of(name)
    assert facts(message(textwrap.indent(text, prefix, lambda _: True))) == facts(message(text))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("depth", [1, 2])
def test_repr_changes_nothing(name: str, depth: int) -> None:
    escaped = text_of(name).rstrip()
    for _ in range(depth):
        escaped = repr(escaped)
    assert facts(message(f"result = RuntimeError({escaped})")) == facts(message(text_of(name)))


def test_json_log_changes_nothing() -> None:
    text = text_of("libtpu_0.0.37_hbm")
    assert facts(message(json.dumps({"message": text}))) == facts(message(text))


@pytest.mark.parametrize("width", [80, 100, 132])
@pytest.mark.parametrize("name", NAMES)
def test_broken_lines_change_nothing(name: str, width: int) -> None:
    text = text_of(name)
    parts = [
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, max(1, len(line)), width)
    ]
    assert facts(message("\n".join(parts))) == facts(message(text))


def test_sentence_broken_at_blank_is_read() -> None:
    found = message(
        "Ran out of memory in\nmemory space vmem. Used 65.05M of 64.00M vmem. Exceeded vmem\n"
        "capacity by 1.05M"
    )
    assert (found.kind, found.excess) == (OomKind.VMEM, PrintedSize.of("1.05M"))


def test_hosts_may_alternate() -> None:
    first, second = text_of("libtpu_0.0.37_hbm"), text_of(LONG)
    lines = [
        f"[host-{number}] {line}"
        for pair in itertools.zip_longest(first.split("\n"), second.split("\n"), fillvalue="")
        for number, line in enumerate(pair)
    ]
    found = messages("\n".join(lines))
    assert [facts(one) for one in found] == [facts(message(first)), facts(message(second))]


def test_learned_prefix_names_host() -> None:
    first, second = text_of("libtpu_0.0.37_hbm"), text_of(LONG)
    lines = [
        f"Nov 23 06:10:{second_of_day % 60:02} {host} python[{pid}]: {line}"
        for second_of_day, pair in enumerate(
            itertools.zip_longest(first.split("\n"), second.split("\n"), fillvalue="")
        )
        for host, pid, line in zip(("tpu-a", "tpu-b"), (7, 1234), pair, strict=True)
    ]
    found = messages("\n".join(lines))
    assert [facts(one) for one in found] == [facts(message(first)), facts(message(second))]


def test_unreadable_lines_are_counted() -> None:
    lines = [f"{'#' * number} {line}" for number, line in enumerate(GPU.split("\n"))]
    found = message("\n".join(lines))
    assert (found.unread_lines, found.entries) == (2, ())


def test_repetitions_are_one_message() -> None:
    text = text_of("libtpu_0.0.52_hbm_short")
    assert len(messages(text + text)) == 1


def test_other_log_has_no_message() -> None:
    assert messages("INFO: 12G of memory in use\nSize: 3\nOut of memory handlers are set") == []


@given(st.lists(st.sampled_from(text_of(LONG).split("\n")), max_size=30))
def test_any_lines_can_be_read(lines: list[str]) -> None:
    read_oom_messages(lines)


@pytest.mark.parametrize(
    "text",
    [
        "Ran out of memory in memory space vmem while allocating on stack for x\n" * 5000,
        "Ran out of memory in memory space vmem while allocating on stack for " * 3000,
        "Largest program allocations in hbm:\n1. Size: 1G\nXLA label: (((\n" + "x(\n" * 30_000,
        "".join(f"Allocation (size={n}) would exceed memory (size=5)\n" for n in range(3000)),
        "".join(f"{'a: ' * (n % 90)}Ran out of {n}\n" for n in range(6000)),
        "Allocation (size=7) would exceed memory (size=5) " * 3000,
        "Can't reduce memory use below 1 (1 bytes) by " * 5000,
    ],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    messages(text)
    assert time.process_time() - start < 5


@given(st.integers(0, 1 << 50))
def test_printed_size_matches_its_bytes(count: int) -> None:
    text = format_bytes_as_xla(count)
    size = PrintedSize.of(text)
    assert size is not None
    assert size.matches(count)
    short = PrintedSize.of(text.replace("iB", ""))
    assert short is not None
    assert short.matches(count)
    assert not size.matches(count + max(1, count // 10) + 1)


def test_heap_status_is_no_part_of_total() -> None:
    found = message(text_of("tpu_heap_allocations"))
    assert [row.name for row in found.usage_rows] == ["reserved", "heap allocations", "program"]
    assert found.persistent("output") == PrintedSize.of("5.06G")
    assert (found.capacity, found.requirement) == (PrintedSize.of("8.00G"), PrintedSize.of("4.34G"))


def test_row_of_unknown_form_has_no_size() -> None:
    text = text_of(LONG).replace("reserved  ", "spilled + pinned  ")
    assert message(text).usage_rows[0].size is None


def test_label_of_unknown_table_ends_table() -> None:
    text = text_of(LONG).replace("Output size", "New status:\n    largest   9.00G\nOutput size")
    assert len(message(text).usage_rows) == 3


def test_limit_is_reservable_memory() -> None:
    found = message(text_of("tpu_reservable"))
    assert (found.kind, found.limit_name) == (OomKind.PROGRAM_LOAD, "reservable")
    assert (found.limit, found.free) == (PrintedSize.of("10.52G"), PrintedSize.of("12.18G"))
    assert found.is_fragmented


@pytest.mark.parametrize("place", [20, 60, 75, 90, 100, 118])
def test_sentence_with_reservable_memory_may_be_wrapped(place: int) -> None:
    text = text_of("tpu_reservable").partition("EXHAUSTED: ")[2]
    at = text.index(" ", place)
    assert facts(message(f"{text[:at]}\n{text[at + 1 :]}")) == facts(message(text))


def test_missing_limit_is_unknown() -> None:
    found = message(
        "Error loading program 'jit_f': Attempting to reserve 6.14G at the bottom of memory. That "
        "was not possible."
    )
    assert (found.module, found.needed, found.limit) == ("jit_f", PrintedSize.of("6.14G"), None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (text_of("gpu_request"), 268435456),
        ("Failed to allocate request for 5.00GiB on device ordinal 0", 5 << 30),
        ("Allocator (GPU_1_bfc) ran out of memory trying to allocate 27.93GiB (rounded to "
         "29995136256)requested by op", 29995136256),
        ("failed to allocate 2.00G (2147483000 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
         2147483000),
    ],
)  # fmt: skip
def test_exact_size_precedes_rounded_one(text: str, size: int) -> None:
    found = message(text)
    assert found.needed is not None
    assert (found.kind, found.needed.bytes) == (OomKind.GPU, size)


def test_executable_names_module() -> None:
    text = "Out of memory while trying to allocate 1.50GiB.{} [executable_name='jit_f']"
    assert message(text.format("")).module == "jit_f"
    assert message(text.format("\n")).module == "jit_f"


def test_failure_is_more_detailed_than_attempt() -> None:
    found = messages(
        "failed to allocate 7.43G (7980875776 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n\n"
        "Failed to allocate request for 256.00MiB (268435456B) on device ordinal 0"
    )
    assert [one.is_attempt for one in found] == [True, False]
    assert max(found, key=OomMessage.detail) is found[1]


@pytest.mark.parametrize(
    "name", ["gpu_without_head", "libtpu_0.0.37_hbm", "libtpu_0.0.52_hbm_long"]
)
def test_list_without_head_is_more_detailed_than_one_allocation(name: str) -> None:
    text = text_of(name)
    cut = text[text.index("Size: ", text.index("Size: ") + 1) :]
    found = messages(f"{cut}\nAllocator (GPU_1_bfc) ran out of memory trying to allocate 27.93GiB")
    assert max(found, key=OomMessage.detail).entries


def test_list_without_head_is_read() -> None:
    found = message(text_of("gpu_without_head"))
    assert found.kind is OomKind.GPU
    assert [entry.rank for entry in found.entries] == [13, 14]
    assert {entry.section for entry in found.entries} == {EntryList.PEAK_BUFFERS}


@pytest.mark.parametrize("text", [GPU, text_of(LONG)])
def test_rest_of_a_message_has_its_last_buffers(text: str) -> None:
    lines = text.split("\n")
    whole = message(text).entries
    for first in range(len(lines)):
        rest = messages("\n".join(lines[first:]))
        entries = rest[0].entries if rest else ()
        known = [(entry.rank, entry.section) for entry in whole if entry.first >= first]
        found = [(entry.rank, entry.section) for entry in entries]
        assert found[len(found) - len(known) :] == known
        assert len(found) <= len(known) + 1


def test_list_may_follow_a_sentence_without_its_label() -> None:
    found = message("\n".join(line for line in GPU.split("\n") if line != "Peak buffers:"))
    assert facts(found) == facts(message(GPU))


@pytest.mark.parametrize(
    "text",
    ["Buffer 1:\n  10 items", "1. Size: 5", "Shape: (3, 4)\n==========", "Size: 5 MB\n=========="],
)
def test_other_lists_are_no_messages(text: str) -> None:
    assert messages(text) == []


@pytest.mark.parametrize(
    ("name", "kind", "memory", "needed", "limit"),
    [
        ("tpu_smem", OomKind.MEMORY_SPACE, "smem", 1 << 20, 1 << 20),
        ("tpu_cmem", OomKind.MEMORY_SPACE, "cmem", 1 << 20, 1 << 20),
        ("tpu_host", OomKind.MEMORY_SPACE, "host", 1 << 20, 1 << 20),
        ("tpu_kernel_scoped_vmem", OomKind.SCOPED_VMEM, "vmem", 39363543, 16 << 20),
        ("tpu_kernel_window", OomKind.ALLOCATION, "vmem", 3758096384, 64 << 20),
        ("logs/tpu_kernel_vmem_without_head", OomKind.VMEM, "vmem", None, None),
        ("tpu_tile_spmem", OomKind.SPARSE_CORE, "tile_spmem", 140704 * 4, 131071 * 4),
        ("gpu_shared_memory", OomKind.GPU_KERNEL, "shared", 4 << 20, 101376),
        ("gpu_tensor_memory", OomKind.GPU_KERNEL, "tensor", 1024 * 512, 512 * 512),
        ("tpu_sflag", OomKind.MEMORY_SPACE, "sflag", 2 << 20, 1 << 20),
        ("tpu_sparse_core_replicas", OomKind.SPARSE_CORE, "tile_spmem", 2107104, 512 << 10),
        ("rocm_host", OomKind.HOST, "host", None, None),
        ("gpu_budget_allocation_size", OomKind.GPU, "device", 16 << 30, 10 << 30),
        ("gpu_budget", OomKind.GPU, "device", 16 << 30, 10 << 30),
        ("logs/gpu_allocator_pool", OomKind.GPU, "device", 16 << 30, 10 << 30),
        ("gpu_host", OomKind.HOST, "host", 16 << 30, None),
        ("logs/gpu_host_allocator", OomKind.HOST, "host", 16 << 30, None),
        ("rocm_device", OomKind.GPU, "device", 16 << 30, None),
        ("cpu", OomKind.CPU, "main", 96 * 10**12, None),
    ],
)
def test_memory_that_ran_out_is_named(
    name: str, kind: OomKind, memory: str, needed: int | None, limit: int | None
) -> None:
    found = message(text_of(name))
    sizes = [None if size is None else size.bytes for size in (found.needed, found.limit)]
    assert (found.kind, found.memory, sizes) == (kind, memory, [needed, limit])


@pytest.mark.parametrize("memory", ["hbm", "vmem", "smem", "cmem", "sflag", "spmem", "host"])
def test_every_memory_space_is_read_alike(memory: str) -> None:
    text = text_of("tpu_smem_list").replace("smem", memory)
    found = message(text)
    assert (found.memory, len(found.entries)) == (memory, 1)


def test_allocation_on_sparse_core_is_part_of_need() -> None:
    allocation = message(text_of("tpu_tile_spmem")).allocation
    assert allocation is not None
    assert allocation.bytes == 23440 * 4


def test_share_of_sparse_core_is_read() -> None:
    assert message(text_of("tpu_sparse_core_hbm")).sparse_core == PrintedSize.of("174.10G")


@pytest.mark.parametrize(
    ("buffering", "count"),
    [("is single buffered", 1), ("has 2 buffering levels", 2)],
)
def test_window_of_kernel_is_read(buffering: str, count: int) -> None:
    text = text_of("tpu_kernel_window").replace("is single buffered", buffering)
    window = message(text).entries[0].window
    assert window is not None
    assert (window.operand, window.shape, window.buffers) == (
        "input 2",
        "bf16[64,7168,4096]",
        count,
    )


def test_kernel_has_block_sizes_of_its_name() -> None:
    entry = message(text_of("logs/tpu_kernel_vmem")).entries[0]
    assert entry.is_kernel
    assert entry.blocks == [("p", "256"), ("bq", "512x256"), ("bkv", "2048x512")]


def test_kernel_of_sentence_without_sizes_is_read() -> None:
    found = message(
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for "
        "%k.1 = bf16[2048,4096]{1,0:T(8,128)(2,1)} custom-call(...) ...\nstep 1"
    )
    assert (found.kind, found.entries[0].kernel) == (OomKind.SCOPED_VMEM, "k.1")


def test_scoped_memory_of_kernel_is_read() -> None:
    found = message(
        "Allocation (size=134217728) would exceed memory (size=67108864) :: #allocation25 [shape = "
        "'u8[134217728]{0}', space=vmem, size = 0x8000000, tag = 'scoped memory for matmul.2'] :: "
        "matmul.2"
    )
    assert (found.entries[0].kernel, found.entries[0].is_scoped) == ("matmul.2", True)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (text_of("libtpu_0.0.37_hbm"), "1000"),
        (text_of("libtpu_0.0.52_hbm_short"), "1000"),
        (text_of("tpu_sparse_core_hbm"), "1000"),
        (text_of("tpu_kernel_scoped_vmem"), "1001"),
        (text_of("libtpu_0.0.52_scoped_vmem"), "1001"),
        (text_of("tpu_tile_spmem"), "3000"),
        (PROGRAM_LOAD, "0101"),
        ("Attempting to allocate 8.00M. That was not possible. There are 6.43M free.", "0100"),
        ("E4242: New:\n" + text_of("tpu_cmem"), "4242"),
        (text_of("tpu_cmem") + "\nSee https://openxla.org/xla/errors/error_4242 for", "4242"),
        (text_of("tpu_cmem"), None),
        (GPU, None),
    ],
)
def test_page_of_error_is_known(text: str, page: str | None) -> None:
    expected = None if page is None else f"https://openxla.org/xla/errors/error_{page}"
    assert message(text).page == expected


@pytest.mark.parametrize(
    "text",
    [
        "failed to alloc 8589934592 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "Failed to allocate 8.00GiB (8589934592 bytes) of pinned host memory: out of memory",
        "Failed to allocate 8.00GiB (8589934592 bytes) of host memory pinned to NUMA node 0",
        "Allocator (xla_gpu_host_bfc) ran out of memory trying to allocate 8.00GiB (rounded to "
        "8589934592) from the lower end requested by op",
    ],
)
def test_failed_host_allocation_is_read(text: str) -> None:
    found = message(text)
    assert found.needed is not None
    assert (found.kind, found.needed.bytes) == (OomKind.HOST, 8 << 30)


@pytest.mark.parametrize(
    "text",
    [
        "Out of memory allocating buffers\n",
        "Shared memory: 4194304 of 8388608 bytes\nTensor memory usage: 512 columns",
        "ptxas warning : Registers are spilled to local memory in function 'f', 8 bytes spill",
        "Limit: 5\nInUse: 3\nStats: 4",
        "VMM allocator pa_budget for device 0: 17179869184 bytes.",
        "raised vmem_limit_bytes for kernel to 67108864",
    ],
)
def test_other_lines_about_memory_are_no_messages(text: str) -> None:
    assert messages(text) == []
