"""Advice for out-of-memory messages without a dump, with the bytes that it saves."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.hlo.vocabulary import narrower_type
from hlo_lsp.memory.oom_join import JoinedEntry, JoinedMessage
from hlo_lsp.memory.savings import MIN_SAVED_SHARE, is_negligible
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.display import count_noun, format_short_bytes, join_limited
from hlo_lsp.model.oom_message import EntryList, OomEntry, OomKind, OomMessage
from hlo_lsp.model.padded_sizes import PaddedSize, Target, padded_size_of_text, total_array_bytes
from hlo_lsp.model.shape import ArrayShape, try_shape, without_layout

_LARGE_SHARE = 0.25  # of the limit: a buffer of this size is worth splitting
_MIN_REPEATED = 3
_WHOLE_ARRAY_SHARE = 0.75  # of scoped memory: the kernel holds its arrays whole


@dataclass(frozen=True, slots=True)
class OomAdvice:
    """A change, with the bytes that it saves at most."""

    text: str
    saves_bytes: int


def oom_advice(
    joined: JoinedMessage, *, was_device_full: bool = False, with_negligible: bool = False
) -> list[OomAdvice]:
    """Return advice that follows from a message alone, the largest saving first.

    If ``was_device_full``, the program fits into the device, but other data filled it. Savings
    below 1% of what is needed are left out, unless ``with_negligible``.
    """
    message = joined.message
    if message.kind is OomKind.SCOPED_VMEM:
        return list(_stack_advice(message))
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
        if one.saves_bytes and (with_negligible or _is_worth_a_line(one.saves_bytes, joined))
    ]
    return sorted(found, key=lambda one: -one.saves_bytes)


def _is_worth_a_line(saved: int, joined: JoinedMessage) -> bool:
    if joined.message.needed is None:
        return not is_negligible(saved, sum(one.bytes or 0 for one in joined.entries))
    return saved >= MIN_SAVED_SHARE * joined.message.needed.bytes


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
        yield OomAdvice(f"avoid padding, most of it in `{largest[1].shape}`{cause}", saved)


def _types(entries: Sequence[JoinedEntry]) -> Iterator[OomAdvice]:
    saved: Counter[str] = Counter()
    largest: dict[str, JoinedEntry] = {}
    for joined in entries:
        shape = _array(joined.entry)
        if shape is not None and narrower_type(shape.element_type) is not None:
            saved[shape.element_type] += (joined.bytes or 0) // 2
            largest.setdefault(shape.element_type, joined)
    for name, count in saved.items():
        yield OomAdvice(
            f"compute {name} buffers in {narrower_type(name)}, starting with "
            f"{_name(largest[name])}",
            count,
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
    """Advise to recompute buffers of the same shape, such as one for each layer."""
    groups: dict[str, list[JoinedEntry]] = {}
    for joined in entries:
        if _array(joined.entry) is not None and joined.entry.shape is not None:
            groups.setdefault(without_layout(joined.entry.shape), []).append(joined)
    for shape, members in groups.items():
        if len(members) >= _MIN_REPEATED:
            saved = sum(one.bytes or 0 for one in members[1:])
            yield OomAdvice(
                f"recompute (`jax.checkpoint`) some of {count_noun(len(members), 'buffer')} of "
                f"shape `{shape}`",
                saved,
            )


def _stack_advice(message: OomMessage) -> Iterator[OomAdvice]:
    if message.needed is None or message.limit is None:
        return
    excess = max(0, message.needed.bytes - message.limit.bytes)
    for entry in message.entries[:1]:
        arrays = _kernel_bytes(entry)
        if _WHOLE_ARRAY_SHARE * message.needed.bytes <= arrays <= message.needed.bytes:
            yield OomAdvice(
                f"divide the arrays of the kernel into blocks (`BlockSpec`): without blocks, "
                f"operands and result need {format_short_bytes(arrays)}",
                arrays,
            )
        else:
            yield OomAdvice("use smaller blocks (`BlockSpec`) in the kernel", excess)
    yield OomAdvice(
        f"raise `vmem_limit_bytes` to {message.needed.bytes:,}, if the chip has as much VMEM",
        0,  # a higher limit saves nothing
    )


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
    yield OomAdvice(text, missing)


def _array(entry: OomEntry) -> ArrayShape | None:
    shape = None if entry.shape is None else try_shape(entry.shape)
    return shape if isinstance(shape, ArrayShape) else None


def _name(joined: JoinedEntry) -> str:
    source, instruction = joined.source, joined.entry.instruction
    name = f"buffer {joined.entry.rank}" if instruction is None else f"`{instruction.name.text}`"
    if source is not None:
        return f"{name} of {source.short}"
    return name if joined.op_name is None else f"{name} of `{joined.op_name}`"
