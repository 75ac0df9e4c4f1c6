"""The attributes of instructions are printed as XLA prints them."""

import pytest

from hlo_lsp.protos.attributes import own_attributes
from hlo_lsp.protos.instructions import InstructionPrinter
from hlo_lsp.protos.shapes import ShapeTexts
from protos.messages import message


@pytest.mark.parametrize(
    ("opcode", "text", "expected"),
    [
        ("broadcast", "dimensions: [0, 2]", "dimensions={0,2}"),
        ("slice", "slice_dimensions { start: 1 limit: 4 stride: 1 }", "slice={[1:4]}"),
        ("slice", "slice_dimensions { limit: 4 stride: 2 }", "slice={[0:4:2]}"),
        ("fusion", 'fusion_kind: "kLoop"', "kind=kLoop"),
        (
            "fusion",
            'fusion_kind: "kOutput" output_operand_aliasing { output_shape_index: 0'
            " operand_index: 1 }",
            "kind=kOutput, output_to_operand_aliasing={{0}: (1, {})}",
        ),
        ("get-tuple-element", "tuple_index: 2", "index=2"),
        ("iota", "dimensions: 1", "iota_dimension=1"),
        ("reshape", "", ""),
        ("compare", 'comparison_direction: "LT"', "direction=LT"),
        ("sort", "dimensions: 0 is_stable: true", "dimensions={0}, is_stable=true"),
        (
            "dot",
            "dot_dimension_numbers { lhs_contracting_dimensions: 1 rhs_contracting_dimensions: 0 }"
            " precision_config { operand_precision: [2, 0] algorithm: 6 }",
            "lhs_contracting_dims={1}, rhs_contracting_dims={0},"
            " operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32",
        ),
        (
            "gather",
            "gather_dimension_numbers { offset_dims: 1 collapsed_slice_dims: 0 start_index_map: 0"
            " index_vector_dim: 1 operand_batching_dims: 2 } gather_slice_sizes: [1, 64]"
            " indices_are_sorted: true",
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},"
            " operand_batching_dims={2}, index_vector_dim=1, slice_sizes={1,64},"
            " indices_are_sorted=true",
        ),
        (
            "all-reduce",
            "channel_id: 3 replica_groups { replica_ids: [0, 1] } use_global_device_ids: true",
            "channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true",
        ),
        ("all-gather", "dimensions: 1", "replica_groups={}, dimensions={1}"),
        ("collective-broadcast", "", "replica_groups={}"),
        (
            "collective-permute",
            "source_target_pairs { target: 1 } source_target_pairs { source: 1 }",
            "source_target_pairs={{0,1},{1,0}}",
        ),
        ("send", "channel_id: 1 is_host_transfer: true", "channel_id=1, is_host_transfer=true"),
        ("copy-start", "cross_program_prefetch_index: 0", "cross_program_prefetch_index=0"),
        ("copy-start", "", ""),
        ("async-start", 'async_execution_thread: "main"', ""),
        ("async-start", 'async_execution_thread: "sc"', 'async_execution_thread="sc"'),
        (
            "custom-call",
            'custom_call_target: "a\\"b" custom_call_has_side_effect: true'
            " custom_call_schedule: 1 custom_call_api_version: 4 constrain_layout: true"
            " operand_shapes_with_layout { element_type: 11 }",
            'custom_call_target="a\\"b", operand_layout_constraints={f32[]},'
            " custom_call_has_side_effect=true, schedule=SCHEDULE_LATEST,"
            " api_version=API_VERSION_TYPED_FFI",
        ),
        ("custom-call", "custom_call_api_version: 1", 'custom_call_target=""'),
        ("rng-bit-generator", "rng_algorithm: 2", "algorithm=rng_philox"),
        ("rng", "distribution: 1", "distribution=rng_uniform"),
        ("fft", "fft_type: 2 fft_length: 8", "fft_type=RFFT, fft_length={8}"),
        (
            "triangular-solve",
            "triangular_solve_options { left_side: true transpose_a: 1 }",
            "left_side=true, transpose_a=NO_TRANSPOSE",
        ),
        ("batch-norm-training", "epsilon: 0.001", "epsilon=0.001, feature_index=0"),
        ("dynamic-slice", "dynamic_slice_sizes: [1, 2]", "dynamic_slice_sizes={1,2}"),
        ("reduce-precision", "exponent_bits: 8", "exponent_bits=8, mantissa_bits=0"),
        ("outfeed", "outfeed_shape { element_type: 4 }", "outfeed_shape=s32[]"),
        (
            "domain",
            "domain_entry_sharding { type: 1 tile_assignment_devices: 0 } domain_exit_sharding {}",
            'domain={kind="sharding", entry={maximal device=0}, exit={replicated}}',
        ),
        ("add", "dimensions: 0", ""),
        ("opcode-of-a-later-release", "dimensions: 0", ""),
    ],
)
def test_attributes(opcode: str, text: str, expected: str) -> None:
    instruction = message("HloInstructionProto", text)
    assert ", ".join(own_attributes(instruction, opcode, ShapeTexts())) == expected


@pytest.mark.parametrize(
    ("element_type", "comparison", "expected"),
    [
        (11, 'comparison_type: "FLOAT"', ""),
        (11, 'comparison_type: "TOTALORDER"', ", type=TOTALORDER"),
        (11, 'comparison_order: "TOTAL"', ", order=TOTAL"),
        (4, 'comparison_order: "TOTAL"', ""),
        (8, 'comparison_type: "UNSIGNED"', ""),
        (8, 'comparison_type: "SIGNED"', ", type=SIGNED"),
    ],
)
def test_unusual_comparisons_show_their_type(
    element_type: int, comparison: str, expected: str
) -> None:
    module = message(
        "HloModuleProto",
        f"""computations {{ id: 1
          instructions {{ id: 1 name: "x" opcode: "parameter"
            shape {{ element_type: {element_type} }} }}
          instructions {{ id: 2 name: "y" opcode: "compare" operand_ids: [1, 1]
            shape {{ element_type: 1 }} comparison_direction: "EQ" {comparison} }} }}""",
    )
    text = InstructionPrinter(module).text(module.computations[0].instructions[1])
    assert text == f"%y = pred[] compare(%x, %x), direction=EQ{expected}"
