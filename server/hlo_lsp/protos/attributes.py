"""The attributes of instructions by opcode (PrintExtraAttributesImpl in hlo_instructions.cc)."""

from collections.abc import Callable, Iterator
from typing import Any

from hlo_lsp.hlo.notation import index_text
from hlo_lsp.protos.literals import literal_text
from hlo_lsp.protos.shapes import (
    ELEMENT_TYPES,
    ShapeTexts,
    decoded,
    dimension_labels,
    escaped,
    padding_text,
    window_text,
)
from hlo_lsp.protos.shardings import replica_groups_text, sharding_text

_Part = Callable[[Any, ShapeTexts], Iterator[str]]
_PRECISIONS = ("default", "high", "highest", "packed_nibble")
_ALGORITHMS = (
    "unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16",
    "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32",
    "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9",
)  # fmt: skip
_FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_DISTRIBUTIONS = ("rng_invalid", "rng_uniform", "rng_normal")
_RNG_ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
_PADDING_TYPES = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
_CONVOLUTION_KINDS = ("unset", "fprop", "dgrad", "wgrad")
_SCHEDULES = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
_API_VERSIONS = (
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI",
)  # fmt: skip
_ORIGINAL_API = 1
MAIN_THREAD = "main"
_SIGNED = frozenset({"s1", "s2", "s4", "s8", "s16", "s32", "s64"})
_UNSIGNED = frozenset({"pred", "u1", "u2", "u4", "u8", "u16", "u32", "u64"})


def own_attributes(instruction: Any, opcode: str, shapes: ShapeTexts) -> Iterator[str]:
    """Yield the attributes that only instructions of this opcode have."""
    for part in _BY_OPCODE.get(opcode, ()):
        yield from part(instruction, shapes)


def comparison_type(instruction: Any, operand: Any) -> Iterator[str]:
    """Yield the type or the order of a comparison unless it is the usual one of the operand."""
    name = ELEMENT_TYPES.get(operand.shape.element_type, "")
    usual = "SIGNED" if name in _SIGNED else "UNSIGNED" if name in _UNSIGNED else "FLOAT"
    kind, order = decoded(instruction.comparison_type), decoded(instruction.comparison_order)
    if kind and kind != usual:
        yield f"type={kind}"
    if order and order != ("PARTIAL" if usual == "FLOAT" else "TOTAL"):
        yield f"order={order}"


def _aliasing(instruction: Any, _: ShapeTexts) -> Iterator[str]:
    if instruction.output_operand_aliasing:
        pairs = (
            f"{index_text(one.output_shape_index)}:"
            f" ({one.operand_index}, {index_text(one.operand_shape_index)})"
            for one in instruction.output_operand_aliasing
        )
        yield f"output_to_operand_aliasing={{{', '.join(pairs)}}}"


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else str(number)


def _one(text: Callable[[Any], str]) -> _Part:
    """Return a part that always prints one text."""
    return lambda one, _: iter((text(one),))


def _optional(name: str, field: str = "", words: tuple[str, ...] = ()) -> _Part:
    """Return a part that prints a number, or a word for it, unless it is zero: ``channel_id=3``."""

    def part(one: Any, _: ShapeTexts) -> Iterator[str]:
        if (number := getattr(one, field or name)) > 0:
            yield f"{name}={_name(words, number) if words else number}"

    return part


def _indexes(*names: str) -> _Part:
    """Return a part that prints lists of numbers: ``fft_length={8}``."""
    return lambda one, _: (f"{name}={index_text(getattr(one, name))}" for name in names)


def _numbers(*names: str) -> _Part:
    """Return a part that prints fields as they are: ``num_carries=1``."""
    return lambda one, _: (f"{name}={getattr(one, name)}" for name in names)


def _word(name: str, words: tuple[str, ...], field: str = "") -> _Part:
    """Return a part that prints an enum: ``fft_type=IFFT``."""
    return _one(lambda one: f"{name}={_name(words, getattr(one, field or name))}")


def _plain(name: str, field: str) -> _Part:
    """Return a part that prints a word that the proto has as text: ``kind=kLoop``."""
    return _one(lambda one: f"{name}={decoded(getattr(one, field))}")


def _flags(*names: str) -> _Part:
    """Return a part that prints the flags that are set: ``is_stable=true``."""
    return lambda one, _: (f"{name}=true" for name in names if getattr(one, name))


def _quoted(name: str) -> _Part:
    """Return a part that prints a text in quotes unless it is empty: ``infeed_config="x"``."""

    def part(one: Any, _: ShapeTexts) -> Iterator[str]:
        if text := getattr(one, name):
            yield f'{name}="{escaped(text)}"'

    return part


def _inside(field: str, *parts: _Part) -> _Part:
    """Return a part that prints parts of a message in a field."""
    return lambda one, shapes: (
        text for part in parts for text in part(getattr(one, field), shapes)
    )


def _source_target_pairs(one: Any, _: ShapeTexts) -> Iterator[str]:
    pairs = ",".join(f"{{{pair.source},{pair.target}}}" for pair in one.source_target_pairs)
    yield f"source_target_pairs={{{pairs}}}"
    if one.dynamic_slice_sizes:
        yield f"slice_sizes={{{index_text(one.dynamic_slice_sizes)}}}"


def _thread(one: Any, _: ShapeTexts) -> Iterator[str]:
    thread = decoded(one.async_execution_thread)
    if thread not in {"", MAIN_THREAD}:
        yield f'async_execution_thread="{thread}"'


def _prefetch(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.HasField("cross_program_prefetch_index") or one.is_cross_program_prefetch:
        yield f"cross_program_prefetch_index={one.cross_program_prefetch_index}"


def _inferred_dimension(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.dimensions:
        yield f"inferred_dimension={one.dimensions[0]}"


def _slice(one: Any, _: ShapeTexts) -> Iterator[str]:
    strided = any(part.stride != 1 for part in one.slice_dimensions)
    parts = (
        f"[{part.start}:{part.limit}{f':{part.stride}' if strided else ''}]"
        for part in one.slice_dimensions
    )
    yield f"slice={{{', '.join(parts)}}}"


def _replication(one: Any, _: ShapeTexts) -> Iterator[str]:
    leaves = one.parameter_replication.replicated_at_leaf_buffers
    if leaves:
        values = ",".join("true" if leaf else "false" for leaf in leaves)
        yield f"parameter_replication={{{values}}}"


def _window(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.window.dimensions:
        yield window_text(one.window)


def _groups(one: Any, _: ShapeTexts) -> Iterator[str]:
    for name in ("feature_group_count", "batch_group_count"):
        if getattr(one, name) > 1:
            yield f"{name}={getattr(one, name)}"


def _precision(one: Any, _: ShapeTexts) -> Iterator[str]:
    config = one.precision_config
    if any(config.operand_precision):
        values = ",".join(_name(_PRECISIONS, number) for number in config.operand_precision)
        yield f"operand_precision={{{values}}}"
    if config.algorithm:
        yield f"algorithm={_name(_ALGORITHMS, config.algorithm)}"


_DIMENSION_LABELS = _one(lambda one: dimension_labels(one.convolution_dimension_numbers))


def _custom_call(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    if one.HasField("window"):
        yield window_text(one.window)
    if one.HasField("convolution_dimension_numbers"):
        yield from _DIMENSION_LABELS(one, shapes)
    yield from _groups(one, shapes)
    yield from _precision(one, shapes)
    yield from _optional("padding_type", words=_PADDING_TYPES)(one, shapes)
    yield f'custom_call_target="{escaped(one.custom_call_target)}"'
    if one.constrain_layout:
        layouts = ", ".join(map(shapes.text, one.operand_shapes_with_layout))
        yield f"operand_layout_constraints={{{layouts}}}"
    yield from _flags("custom_call_has_side_effect")(one, shapes)
    if one.HasField("literal"):
        yield f"literal={literal_text(one.literal, shapes, always=True)}"
    yield from _aliasing(one, shapes)
    yield from _optional("schedule", "custom_call_schedule", _SCHEDULES)(one, shapes)
    if one.custom_call_api_version != _ORIGINAL_API:
        yield f"api_version={_name(_API_VERSIONS, one.custom_call_api_version)}"


def _index_sets(*names: str, optional: tuple[str, ...]) -> _Part:
    """Return a part that prints the dimension numbers of a gather or scatter."""

    def part(one: Any, shapes: ShapeTexts) -> Iterator[str]:
        yield from _indexes(*names, *(name for name in optional if getattr(one, name)))(one, shapes)
        yield f"index_vector_dim={one.index_vector_dim}"

    return part


def _dot_numbers(numbers: Any, _: ShapeTexts) -> Iterator[str]:
    for side in ("lhs", "rhs"):
        batch = getattr(numbers, f"{side}_batch_dimensions")
        if batch:
            yield f"{side}_batch_dims={index_text(batch)}"
        contracted = getattr(numbers, f"{side}_contracting_dimensions")
        yield f"{side}_contracting_dims={index_text(contracted)}"


def _ragged_dims(numbers: Any, _: ShapeTexts) -> Iterator[str]:
    if numbers.lhs_ragged_dimensions:
        yield f"lhs_ragged_dims={index_text(numbers.lhs_ragged_dimensions)}"
    if numbers.rhs_group_dimensions:
        yield f"rhs_group_dims={index_text(numbers.rhs_group_dimensions)}"


def _domain(one: Any, _: ShapeTexts) -> Iterator[str]:
    entry, out = sharding_text(one.domain_entry_sharding), sharding_text(one.domain_exit_sharding)
    yield f'domain={{kind="sharding", entry={entry}, exit={out}}}'


_DIMENSIONS = _indexes("dimensions")
_DIMENSION = _one(lambda one: f"dimensions={index_text(one.dimensions[:1] or [0])}")
_CHANNEL = _optional("channel_id")
_REPLICA_GROUPS = _one(lambda one: f"replica_groups={replica_groups_text(one)}")
_COLLECTIVE = (_CHANNEL, _REPLICA_GROUPS, _flags("constrain_layout"))
_GLOBAL_IDS = _flags("use_global_device_ids")
_DOT = (_inside("dot_dimension_numbers", _dot_numbers), _precision)
_GATHER_SETS = _index_sets(
    *("offset_dims", "collapsed_slice_dims", "start_index_map"),
    optional=("operand_batching_dims", "start_indices_batching_dims"),
)
_SCATTER_SETS = _index_sets(
    *("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
    optional=("input_batching_dims", "scatter_indices_batching_dims"),
)
_SORTED = _flags("indices_are_sorted")
# The parts of the attributes of each opcode in the order in which XLA prints them.
_BY_OPCODE: dict[str, tuple[_Part, ...]] = {
    **dict.fromkeys(
        ("broadcast", "concatenate", "map", "reduce", "reverse", "transpose"), (_DIMENSIONS,)
    ),
    **dict.fromkeys(("get-dimension-size", "set-dimension-size"), (_DIMENSION,)),
    **dict.fromkeys(("all-gather", "all-gather-start"), (*_COLLECTIVE, _DIMENSION, _GLOBAL_IDS)),
    **dict.fromkeys(("all-reduce", "all-reduce-start"), (*_COLLECTIVE, _GLOBAL_IDS)),
    **dict.fromkeys(
        ("collective-permute", "collective-permute-start"), (_CHANNEL, _source_target_pairs)
    ),
    **dict.fromkeys(("collective-broadcast", "ragged-all-to-all"), _COLLECTIVE),
    **dict.fromkeys(
        ("send", "send-done", "recv", "recv-done"), (_CHANNEL, _flags("is_host_transfer"))
    ),
    **dict.fromkeys(
        ("batch-norm-training", "batch-norm-inference", "batch-norm-grad"),
        (_one(lambda one: f"epsilon={one.epsilon:.6g}"), _numbers("feature_index")),
    ),
    **dict.fromkeys(("reduce-window", "select-and-scatter"), (_window,)),
    **dict.fromkeys(("dot", "scaled-dot"), _DOT),
    "reduce-scatter": (*_COLLECTIVE, _GLOBAL_IDS, _DIMENSION),
    "all-to-all": (
        *_COLLECTIVE,
        lambda one, shapes: _DIMENSION(one, shapes) if one.dimensions else iter(()),
    ),
    "fft": (_word("fft_type", _FFT_TYPES), _indexes("fft_length")),
    "copy-start": (_prefetch,),
    "compare": (_plain("direction", "comparison_direction"),),
    "triangular-solve": (
        _inside(
            "triangular_solve_options",
            _flags("left_side", "lower", "unit_diagonal"),
            _optional("transpose_a", words=_TRANSPOSES),
        ),
    ),
    "cholesky": (_inside("cholesky_options", _flags("lower")),),
    "topk": (
        _numbers("k"),
        _one(lambda one: f"largest={str(one.largest).lower()}"),
        _flags("is_stable"),
    ),
    "scan": (
        _DIMENSIONS,
        _numbers("num_carries"),
        _flags("is_reverse"),
        _optional("is_associative", words=("", "true", "false")),
    ),
    "sort": (_DIMENSIONS, _flags("is_stable")),
    "reshape": (_inferred_dimension,),
    "slice": (_slice,),
    "fusion": (_plain("kind", "fusion_kind"), _aliasing),
    "rng": (_word("distribution", _DISTRIBUTIONS),),
    "parameter": (_replication,),
    "get-tuple-element": (_one(lambda one: f"index={one.tuple_index}"),),
    "reduce-precision": (_numbers("exponent_bits", "mantissa_bits"),),
    "infeed": (_quoted("infeed_config"),),
    "outfeed": (
        lambda one, shapes: iter((f"outfeed_shape={shapes.text(one.outfeed_shape)}",)),
        _quoted("outfeed_config"),
    ),
    "convolution": (
        _window,
        _DIMENSION_LABELS,
        _groups,
        _optional("convolution_kind", "conv_kind", _CONVOLUTION_KINDS),
        _precision,
    ),
    "custom-call": (_custom_call,),
    "pad": (_one(lambda one: padding_text(one.padding_config)),),
    "dynamic-slice": (_indexes("dynamic_slice_sizes"),),
    "gather": (
        _inside("gather_dimension_numbers", _GATHER_SETS),
        _one(lambda one: f"slice_sizes={index_text(one.gather_slice_sizes)}"),
        _SORTED,
    ),
    "scatter": (
        _inside("scatter_dimension_numbers", _SCATTER_SETS),
        _SORTED,
        _flags("unique_indices"),
    ),
    "iota": (_one(lambda one: f"iota_dimension={one.dimensions[0] if one.dimensions else 0}"),),
    "ragged-dot": (_inside("ragged_dot_dimension_numbers", *_DOT[:1], _ragged_dims), _precision),
    "domain": (_domain,),
    "rng-get-and-update-state": (_numbers("delta"),),
    "rng-bit-generator": (_word("algorithm", _RNG_ALGORITHMS, "rng_algorithm"),),
    "async-start": (_thread, _aliasing),
    "async-update": (_aliasing,),
}
