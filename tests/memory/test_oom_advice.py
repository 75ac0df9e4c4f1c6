"""Advice on out-of-memory messages without a dump."""

import pytest

from hlo_lsp.memory.oom_advice import oom_advice, padding_of
from hlo_lsp.memory.oom_join import join_message
from oom_messages import GPU, LONG, PROGRAM_LOAD, message, text_of

_PADDED = """\
Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm. Exceeded hbm capacity by 1.60G.

  Largest program allocations in hbm:

  1. Size: 512.00M
     Shape: f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}
     Unpadded size: 40.50M
     Extra memory due to padding: 471.50M (12.6x expansion)
     XLA label: %fusion.1 = f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)} fusion(), kind=kLoop
     Allocation type: HLO temp
     ==========================
"""


def _advice(text: str) -> list[tuple[str, int]]:
    found = oom_advice(join_message(message(text), []))
    return [(one.text, one.bytes) for one in found]


def test_cause_of_padding_is_named() -> None:
    entry = message(_PADDED).entries[0]
    padded = padding_of(entry)
    assert padded is not None
    assert [str(cause) for cause in padded.padding] == [
        "dim 3: 9 -> 16 by T(8,128)",
        "dim 4: 18 -> 128 by T(8,128)",
    ]


def test_padding_is_named_first() -> None:
    text, size = _advice(_PADDED)[0]
    assert text.startswith("avoid padding (471.50 MiB), most of it in `f32[4,128,128,9,18]")
    assert size == 512 * 2**20 - int(40.5 * 2**20)


def test_saving_is_unknown_without_dump() -> None:
    found = oom_advice(join_message(message(_PADDED), []))
    assert len(found) > 1
    assert {one.saves_bytes for one in found} == {None}


def test_donation_pairs_equal_shapes() -> None:
    found = _advice(text_of(LONG))
    text = "donate argument 1 (`donate_argnums`): an output has its shape"
    assert (text, 864 * 2**20) in found


def test_advice_on_most_bytes_is_first() -> None:
    sizes = [size for _, size in _advice(text_of(LONG))]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes


def test_kernel_with_whole_arrays_needs_blocks() -> None:
    (blocks, _), (limit, _) = _advice(text_of("libtpu_0.0.52_scoped_vmem"))
    assert "operands and result need 48.00 MiB" in blocks
    assert "vmem_limit_bytes" in limit


@pytest.mark.parametrize(
    ("scope", "is_advised"),
    [("jvp()/", True), ("transpose(jvp())/", False), ("", False)],
    ids=["forward pass", "backward pass", "no gradient"],
)
def test_only_repeated_activations_can_be_recomputed(scope: str, is_advised: bool) -> None:
    operator = f'     Operator: op_name="jit(f)/{scope}sin"\n     Shape'
    text = _PADDED.replace("     Shape", operator)
    entry = text[text.index("  1. Size") :]
    found = _advice(text + entry.replace("1. Size", "2. Size") + entry.replace("1.", "3."))
    assert any("some of 3 activations" in one for one, _ in found) == is_advised
    assert any("jax.checkpoint" in one for one, _ in found) == is_advised


def test_full_device_needs_free_memory() -> None:
    (advice,) = oom_advice(join_message(message(GPU), []), was_device_full=True)
    assert advice.text.startswith("delete arrays")


def test_one_allocation_has_no_advice() -> None:
    assert _advice(PROGRAM_LOAD) == []
    assert _advice(GPU.partition("\n")[0]) == []


def test_fragmented_memory_has_advice() -> None:
    ((text, _),) = _advice(text_of("tpu_reservable"))
    assert text.endswith("load this program before they fragment the memory")


def test_negligible_advice_is_left_out() -> None:
    text = _PADDED.partition("\n\n")[2].replace("40.50M", "511.50M")
    assert not any(one.startswith("avoid padding") for one, _ in _advice(text))
    shown = oom_advice(join_message(message(text), []), with_negligible=True)
    assert [one.bytes for one in shown if one.text.startswith("avoid padding")] == [1 << 19]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("logs/tpu_kernel_vmem", "smaller blocks"),
        ("logs/tpu_kernel_vmem_without_head", "smaller blocks"),
        ("tpu_kernel_scoped_vmem", "`vmem_limit_bytes` to 39,363,543"),
        ("tpu_kernel_window", "divide input 2 of the kernel into blocks"),
        ("tpu_smem_list", "instead of SMEM"),
        ("tpu_smem", "instead of SMEM"),
        ("tpu_cmem", "if a kernel uses CMEM: use smaller blocks"),
        ("tpu_sflag", "fewer asynchronous operations"),
        ("tpu_sparse_core_replicas", "use a smaller batch"),
        ("tpu_host", "offload less to the host"),
        ("rocm_host", "end other processes"),
        ("tpu_register_spills", "registers are spilled"),
        ("tpu_tile_spmem", "`scratch_shapes`"),
        ("tpu_sparse_core_hbm", "`max_ids_per_partition`"),
        ("gpu_shared_memory", "`num_stages`"),
        ("logs/gpu_host_allocator", "`XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB`"),
    ],
)
def test_advice_fits_the_memory(name: str, text: str) -> None:
    found = [one for one, _ in _advice(text_of(name))]
    assert any(text in one for one in found)
    assert not any("jax.lax.map" in one or "padding" in one for one in found)


def test_higher_limit_cannot_exceed_all_vmem() -> None:
    texts = [text for text, _ in _advice(text_of("logs/tpu_kernel_vmem"))]
    assert "a higher `vmem_limit_bytes` does not help: all of VMEM has 63.94 MiB" in texts


def test_default_limit_of_vmem_can_be_raised() -> None:
    texts = [text for text, _ in _advice(text_of("tpu_register_spills_of_kernel"))]
    assert texts[0].startswith("use smaller blocks (`BlockSpec`) in kernel `matmul.1`")
    assert texts[1].startswith("raise `vmem_limit_bytes` to 16,861,102")


def test_largest_array_in_host_memory_is_not_offloaded() -> None:
    text = text_of("tpu_smem_list").replace("smem", "host").replace("    scoped ", "    HLO temp ")
    text = text.replace("type: scoped", "type: HLO temp")
    name = "`ragged_paged_attention.1` of kernel.py:12"
    assert _advice(text) == [(f"offload less to the host, starting with {name}", 0)]


def test_smem_of_own_instruction_is_bug() -> None:
    text = text_of("tpu_smem_list").replace('"tpu_custom_call"', '"Sharding"')
    ((found, _),) = _advice(text)
    assert found.startswith("report a bug of XLA")


def test_part_of_operand_needs_smaller_blocks_or_fewer_buffers() -> None:
    text = text_of("tpu_kernel_window").replace(
        "window shape is bf16[64,", "window shape is bf16[1,"
    )
    ((found, _), _) = _advice(text.replace("is single buffered", "has 2 buffering levels"))
    assert "than `bf16[1,7168,4096]` for input 2, or fewer than 2 buffers" in found


def test_scoped_memory_of_own_instruction_is_bug() -> None:
    text = text_of("tpu_register_spills").replace("register allocator spill slots", "%fusion.1 = f")
    ((found, _),) = _advice(text.replace("%fusion.1 = f call depth 2", "f.1 = f32[8]{0} fusion(x)"))
    assert found.startswith("report a bug of XLA with the dump: `f.1` is not a kernel")
