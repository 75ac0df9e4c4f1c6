"""The messages of XLA that the conversion reads.

The field numbers are those of xla/service/hlo.proto and xla/xla_data.proto in
https://github.com/openxla/xla. Fields that no text shows are left out; protobuf skips them.
"""

from hlo_lsp.protos.messages import message_classes, parse_fields

_INSTRUCTION = """
name:1:string opcode:2:string shape:3:ShapeProto metadata:7:OpMetadata literal:8:LiteralProto
parameter_number:9:int64 fusion_kind:11:string tuple_index:13:int64 dimensions:14:int64*
window:15:Window convolution_dimension_numbers:16:ConvolutionDimensionNumbers
slice_dimensions:17:SliceDimensions* exponent_bits:18:int32 mantissa_bits:19:int32
dynamic_slice_sizes:20:int64* padding_config:21:PaddingConfig outfeed_config:22:bytes
distribution:23:int32 epsilon:24:float feature_index:25:int64 channel_id:26:int64
infeed_config:27:bytes custom_call_target:28:string outfeed_shape:29:ShapeProto
dot_dimension_numbers:30:DotDimensionNumbers fft_type:31:int32 fft_length:32:int64*
gather_dimension_numbers:33:GatherDimensionNumbers gather_slice_sizes:34:int64* id:35:int64
operand_ids:36:int64* control_predecessor_ids:37:int64* called_computation_ids:38:int64*
sharding:40:OpSharding backend_config:43:bytes is_host_transfer:47:bool
scatter_dimension_numbers:48:ScatterDimensionNumbers replica_groups:49:ReplicaGroup*
feature_group_count:50:int64 precision_config:51:PrecisionConfig
source_target_pairs:52:SourceTarget* domain_entry_sharding:54:OpSharding
domain_exit_sharding:55:OpSharding constrain_layout:56:bool
operand_shapes_with_layout:57:ShapeProto* batch_group_count:58:int64
triangular_solve_options:59:TriangularSolveOptions is_stable:60:bool
parameter_replication:61:ParameterReplication cholesky_options:62:CholeskyOptions
comparison_direction:63:string custom_call_has_side_effect:65:bool delta:66:int64
indices_are_sorted:67:bool frontend_attributes:68:FrontendAttributes unique_indices:69:bool
rng_algorithm:70:int32 use_global_device_ids:71:bool comparison_type:72:string
is_cross_program_prefetch:73:bool output_operand_aliasing:74:OutputOperandAliasing*
padding_type:75:int32 custom_call_schedule:76:int32 custom_call_api_version:77:int32
async_execution_thread:79:string cross_program_prefetch_index:80:int32 k:81:int64
statistics_viz:82:StatisticsViz largest:85:bool collective_device_list:87:CollectiveDeviceList
original_value:88:OriginalValue is_composite:89:bool
ragged_dot_dimension_numbers:90:RaggedDotDimensionNumbers result_accuracy:91:ResultAccuracy
iota_collective_device_list:92:IotaDevices mesh_axes_replica_group_list:93:MeshAxesReplicaGroups
is_reverse:94:bool num_carries:95:int64 is_associative:96:int32 conv_kind:97:int32
sparsity_config:98:SparsityConfig backend_config_payload:99:Payload
comparison_order:102:string
"""
_LITERAL = """
shape:1:ShapeProto preds:2:bool* u8s:3:bytes s32s:4:int32* s64s:5:int64* u32s:6:uint32*
u64s:7:uint64* f32s:8:float* f64s:9:double* tuple_literals:10:LiteralProto* f16s:11:bytes
c64s:12:float* bf16s:13:bytes s8s:15:bytes u16s:16:bytes s16s:17:bytes c128s:18:double*
f8e5m2s:19:bytes f8e4m3fns:20:bytes s4s:21:bytes u4s:22:bytes f8e4m3b11fnuzs:23:bytes
f8e5m2fnuzs:24:bytes f8e4m3fnuzs:25:bytes s2s:26:bytes u2s:27:bytes f8e4m3s:28:bytes
f8e3m4s:29:bytes s1s:30:bytes u1s:31:bytes f4e2m1fns:32:bytes f8e8m0fnus:33:bytes
dynamic_sizes:34:int32* f6e3m2fns:35:bytes f6e2m3fns:36:bytes
"""
_MODULE = """
name:1:string entry_computation_name:2:string computations:3:HloComputationProto*
host_program_shape:4:ProgramShapeProto id:5:int64 entry_computation_id:6:int64
schedule:7:HloScheduleProto input_output_alias:8:InputOutputAlias
device_assignment:15:DeviceAssignment stack_frame_index:17:StackFrameIndex
buffer_donor:18:BufferDonor frontend_attributes:19:FrontendAttributes
original_value_recovery_table:20:RecoveryTable payloads:22:bytes*
backend_config:25:bytes
"""
_OP_METADATA = """
op_type:1:string op_name:2:string source_file:3:string source_line:4:int32 profile_type:5:int32*
deduplicated_name:12:string stack_frame_id:15:int32 scheduling_name:16:string
source_end_line:17:int32 source_column:18:int32 source_end_column:19:int32
metadata_payload:20:Payload
"""
_LAYOUT = """
minor_to_major:1:int64* tiles:6:Tile* element_size_in_bits:7:int64 memory_space:8:int64
physical_shape:10:ShapeProto index_primitive_type:11:int32 pointer_primitive_type:12:int32
dynamic_shape_metadata_prefix_bytes:15:int64 tail_padding_alignment_in_elements:16:int64
split_configs:17:SplitConfig*
"""
_OP_SHARDING = """
type:1:int32 tile_assignment_dimensions:3:int64* tile_assignment_devices:4:int64*
tuple_shardings:5:OpSharding* replicate_on_last_tile_dim:6:bool metadata:7:OpMetadata*
last_tile_dims:8:int32* iota_reshape_dims:9:int64* iota_transpose_perm:10:int32*
is_shard_group:11:bool shard_group_id:12:int64 shard_group_type:13:int32
named_sharding:14:NamedSharding
"""
_GATHER = """
offset_dims:1:int64* collapsed_slice_dims:2:int64* start_index_map:3:int64*
index_vector_dim:4:int64 operand_batching_dims:5:int64* start_indices_batching_dims:6:int64*
"""
_SCATTER = """
update_window_dims:1:int64* inserted_window_dims:2:int64* scatter_dims_to_operand_dims:3:int64*
index_vector_dim:4:int64 input_batching_dims:5:int64* scatter_indices_batching_dims:6:int64*
"""
_CONVOLUTION = """
kernel_input_feature_dimension:3:int64 kernel_output_feature_dimension:4:int64
kernel_spatial_dimensions:6:int64* input_batch_dimension:7:int64 input_feature_dimension:8:int64
output_batch_dimension:9:int64 output_feature_dimension:10:int64
input_spatial_dimensions:11:int64* output_spatial_dimensions:12:int64*
"""
_ALLOCATION = """
index:1:int64 size:2:int64 is_thread_local:3:bool is_entry_computation_parameter:5:bool
parameter_number:6:int64 maybe_live_out:7:bool color:8:int64 assigned:9:Assigned*
parameter_shape_index:10:int64* is_tuple:11:bool is_constant:12:bool
"""
_TEXTS = {
    "HloInstructionProto": _INSTRUCTION,
    "LiteralProto": _LITERAL,
    "HloModuleProto": _MODULE,
    "OpMetadata": _OP_METADATA,
    "LayoutProto": _LAYOUT,
    "OpSharding": _OP_SHARDING,
    "GatherDimensionNumbers": _GATHER,
    "ScatterDimensionNumbers": _SCATTER,
    "ConvolutionDimensionNumbers": _CONVOLUTION,
    "BufferAllocationProto": _ALLOCATION,
    "SliceDimensions": "start:1:int64 limit:2:int64 stride:3:int64",
    "HloComputationProto": "name:1:string instructions:2:HloInstructionProto* id:5:int64"
    " root_id:6:int64 execution_thread:8:string",
    "HloScheduleProto": "sequences:1:ScheduleEntry*",
    "ScheduleEntry": "key:1:int64 value:2:InstructionSequence",
    "InstructionSequence": "instruction_ids:1:int64*",
    "InputOutputAlias": "entries:1:AliasEntry*",
    "AliasEntry": "output_shape_index:1:int64* parameter_number:2:int64"
    " parameter_shape_index:3:int64* kind:4:int32",
    "BufferDonor": "entries:1:DonorEntry*",
    "DonorEntry": "parameter_number:1:int64 parameter_shape_index:2:int64*",
    "DeviceAssignment": "replica_count:1:int32 computation_count:2:int32",
    "StackFrameIndex": "file_names:1:string* function_names:2:string*"
    " file_locations:3:FileLocation* stack_frames:4:StackFrame*",
    "FileLocation": "file_name_id:1:int32 function_name_id:2:int32 line:3:int32 column:4:int32"
    " end_line:5:int32 end_column:6:int32",
    "StackFrame": "file_location_id:1:int32 parent_frame_id:2:int32",
    "RecoveryTable": "entries:1:RecoveryEntry*",
    "RecoveryEntry": "old_original_array:1:OriginalArray new_original_array:2:OriginalArray"
    " recovery_module:3:HloModuleProto",
    "Payload": "value:1:bytes id:2:int64",
    "ShapeProto": "element_type:2:int32 dimensions:3:int64* tuple_shapes:4:ShapeProto*"
    " layout:5:LayoutProto is_dynamic_dimension:6:bool*",
    "ProgramShapeProto": "parameters:1:ShapeProto* result:2:ShapeProto",
    "Tile": "dimensions:1:int64*",
    "SplitConfig": "dimension:1:int64 split_indices:2:int64*",
    "Window": "dimensions:1:WindowDimension*",
    "WindowDimension": "size:1:int64 stride:2:int64 padding_low:3:int64 padding_high:4:int64"
    " window_dilation:5:int64 base_dilation:6:int64 window_reversal:7:bool",
    "PaddingConfig": "dimensions:1:PaddingDimension*",
    "PaddingDimension": "edge_padding_low:1:int64 edge_padding_high:2:int64"
    " interior_padding:3:int64",
    "DotDimensionNumbers": "lhs_contracting_dimensions:1:int64*"
    " rhs_contracting_dimensions:2:int64* lhs_batch_dimensions:3:int64*"
    " rhs_batch_dimensions:4:int64*",
    "RaggedDotDimensionNumbers": "dot_dimension_numbers:1:DotDimensionNumbers"
    " lhs_ragged_dimensions:2:int64* rhs_group_dimensions:3:int64*",
    "SparsityConfig": "lhs:1:TensorSparsity rhs:2:TensorSparsity",
    "TensorSparsity": "num_non_zero:1:int64 block_size:2:int64 dimension:3:int64 stride:4:int64",
    "TriangularSolveOptions": "left_side:1:bool lower:2:bool unit_diagonal:3:bool"
    " transpose_a:4:int32",
    "CholeskyOptions": "lower:1:bool",
    "FrontendAttributes": "map:1:StringEntry*",
    "StringEntry": "key:1:string value:2:string",
    "Statistic": "stat_name:1:string stat_val:2:double",
    "StatisticsViz": "stat_index_to_visualize:1:int64 statistics:2:Statistic*",
    "NamedSharding": "mesh:2:Mesh dim_shardings:3:DimensionSharding* replicated_axes:4:AxisRef*"
    " unreduced_axes:5:AxisRef* metadata:6:OpMetadata* manual_axes:7:AxisRef*",
    "DimensionSharding": "axes:1:AxisRef* is_closed:2:bool",
    "Mesh": "axes:1:MeshAxis* device_ids:2:int64* iota_transform:3:IotaTransform",
    "MeshAxis": "name:1:string size:2:int64",
    "IotaTransform": "reshape_dims:1:int64* transpose_perm:2:int64*",
    "AxisRef": "mesh_axis_index:1:int64 sub_axis_info:2:SubAxis",
    "SubAxis": "pre_size:1:int64 size:2:int64",
    "ReplicaGroup": "replica_ids:1:int64*",
    "CollectiveDeviceList": "replica_groups:1:ReplicaGroup* iota_replica_group_list:2:IotaDevices",
    "IotaDevices": "num_replica_groups:1:int64 num_devices_per_group:2:int64"
    " iota_reshape_dims:3:int64* iota_transpose_perm:4:int32*",
    "MeshAxesReplicaGroups": "mesh:1:Mesh axes:2:AxisRef*",
    "SourceTarget": "source:1:int64 target:2:int64",
    "ResultAccuracy": "mode:1:int32 tolerance:2:Tolerance",
    "Tolerance": "atol:1:double rtol:2:double ulps:3:int64",
    "PrecisionConfig": "operand_precision:1:int32* algorithm:2:int32",
    "ParameterReplication": "replicated_at_leaf_buffers:1:bool*",
    "OutputOperandAliasing": "output_shape_index:1:int64* operand_index:2:int64"
    " operand_shape_index:3:int64*",
    "OriginalArray": "instruction_name:1:string shape_index:2:int64*",
    "OriginalValue": "elements:1:OriginalValueElement* is_synthetic_call:2:bool",
    "OriginalValueElement": "shape_index:1:int64* original_array:2:OriginalArray",
    "LogicalBufferProto": "id:1:int64 size:2:int64 defined_at:3:Location color:4:int64",
    "Location": "instruction_name:2:string shape_index:3:int64* instruction_id:4:int64",
    "Assigned": "logical_buffer_id:1:int64 offset:2:int64 size:3:int64",
    "BufferAlias": "source_buffer_id:1:int64 location:2:Location",
    "PeakBuffers": "index:1:int64",
    "BufferAssignmentProto": "logical_buffers:1:LogicalBufferProto* buffer_aliases:2:BufferAlias*"
    " buffer_allocations:3:BufferAllocationProto* peak_buffers:5:PeakBuffers*",
    "HloProto": "hlo_module:1:HloModuleProto buffer_assignment:3:BufferAssignmentProto",
    "HloSnapshot": "hlo:1:HloProto execution_platform:4:string",
}
TABLE = {name: parse_fields(text) for name, text in _TEXTS.items()}
CLASSES = message_classes(TABLE, TABLE)
_UNDECODED = {"HloComputationProto": parse_fields("instructions:2:bytes*")}
CLASSES_WITHOUT_INSTRUCTIONS = message_classes({**TABLE, **_UNDECODED}, TABLE)
"""The same messages with instructions as bytes, for a look at how many there are."""
