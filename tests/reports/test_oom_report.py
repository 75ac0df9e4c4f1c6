"""The report on an out-of-memory message."""

from dataclasses import replace

import pytest

from hlo_lsp.memory.oom_advice import OomAdvice
from hlo_lsp.memory.oom_join import join_message
from hlo_lsp.memory.savings import ABOUT
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.oom_report import OomReport, oom_json, oom_lines, oom_markdown, oom_report
from hlo_lsp.text.amounts import format_short_bytes
from oom_messages import DUMP, GPU, LONG, NAMES, PROGRAM_LOAD, SHORT, dump, message, text_of

_KEYS = {
    *("kind", "memory_space_name", "error_page", "module", "needed_bytes", "limit_bytes"),
    *("entries", "owners", "advice"),
}
_ENTRY_KEYS = {
    *("rank", "bytes", "unpadded_bytes", "shape", "op_name", "source", "label"),
    *("allocation_type", "instruction", "value", "allocation", "origin", "notes"),
}


def _report(text: str, *dumps: Compile) -> OomReport:
    return oom_report(join_message(message(text), dumps))


@pytest.fixture(scope="module")
def report() -> OomReport:
    return _report(text_of(LONG), dump())


@pytest.mark.parametrize("name", NAMES)
def test_json_has_exactly_its_keys(name: str) -> None:
    found = oom_json(_report(text_of(name)))
    assert set(found) == _KEYS
    assert all(set(entry) == _ENTRY_KEYS for entry in found["entries"])


@pytest.mark.parametrize("text", [*map(text_of, NAMES), GPU, PROGRAM_LOAD])
def test_text_has_at_most_eleven_lines(text: str) -> None:
    for lines in (oom_lines(_report(text)), oom_lines(_report(text, dump()))):
        assert 1 <= len(list(lines)) <= 11


def test_json_leads_to_dump(report: OomReport) -> None:
    entry = oom_json(report)["entries"][0]
    assert entry["bytes"] == 7247757312
    assert (entry["instruction"], entry["allocation"]) == ("fusion.4", 33)
    assert entry["source"] == "/home/user/models/oom2.py:16"
    assert entry["origin"]["instruction"] == "fusion.4"


def test_owners_are_those_of_peak(report: OomReport) -> None:
    assert oom_json(report)["owners"][0] == {
        "file": "/home/user/models/oom2.py",
        "line": 16,
        "bytes": 2 * 7247757312,
    }
    assert sum(owner.bytes for owner in report.owners) == report.peak.bytes  # type: ignore[union-attr]


def test_owners_without_dump_are_printed_lines() -> None:
    owners = oom_json(_report(text_of("libtpu_0.0.17.1_hbm")))["owners"]
    assert owners[0] == {"file": "/home/user/models/oom.py", "line": 16, "bytes": 14 << 30}


def test_headline_says_how_much_is_missing(report: OomReport) -> None:
    assert next(oom_lines(report)) == (
        "jit_train_step: not enough HBM, needs 15.751 GiB, 15.750 GiB available, 620.5 KiB missing"
    )


def test_missing_bytes_include_omitted_outputs() -> None:
    line = next(oom_lines(_report(text_of("libtpu_0.0.37_hbm"))))
    assert line.endswith("needs 31.83 GiB, 15.75 GiB available, 16.08 GiB missing")


def test_full_device_is_named() -> None:
    lines = "\n".join(oom_lines(_report(GPU)))
    assert "this module needs 12.00 MiB; the device was already full" in lines


@pytest.mark.parametrize(
    ("text", "size", "command"),
    [
        (GPU.partition("\n")[0], "6.00 MiB", "`hlo-lsp summary DIR`"),
        (PROGRAM_LOAD, "1.13 GiB", "`hlo-lsp oom LOG DIR`"),
    ],
)
def test_need_of_one_allocation_is_unknown(text: str, size: str, command: str) -> None:
    headline, remark, step, *_ = oom_lines(_report(text))
    assert f"tried to allocate {size}" in headline
    assert remark == f"  what the module needs is unknown: {size} is one allocation"
    assert step.startswith("owners: unknown; compile with")
    assert step.endswith(command)


@pytest.mark.parametrize("text", [text_of("libtpu_0.0.17.1_hbm"), text_of("libtpu_0.0.37_hbm")])
def test_needed_bytes_are_those_of_text(text: str) -> None:
    needed = oom_json(_report(text))["needed_bytes"]
    assert f"needs {format_short_bytes(needed)}," in next(oom_lines(_report(text)))


def test_list_without_sentence_has_needed_bytes() -> None:
    (path,) = DUMP.glob("*.oom_top_memory*")
    found = oom_json(_report(path.read_text("utf-8"), dump()))
    assert found["needed_bytes"] == pytest.approx(15.75 * 2**30, rel=1e-3)


def test_unreadable_list_is_named() -> None:
    lines = [f"{'#' * number} {line}" for number, line in enumerate(GPU.split("\n"))]
    text = "\n".join(oom_lines(_report("\n".join(lines))))
    assert "2 lines of lists or tables could not be read: remove the prefixes of the lines" in text


def test_short_message_shows_buffers_of_dump() -> None:
    text = text_of(SHORT).replace("18.19G", "15.74G")
    lines = "\n".join(oom_lines(_report(text, dump())))
    assert "6.75 GiB · fusion.4 · f32[27,8192,8192] · oom2.py:16 · allocation 33" in lines


def test_listed_buffers_and_advice_say_what_they_cover() -> None:
    report = _report(text_of("libtpu_0.0.17.1_hbm"))
    text = "\n".join(oom_lines(report))
    assert "listed buffers, 14.00 GiB of 31.83 GiB: oom.py:16 14.00 GiB" in text
    assert "advice: " in text  # that can save more than is missing
    few = replace(report, advice=(OomAdvice("shrink", 7 << 30, 7 << 30),))
    text = "\n".join(oom_lines(few))
    assert "advice (saves at most 7.00 GiB of the 16.08 GiB missing): shrink" in text
    donated = replace(report, advice=(OomAdvice("donate", 7 << 30, 7 << 30, ABOUT),))
    text = "\n".join(oom_lines(donated))
    assert "advice (saves about 7.00 GiB of the 16.08 GiB missing): donate; saves about" in text
    unknown = replace(report, advice=(*few.advice, OomAdvice("offload")))
    assert "missing):" not in "\n".join(oom_lines(unknown))


def test_markdown_has_tables_instead_of_a_block(report: OomReport) -> None:
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in oom_markdown(report)]
    assert lines[0] == "# Out of memory"
    assert lines[2] == next(oom_lines(report))
    assert not any(line.startswith("```") for line in lines)
    assert "| oom2.py:16 | 13.50 GiB |" in lines
    assert any(line.startswith("- 6.75 GiB · fusion.4") for line in lines)
    first = lines.index("| Advice | Saves |") + 2
    assert [line.rpartition(" | ")[2] for line in lines[first : first + 2]] == [
        "unknown |",
        "at most 3.44 GiB |",
    ]


@pytest.mark.parametrize("text", [*map(text_of, NAMES), GPU, PROGRAM_LOAD])
def test_markdown_has_every_fact_of_the_text(text: str) -> None:
    report = _report(text)
    markdown = " ".join(oom_markdown(report)).replace("\\", "").replace("`", "").lower()
    for line in oom_lines(report):
        fact = line.strip().replace("`", "").lower()
        if " · " not in fact and not fact.startswith(("advice", "compute", "donate")):
            assert fact.partition(": ")[0] in markdown


def test_advice_is_sorted_by_size(report: OomReport) -> None:
    sizes = [one.bytes for one in report.advice]
    assert len(sizes) > 1
    assert sizes == sorted(sizes, reverse=True)


def test_message_without_dump_prints_no_savings() -> None:
    report = _report(text_of(LONG))
    assert {one["saves_bytes"] for one in oom_json(report)["advice"]} == {None}
    assert "saves" not in "\n".join(oom_lines(report))


def test_message_without_buffers_names_the_next_step() -> None:
    lines = list(oom_lines(_report(text_of(SHORT))))
    assert lines[-2].startswith("owners: unknown; compile with `XLA_FLAGS=--xla_dump_to=DIR")
    full = list(oom_lines(_report(text_of(LONG))))
    assert not any("XLA_FLAGS" in line for line in full)


def test_reservable_memory_is_explained() -> None:
    headline, _, why, *_ = oom_lines(_report(text_of("tpu_reservable")))
    assert headline.endswith("11.35 GiB, 10.52 GiB reservable, 849.92 MiB missing")
    assert why == (
        "  12.18 GiB are free, but not in one piece: only 10.52 GiB can be reserved at the bottom "
        "of memory, where the program must be contiguous"
    )


def test_fragmented_free_memory_is_explained() -> None:
    text = "Attempting to allocate 8.00M. That was not possible. There are 16.43M free."
    lines = list(oom_lines(_report(text)))
    assert lines[2] == "  16.43 MiB are free, but not in one piece: the free memory is fragmented"


@pytest.mark.parametrize(
    "sentence",
    [
        "Attempting to allocate 31.06M. That was not possible. There are 58.64M free. Due to "
        "fragmentation, the largest contiguous region of free memory is 30.56M.; (0x0x0_HBM0)",
        "Attempting to allocate 31.06M. That was not possible. There are 58.64M free. The largest "
        "contiguous region of free memory is 30.56M due to fragmentation.",
        "Attempting to allocate 31.06M. That was not possible. There are 58.64M free. Due to\n"
        "fragmentation, the largest contiguous region of free memory is 30.56M.; (0x0x0_HBM0)",
        "Could not allocate 32568770 bytes in memory 0x0x0_HBM0; 32044482 bytes allocatable, "
        "61488497 bytes available",
    ],
)
def test_largest_free_piece_is_compared(sentence: str) -> None:
    headline, _, why, *_ = oom_lines(_report(sentence))
    assert headline.endswith("31.06 MiB, 30.56 MiB free in one piece, 512.0 KiB missing")
    assert why == "  58.64 MiB are free, but not in one piece: the largest piece has 30.56 MiB"


def test_total_with_heap_allocations_agrees() -> None:
    lines = "\n".join(oom_lines(_report(text_of("tpu_heap_allocations"))))
    assert "needs at least 9.40 GiB with arguments and outputs; the device has 8.00 GiB" in lines
    assert "all totals agree" in lines


def test_missing_head_of_message_is_named() -> None:
    lines = list(oom_lines(_report(text_of("gpu_without_head"))))
    assert lines[1] == "  the beginning of the message is missing, with its first 12 buffers"
    assert "96.00 MiB · fusion · bf16[128,6,256,256]" in "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        ("tpu_smem", "not enough SMEM"),
        ("tpu_cmem", "not enough CMEM"),
        ("tpu_host", "not enough host memory"),
        ("tpu_sflag", "not enough SFLAG"),
        ("tpu_sparse_core_replicas", "not enough TileSpmem for a SparseCore program"),
        ("rocm_host", "an allocation of pinned host memory failed"),
        ("tpu_tile_spmem", "not enough TileSpmem for a SparseCore program"),
        ("tpu_kernel_scoped_vmem", "not enough VMEM for one kernel"),
        ("tpu_kernel_window", "an allocation failed in VMEM"),
        ("gpu_shared_memory", "not enough shared memory for a GPU kernel"),
        ("gpu_tensor_memory", "not enough tensor memory for a GPU kernel"),
        ("gpu_host", "an allocation of pinned host memory failed"),
        ("cpu", "an allocation on the CPU failed"),
    ],
)
def test_headline_names_the_memory(name: str, headline: str) -> None:
    assert f": {headline}" in next(oom_lines(_report(text_of(name))))


def test_json_names_memory_and_page() -> None:
    found = oom_json(_report(text_of("tpu_smem_list")))
    assert (found["kind"], found["memory_space_name"]) == ("memory_space", "SMEM")
    found = oom_json(_report(text_of("tpu_tile_spmem")))
    assert found["error_page"] == "https://openxla.org/xla/errors/error_3000"
    found = oom_json(_report(text_of("tpu_sparse_core_replicas")))
    assert found["error_page"] == "https://openxla.org/xla/errors/error_3001"


def test_spilled_registers_have_a_kernel() -> None:
    lines = list(oom_lines(_report(text_of("tpu_register_spills_of_kernel"))))
    assert "    8.08 MiB · spilled registers of matmul.1" in lines


def test_page_of_error_is_last_line() -> None:
    lines = list(oom_lines(_report(text_of(SHORT))))
    assert lines[-1] == "see https://openxla.org/xla/errors/error_1000"


def test_shares_of_cores_are_shown() -> None:
    lines = list(oom_lines(_report(text_of("tpu_sparse_core_hbm"))))
    assert lines[1] == "  TensorCore 34.82 GiB · SparseCore 174.10 GiB (83%)"


def test_used_part_of_pool_is_shown() -> None:
    headline, used, *_ = oom_lines(_report(text_of("logs/gpu_allocator_pool")))
    assert headline.endswith("tried to allocate 16.00 GiB, 10.00 GiB free, 6.00 GiB missing")
    assert used == "  in use 10.00 GiB of 20.00 GiB"


def test_total_of_module_is_shown() -> None:
    text = GPU.replace("12.00MiB", "12.00GiB")
    assert "the module needs 12.00 GiB in total" in "\n".join(oom_lines(_report(text)))


def test_other_compiles_of_the_module_are_mentioned() -> None:
    name = "module_0001.jit_train_step.cl_1.after_optimizations"
    text = "BufferAssignment:\nallocation 0: size 4194304, maybe-live-out:\n"
    other = Compile(
        [
            DumpFile.of_text("HloModule jit_train_step\n", f"{name}.txt"),
            DumpFile.of_text(text, f"{name}-buffer-assignment.txt"),
        ]
    )
    report = _report(text_of(LONG), other)
    assert (
        "the message is from another compile than the one of jit_train_step that was found, "
        "with 4.00 MiB allocated"
    ) in "\n".join(oom_lines(report))


def test_editors_name_no_command() -> None:
    lines = "\n".join(oom_lines(replace(_report(text_of(SHORT)), is_in_editor=True)))
    assert "with DIR in a folder of the workspace" in lines
    assert "hlo-lsp" not in lines
