"""The attributes of instructions by opcode (PrintExtraAttributesImpl in hlo_instructions.cc)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hlo_lsp.protos.literals import literal_text
from hlo_lsp.protos.shapes import (
    ELEMENT_TYPES,
    ShapeTexts,
    dimension_labels,
    escaped,
    index_text,
    padding_text,
    plain,
    window_text,
)
from hlo_lsp.protos.shardings import replica_groups_text, sharding_text

_Attributes = Callable[[Any, ShapeTexts], Iterator[str]]
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
    printed = _BY_OPCODE.get(opcode)
    if printed is not None:
        yield from printed(instruction, shapes)


def comparison_type(instruction: Any, operand: Any) -> Iterator[str]:
    """Yield the type or the order of a comparison unless it is the usual one of the operand."""
    name = ELEMENT_TYPES.get(operand.shape.element_type, "")
    usual = "SIGNED" if name in _SIGNED else "UNSIGNED" if name in _UNSIGNED else "FLOAT"
    kind, order = plain(instruction.comparison_type), plain(instruction.comparison_order)
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


def _flags(instruction: Any, *names: str) -> Iterator[str]:
    for name in names:
        if getattr(instruction, name):
            yield f"{name}=true"


def _dimensions(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"dimensions={index_text(one.dimensions)}"


def _dimension(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"dimensions={index_text(one.dimensions[:1] or [0])}"


def _channel(one: Any) -> Iterator[str]:
    if one.channel_id > 0:
        yield f"channel_id={one.channel_id}"


def _collective(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _channel(one)
    yield f"replica_groups={replica_groups_text(one)}"
    yield from _flags(one, "constrain_layout")


def _all_gather(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _collective(one, shapes)
    yield from _dimension(one, shapes)
    yield from _flags(one, "use_global_device_ids")


def _all_reduce(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _collective(one, shapes)
    yield from _flags(one, "use_global_device_ids")


def _reduce_scatter(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _all_reduce(one, shapes)
    yield from _dimension(one, shapes)


def _all_to_all(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _collective(one, shapes)
    if one.dimensions:
        yield from _dimension(one, shapes)


def _collective_permute(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _channel(one)
    pairs = ",".join(f"{{{pair.source},{pair.target}}}" for pair in one.source_target_pairs)
    yield f"source_target_pairs={{{pairs}}}"
    if one.dynamic_slice_sizes:
        yield f"slice_sizes={{{index_text(one.dynamic_slice_sizes)}}}"


def _send_recv(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _channel(one)
    yield from _flags(one, "is_host_transfer")


def _batch_norm(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"epsilon={one.epsilon:.6g}"
    yield f"feature_index={one.feature_index}"


def _async_start(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    thread = plain(one.async_execution_thread)
    if thread not in {"", MAIN_THREAD}:
        yield f'async_execution_thread="{thread}"'
    yield from _aliasing(one, shapes)


def _fft(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"fft_type={_name(_FFT_TYPES, one.fft_type)}"
    yield f"fft_length={index_text(one.fft_length)}"


def _copy_start(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.HasField("cross_program_prefetch_index") or one.is_cross_program_prefetch:
        yield f"cross_program_prefetch_index={one.cross_program_prefetch_index}"


def _compare(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"direction={plain(one.comparison_direction)}"


def _triangular_solve(one: Any, _: ShapeTexts) -> Iterator[str]:
    options = one.triangular_solve_options
    yield from _flags(options, "left_side", "lower", "unit_diagonal")
    if options.transpose_a:
        yield f"transpose_a={_name(_TRANSPOSES, options.transpose_a)}"


def _cholesky(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _flags(one.cholesky_options, "lower")


def _top_k(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"k={one.k}"
    yield f"largest={str(one.largest).lower()}"
    yield from _flags(one, "is_stable")


def _scan(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _dimensions(one, shapes)
    yield f"num_carries={one.num_carries}"
    yield from _flags(one, "is_reverse")
    if one.is_associative:
        yield f"is_associative={'true' if one.is_associative == 1 else 'false'}"


def _sort(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _dimensions(one, shapes)
    yield from _flags(one, "is_stable")


def _reshape(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.dimensions:
        yield f"inferred_dimension={one.dimensions[0]}"


def _slice(one: Any, _: ShapeTexts) -> Iterator[str]:
    strided = any(part.stride != 1 for part in one.slice_dimensions)
    parts = (
        f"[{part.start}:{part.limit}{f':{part.stride}' if strided else ''}]"
        for part in one.slice_dimensions
    )
    yield f"slice={{{', '.join(parts)}}}"


def _fusion(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield f"kind={plain(one.fusion_kind)}"
    yield from _aliasing(one, shapes)


def _rng(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"distribution={_name(_DISTRIBUTIONS, one.distribution)}"


def _parameter(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.HasField("parameter_replication"):
        leaves = one.parameter_replication.replicated_at_leaf_buffers
        if leaves:
            values = ",".join("true" if leaf else "false" for leaf in leaves)
            yield f"parameter_replication={{{values}}}"


def _tuple_index(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"index={one.tuple_index}"


def _reduce_precision(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"exponent_bits={one.exponent_bits}"
    yield f"mantissa_bits={one.mantissa_bits}"


def _infeed(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.infeed_config:
        yield f'infeed_config="{escaped(one.infeed_config)}"'


def _outfeed(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield f"outfeed_shape={shapes.text(one.outfeed_shape)}"
    if one.outfeed_config:
        yield f'outfeed_config="{escaped(one.outfeed_config)}"'


def _window(one: Any, _: ShapeTexts) -> Iterator[str]:
    if one.window.dimensions:
        yield window_text(one.window)


def _groups(one: Any) -> Iterator[str]:
    for name in ("feature_group_count", "batch_group_count"):
        if getattr(one, name) > 1:
            yield f"{name}={getattr(one, name)}"


def _precision(one: Any) -> Iterator[str]:
    config = one.precision_config
    if any(config.operand_precision):
        values = ",".join(_name(_PRECISIONS, number) for number in config.operand_precision)
        yield f"operand_precision={{{values}}}"
    if config.algorithm:
        yield f"algorithm={_name(_ALGORITHMS, config.algorithm)}"


def _convolution(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    yield from _window(one, shapes)
    yield dimension_labels(one.convolution_dimension_numbers)
    yield from _groups(one)
    if one.conv_kind:
        yield f"convolution_kind={_name(_CONVOLUTION_KINDS, one.conv_kind)}"
    yield from _precision(one)


def _custom_call(one: Any, shapes: ShapeTexts) -> Iterator[str]:
    if one.HasField("window"):
        yield window_text(one.window)
    if one.HasField("convolution_dimension_numbers"):
        yield dimension_labels(one.convolution_dimension_numbers)
    yield from _groups(one)
    yield from _precision(one)
    if one.padding_type:
        yield f"padding_type={_name(_PADDING_TYPES, one.padding_type)}"
    yield f'custom_call_target="{escaped(one.custom_call_target)}"'
    if one.constrain_layout:
        layouts = ", ".join(map(shapes.text, one.operand_shapes_with_layout))
        yield f"operand_layout_constraints={{{layouts}}}"
    yield from _flags(one, "custom_call_has_side_effect")
    if one.HasField("literal"):
        yield f"literal={literal_text(one.literal, shapes, always=True)}"
    yield from _aliasing(one, shapes)
    if one.custom_call_schedule:
        yield f"schedule={_name(_SCHEDULES, one.custom_call_schedule)}"
    if one.custom_call_api_version != _ORIGINAL_API:
        yield f"api_version={_name(_API_VERSIONS, one.custom_call_api_version)}"


def _pad(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield padding_text(one.padding_config)


def _dynamic_slice(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"dynamic_slice_sizes={index_text(one.dynamic_slice_sizes)}"


def _named_sets(message: Any, names: Iterable[str], optional: Iterable[str]) -> Iterator[str]:
    yield from (f"{name}={index_text(getattr(message, name))}" for name in names)
    for name in optional:
        if getattr(message, name):
            yield f"{name}={index_text(getattr(message, name))}"
    yield f"index_vector_dim={message.index_vector_dim}"


def _gather(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _named_sets(
        one.gather_dimension_numbers,
        ("offset_dims", "collapsed_slice_dims", "start_index_map"),
        ("operand_batching_dims", "start_indices_batching_dims"),
    )
    yield f"slice_sizes={index_text(one.gather_slice_sizes)}"
    yield from _flags(one, "indices_are_sorted")


def _scatter(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _named_sets(
        one.scatter_dimension_numbers,
        ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
        ("input_batching_dims", "scatter_indices_batching_dims"),
    )
    yield from _flags(one, "indices_are_sorted", "unique_indices")


def _iota(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"iota_dimension={one.dimensions[0] if one.dimensions else 0}"


def _dot_numbers(numbers: Any) -> Iterator[str]:
    for side in ("lhs", "rhs"):
        batch = getattr(numbers, f"{side}_batch_dimensions")
        if batch:
            yield f"{side}_batch_dims={index_text(batch)}"
        contracted = getattr(numbers, f"{side}_contracting_dimensions")
        yield f"{side}_contracting_dims={index_text(contracted)}"


def _dot(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield from _dot_numbers(one.dot_dimension_numbers)
    yield from _precision(one)


def _ragged_dot(one: Any, _: ShapeTexts) -> Iterator[str]:
    numbers = one.ragged_dot_dimension_numbers
    yield from _dot_numbers(numbers.dot_dimension_numbers)
    if numbers.lhs_ragged_dimensions:
        yield f"lhs_ragged_dims={index_text(numbers.lhs_ragged_dimensions)}"
    if numbers.rhs_group_dimensions:
        yield f"rhs_group_dims={index_text(numbers.rhs_group_dimensions)}"
    yield from _precision(one)


def _domain(one: Any, _: ShapeTexts) -> Iterator[str]:
    entry, out = sharding_text(one.domain_entry_sharding), sharding_text(one.domain_exit_sharding)
    yield f'domain={{kind="sharding", entry={entry}, exit={out}}}'


def _rng_state(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"delta={one.delta}"


def _rng_bits(one: Any, _: ShapeTexts) -> Iterator[str]:
    yield f"algorithm={_name(_RNG_ALGORITHMS, one.rng_algorithm)}"


_BY_OPCODE: dict[str, _Attributes] = {
    **dict.fromkeys(
        ("broadcast", "concatenate", "map", "reduce", "reverse", "transpose"), _dimensions
    ),
    **dict.fromkeys(("get-dimension-size", "set-dimension-size"), _dimension),
    **dict.fromkeys(("all-gather", "all-gather-start"), _all_gather),
    **dict.fromkeys(("all-reduce", "all-reduce-start"), _all_reduce),
    **dict.fromkeys(("collective-permute", "collective-permute-start"), _collective_permute),
    **dict.fromkeys(("collective-broadcast", "ragged-all-to-all"), _collective),
    **dict.fromkeys(("send", "send-done", "recv", "recv-done"), _send_recv),
    **dict.fromkeys(
        ("batch-norm-training", "batch-norm-inference", "batch-norm-grad"), _batch_norm
    ),
    **dict.fromkeys(("reduce-window", "select-and-scatter"), _window),
    "reduce-scatter": _reduce_scatter,
    "all-to-all": _all_to_all,
    "fft": _fft,
    "copy-start": _copy_start,
    "compare": _compare,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
    "topk": _top_k,
    "scan": _scan,
    "sort": _sort,
    "reshape": _reshape,
    "slice": _slice,
    "fusion": _fusion,
    "rng": _rng,
    "parameter": _parameter,
    "get-tuple-element": _tuple_index,
    "reduce-precision": _reduce_precision,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "pad": _pad,
    "dynamic-slice": _dynamic_slice,
    "gather": _gather,
    "scatter": _scatter,
    "iota": _iota,
    "dot": _dot,
    "scaled-dot": _dot,
    "ragged-dot": _ragged_dot,
    "domain": _domain,
    "rng-get-and-update-state": _rng_state,
    "rng-bit-generator": _rng_bits,
    "async-start": _async_start,
    "async-update": _aliasing,
}
