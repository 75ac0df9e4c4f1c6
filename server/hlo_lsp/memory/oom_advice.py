"""Advice for out-of-memory messages without a dump.

A message lists a few buffers, without their live ranges, so what a change saves is unknown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.hlo.vocabulary import narrower_type
from hlo_lsp.memory.oom_join import JoinedEntry, JoinedMessage
from hlo_lsp.memory.savings import AT_MOST, MIN_SAVED_SHARE, is_negligible
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.oom_message import EntryList, OomEntry, OomKind, OomMessage, PrintedSize
from hlo_lsp.model.padded_sizes import PaddedSize, Target, padded_size_of_text, total_array_bytes
from hlo_lsp.model.shape import ArrayShape, try_shape, without_layout
from hlo_lsp.program.phases import is_backward_pass
from hlo_lsp.text.amounts import format_short_bytes

_LARGE_SHARE = 0.25  # of the limit: a buffer of this size is worth splitting
_MIN_REPEATED = 3
_WHOLE_ARRAY_SHARE = 0.75  # of scoped memory: the kernel holds its arrays whole


@dataclass(frozen=True, slots=True)
class OomAdvice:
    """A change of the program.

    Attributes:
        bytes: The bytes that it is about, by which advice is sorted; 0 for none in particular.
        saves_bytes: The bytes that it saves at most, or about; None if that is unknown.
        label: ``at most`` or ``about``.
    """

    text: str
    bytes: int = 0
    saves_bytes: int | None = None
    label: str = AT_MOST


# The scoped part of VMEM without `vmem_limit_bytes`; the same numbers are all VMEM of other chips.
_DEFAULT_SCOPED_BYTES = frozenset({16 << 20, 32 << 20})
_SFLAG_ADVICE = OomAdvice(
    "run fewer asynchronous operations at the same time, such as with `jax.lax.scan` instead of "
    "unrolled layers",
)
_SMEM_ADVICE = "pass large operands in VMEM or HBM instead of SMEM (`PrefetchScalarGridSpec`)"
_HOST_DRIVER_ADVICE = OomAdvice(
    "offload less to the host, or end other processes that use its memory"
)
_HOST_ADVICE = OomAdvice(
    "raise `XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB` (64 by default), or offload less to the host"
)
# What XLA's page about the error advises (docs/errors/error_1000.md and error_3000.md).
_SPARSE_CORE_TABLES = OomAdvice(
    "shard the embedding tables over more chips, and lower `max_ids_per_partition` and "
    "`max_unique_ids_per_partition`",
)
_SPARSE_CORE_ADVICE = (
    _SPARSE_CORE_TABLES,
    OomAdvice("raise `--xla_sc_num_serialized_tables_to_optimize_hbm`"),
)
# From error_3001.md.
_SPARSE_CORE_REPLICAS = (
    OomAdvice(
        "lower `max_ids_per_partition` and `max_unique_ids_per_partition` to what the data needs"
    ),
    OomAdvice("use a smaller batch: each SparseCore looks up fewer ids"),
)
_SPARSE_CORE_SCRATCH = (
    OomAdvice("use smaller `scratch_shapes` if the program is a kernel of Pallas"),
    OomAdvice(
        "if it is a collective, keep it off the SparseCore, such as with "
        "`--xla_tpu_enable_sparse_core_collective_offload_all_gather=false`",
    ),
)


def oom_advice(
    joined: JoinedMessage, *, was_device_full: bool = False, with_negligible: bool = False
) -> list[OomAdvice]:
    """Return advice that follows from a message alone, on the most bytes first.

    If ``was_device_full``, the program fits into the device, but other data filled it. Advice on
    less than 1% of what is needed is left out, unless ``with_negligible``.
    """
    message = joined.message
    if is_of_code(message):
        return list(_code_advice(joined))
    if message.kind is OomKind.HOST:
        # The driver fails if the host is full, and the allocator if its own limit is reached.
        return [_HOST_DRIVER_ADVICE if message.is_attempt else _HOST_ADVICE]
    if message.kind is OomKind.MEMORY_SPACE:
        return [_offload_advice(joined)]
    if message.sparse_core is not None and 2 * message.sparse_core.bytes > _bytes(message.needed):
        return list(_SPARSE_CORE_ADVICE)
    if was_device_full or (message.is_fragmented and not joined.entries):
        return list(_free_advice(message))
    buffers = [
        one
        for one in joined.entries
        if one.entry.section is not EntryList.INTERFACE and not one.entry.is_parameter
    ]
    found = [
        *_donation(message),
        *_padding(buffers),
        *_types(buffers),
        *_parts(message, buffers),
        *_repetitions(buffers),
    ]
    found = [
        one
        for one in found
        if one.bytes and (with_negligible or _is_worth_a_line(one.bytes, joined))
    ]
    return sorted(found, key=lambda one: -one.bytes)


def _offload_advice(joined: JoinedMessage) -> OomAdvice:
    """Return advice on host memory that ran out when a program was compiled for a TPU."""
    largest = max(joined.entries, key=lambda one: one.bytes or 0, default=None)
    if largest is None:
        return OomAdvice("offload less to the host")
    return OomAdvice(f"offload less to the host, starting with {_name(largest)}")


def is_of_code(message: OomMessage) -> bool:
    """Return True if scratch memory of instructions ran out: arrays of the program do not help."""
    if message.kind in {OomKind.SCOPED_VMEM, OomKind.GPU_KERNEL, OomKind.SPARSE_CORE}:
        return True
    if message.kind is OomKind.MEMORY_SPACE and message.memory != "host":
        return True
    sizes = [(one.is_scoped or one.window is not None, _bytes(one.size)) for one in message.entries]
    scoped = sum(size for is_scoped, size in sizes if is_scoped)
    is_listed = any(is_scoped for is_scoped, _ in sizes)
    return is_listed and 2 * scoped >= sum(size for _, size in sizes)


def _bytes(size: PrintedSize | None) -> int:
    return 0 if size is None else size.bytes


def _is_worth_a_line(count: int, joined: JoinedMessage) -> bool:
    if joined.message.needed is None:
        return not is_negligible(count, sum(one.bytes or 0 for one in joined.entries))
    return count >= MIN_SAVED_SHARE * joined.message.needed.bytes


def padding_of(entry: OomEntry) -> PaddedSize | None:
    """Return the padded size of an entry with its causes, None if it differs from the message."""
    if entry.shape is None or entry.shape.startswith("("):
        return None
    padded = padded_size_of_text(entry.shape, Target(Backend.TPU))
    if padded is None or entry.size is None or not entry.size.matches(padded.bytes):
        return None
    return padded


def _donation(message: OomMessage) -> Iterator[OomAdvice]:
    if message.output is None:
        return
    shared = 0 if message.shared is None else message.shared.bytes
    entries = [entry for entry in message.entries if entry.section is EntryList.INTERFACE]
    if not entries:
        arguments = message.usage_of("arguments")
        saved = min(message.output.bytes, 0 if arguments is None else arguments.bytes) - shared
        if saved > 0:
            yield OomAdvice(
                "donate arguments (`donate_argnums`): outputs reuse "
                f"{format_short_bytes(shared) if shared else 'none'} of them",
                saved,
            )
        return
    outputs = [entry for entry in entries if (entry.label or "").startswith("Output")]
    free = Counter(entry.shape for entry in outputs)
    names: list[str] = []
    saved = 0
    for entry in entries:
        label = entry.label or ""
        if label.startswith("Argument") and free[entry.shape] and entry.size is not None:
            free[entry.shape] -= 1
            saved += entry.size.bytes
            names.append(label.split(" index")[0].replace("Argument", "argument"))
    saved = min(saved, message.output.bytes - shared)
    if saved > 0:
        yield OomAdvice(
            f"donate {join_limited(names, 3)} (`donate_argnums`): an output has its shape", saved
        )


def _padding(entries: Sequence[JoinedEntry]) -> Iterator[OomAdvice]:
    saved = 0
    largest: tuple[int, OomEntry] | None = None
    for joined in entries:
        entry = joined.entry
        if entry.size is None or entry.unpadded is None:
            continue
        padding = max(0, entry.size.bytes - entry.unpadded.bytes)
        saved += padding
        if padding and (largest is None or padding > largest[0]):
            largest = padding, entry
    if largest is not None:
        padded = padding_of(largest[1])
        causes = [] if padded is None else padded.padding
        cause = f" ({', '.join(map(str, causes))})" if causes else ""
        yield OomAdvice(
            f"avoid padding ({format_short_bytes(saved)}), most of it in "
            f"`{largest[1].shape}`{cause}",
            saved,
        )


def _types(entries: Sequence[JoinedEntry]) -> Iterator[OomAdvice]:
    sizes: Counter[str] = Counter()
    largest: dict[str, JoinedEntry] = {}
    for joined in entries:
        shape = _array(joined.entry)
        if shape is not None and narrower_type(shape.element_type) is not None:
            sizes[shape.element_type] += joined.bytes or 0
            largest.setdefault(shape.element_type, joined)
    for name, count in sizes.items():
        yield OomAdvice(
            f"compute {name} buffers ({format_short_bytes(count)}) in {narrower_type(name)}, "
            f"starting with {_name(largest[name])}",
            count // 2,
        )


def _parts(message: OomMessage, entries: Sequence[JoinedEntry]) -> Iterator[OomAdvice]:
    limit = message.limit or message.needed or message.requirement
    for joined in entries[:1]:
        shape, size = _array(joined.entry), joined.bytes or 0
        if shape is None or (limit is not None and size < _LARGE_SHARE * limit.bytes):
            continue
        places = [place for place, dim in enumerate(shape.dims) if (dim.size or 0) > 1]
        if places:
            count = shape.dims[places[0]].size or 1
            yield OomAdvice(
                f"compute {_name(joined)} in parts over dimension {places[0]} ({count:,}) "
                "(`jax.lax.map`, smaller batch)",
                size * (count - 1) // count,
            )


def _repetitions(entries: Sequence[JoinedEntry]) -> Iterator[OomAdvice]:
    """Advise to recompute activations of the same shape, such as one for each layer."""
    groups: dict[str, list[JoinedEntry]] = {}
    for joined in entries:
        is_activation = is_backward_pass(joined.op_name or "") is False
        if is_activation and _array(joined.entry) is not None and joined.entry.shape is not None:
            groups.setdefault(without_layout(joined.entry.shape), []).append(joined)
    for shape, members in groups.items():
        if len(members) >= _MIN_REPEATED:
            size = sum(one.bytes or 0 for one in members)
            yield OomAdvice(
                f"recompute (`jax.checkpoint`) some of {count_noun(len(members), 'activation')} "
                f"of shape `{shape}` ({format_short_bytes(size)})",
                size,
            )


def _code_advice(joined: JoinedMessage) -> Iterator[OomAdvice]:
    """Yield advice on the memory of kernels, and of the code of other instructions."""
    message = joined.message
    if message.kind is OomKind.GPU_KERNEL:
        yield OomAdvice("use smaller blocks or fewer stages (`num_stages`) in the kernel")
        return
    if message.code == "E3001":
        yield from _SPARSE_CORE_REPLICAS
        return
    if message.kind is OomKind.SPARSE_CORE and message.memory == "hbm":
        yield _SPARSE_CORE_TABLES
        return
    if message.memory in {"tile_spmem", "spmem"} or message.kind is OomKind.SPARSE_CORE:
        yield from _SPARSE_CORE_SCRATCH
        return
    for entry in sorted(message.entries, key=lambda one: -_bytes(one.size))[:1]:
        yield _entry_advice(message, entry)
    if not message.entries and message.kind is OomKind.MEMORY_SPACE:
        name = message.memory_name
        yield OomAdvice(f"if a kernel uses {name}: {_memory_advice(message, 'the kernel')}")
    if message.memory == "sflag":
        yield _SFLAG_ADVICE
    is_kernel = not message.entries or any(_is_kernel(entry) for entry in message.entries)
    if message.memory != "vmem" or message.needed is None or not is_kernel:
        return
    is_default = message.limit is not None and message.limit.bytes in _DEFAULT_SCOPED_BYTES
    if message.kind is OomKind.SCOPED_VMEM or (is_default and message.kind is OomKind.VMEM):
        text = f"raise `vmem_limit_bytes` to {message.needed.bytes:,}, if the chip has as much VMEM"
        yield OomAdvice(text)  # a higher limit saves nothing
    elif message.entries and message.limit is not None:
        limit = format_short_bytes(message.limit.bytes)
        text = f"a higher `vmem_limit_bytes` does not help: all of VMEM has {limit}"
        yield OomAdvice(text)


def _is_kernel(entry: OomEntry) -> bool:
    """Return True if scoped memory belongs to a kernel, not to an instruction of XLA itself."""
    return entry.is_kernel or (entry.kernel is not None and entry.instruction is None)


def _entry_advice(message: OomMessage, entry: OomEntry) -> OomAdvice:
    """Return advice on the largest memory of the code of an instruction."""
    kernel = "the kernel" if entry.kernel is None else f"kernel `{entry.kernel}`"
    window = entry.window
    if entry.is_spill and entry.kernel is not None:
        text = f"use smaller blocks (`BlockSpec`) in {kernel}, or split its computation"
        return OomAdvice(f"{text}: its registers are spilled")
    if entry.is_spill:
        return OomAdvice(
            "split the computation whose registers are spilled, or use smaller blocks if it is a "
            "kernel: fewer values are needed at the same time"
        )
    if window is not None and window.is_whole:
        text = f"divide {window.operand} of {kernel} into blocks (`BlockSpec`)"
        return OomAdvice(f"{text}: its window is the whole `{window.full_shape}`")
    if window is not None:
        text = f"use smaller blocks (`BlockSpec`) than `{window.shape}` for {window.operand}"
        if (window.buffers or 1) > 1:
            text += f", or fewer than {window.buffers} buffers (`pipeline_mode=pl.Buffered(1)`)"
        return OomAdvice(text)
    if not _is_kernel(entry):
        name = "an instruction" if entry.kernel is None else f"`{entry.kernel}`"
        text = (
            f"report a bug of XLA with the dump: {name} is not a kernel, and XLA chose its memory"
        )
        return OomAdvice(text)
    arrays = _kernel_bytes(entry)
    needed = _bytes(message.needed)
    if message.needed is not None and _WHOLE_ARRAY_SHARE * needed <= arrays <= needed:
        text = (
            f"divide the arrays of {kernel} into blocks (`BlockSpec`): without blocks, operands "
            f"and result need {format_short_bytes(arrays)}"
        )
        return OomAdvice(text)
    return OomAdvice(_memory_advice(message, kernel))


def _memory_advice(message: OomMessage, kernel: str) -> str:
    """Return advice on a kernel that needs too much of a memory."""
    if message.memory == "smem":
        return f"{_SMEM_ADVICE} in {kernel}"
    if message.memory == "sflag":
        return f"use fewer semaphores (`scratch_shapes`) in {kernel}"
    return f"use smaller blocks (`BlockSpec`) or scratch arrays in {kernel}"


def _kernel_bytes(entry: OomEntry) -> int:
    """Return the size of the operands and the result of a kernel."""
    instruction = entry.instruction
    constraints = (
        None if instruction is None else instruction.attribute("operand_layout_constraints")
    )
    if instruction is None or constraints is None:
        return 0
    texts = [instruction.shape.text, f"({constraints.text.strip().strip('{}')}}})"]
    return sum(total_array_bytes(try_shape(text)) for text in texts)


def _free_advice(message: OomMessage) -> Iterator[OomAdvice]:
    if message.needed is None:
        return
    missing = message.needed.bytes - (0 if message.limit is None else message.limit.bytes)
    if missing <= 0:
        return
    text = "delete arrays that other parts of the program hold on the device"
    if message.is_fragmented:
        text += ", or load this program before they fragment the memory"
    yield OomAdvice(text)


def _array(entry: OomEntry) -> ArrayShape | None:
    shape = None if entry.shape is None else try_shape(entry.shape)
    return shape if isinstance(shape, ArrayShape) else None


def _name(joined: JoinedEntry) -> str:
    source, instruction = joined.source, joined.entry.instruction
    name = f"buffer {joined.entry.rank}" if instruction is None else f"`{instruction.name.text}`"
    if source is not None:
        return f"{name} of {source.short}"
    return name if joined.op_name is None else f"{name} of `{joined.op_name}`"
