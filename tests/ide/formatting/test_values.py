"""Formatting of attribute values."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.formatting.statement_format import format_attribute_value
from ide.formatting.whitespace import vary_whitespace

WORDS = vocabulary()
# As jaxlib 0.10.2 prints them; the examples of the vocabulary are one of each.
PRINTED = [
    ("metadata", '{op_type="a  b" op_name="{" source_line=3 profile_type={1,2} stack_frame_id=1}'),
    ("dimensions", "{}"),
    ("dimensions", "{0,-1,2}"),
    ("operand_precision", "{highest,default}"),
    ("window", "{size=3x3 stride=2x2 pad=0_1x-1_1 rhs_reversal=1x1}"),
    ("slice", "{[0:4], [0:8:2]}"),
    ("control-predecessors", "{%a, %b.1, c}"),
    ("source_target_pairs", "{{0,1},{1,0}}"),
    ("replica_groups", "{{0,1},{2,3}}"),
    ("replica_groups", "{}"),
    ("replica_groups", "[2,2]<=[4]"),
    ("replica_groups", "[2,2]<=[2,2]T(1,0)"),
    ("replica_groups", "mesh['x'=2,'y'=2] {'x','y'}"),
    ("replica_groups", "mesh['x'=4] {'x':(1)2}"),
    ("replica_groups", "mesh['x'=2,'y'=2]"),
    ("device_ids", "([2,2]T(1,0)) {'x'}"),
    ("device_ids", "(3,2,1,0) {'x'}"),
    ("sharding", "{}"),
    ("sharding", "{replicated}"),
    ("sharding", "{maximal device=1}"),
    ("sharding", "{{replicated}, /*index=5*/{maximal device=0}}"),
    ("sharding", "{replicated shard_like 2}"),
    ("sharding", "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"),
    (
        "sharding",
        "{devices=[2,1,2,2]0,1,2,3,4,5,6,7 last_tile_dims={manual, replicated} shard_as 3}",
    ),
    ("sharding", '{devices=[2]<=[2] metadata={{op_name="a  b" source_line=7}, {op_name="b"}}}'),
    ("sharding", "{mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}]}"),
    ("sharding", "{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x', 'y'}, {}]}"),
    ("sharding", "{mesh['x'=2,'y'=2,'z'=2], [{'x'}, {?}], unreduced={'y', 'z'}}"),
    ("sharding", "{mesh[], replicated}"),
    ("sharding", "{maximal_mesh[device_id=1]}"),
    ("domain", '{kind="sharding", entry={replicated}, exit={maximal device=0}}'),
    ("frontend_attributes", '{a="b , c",xla.sdy.meshes={mesh = #sdy.mesh<["x"=2,  "y"=2]>},d="e"}'),
    ("output_to_operand_aliasing", "{{0}: (0, {}), {1,2}: (2, {0,1})}"),
    ("input_output_alias", "{ {}: (0, {}, may-alias) }"),
    ("input_output_alias", "{ {0,1}: (0, {1,2}, may-alias), {2}: (1, {}, must-alias) }"),
    ("buffer_donor", "{ (0, {}), (1, {2,3}) }"),
    ("operand_layout_constraints", "{f32[2,3]{1,0:T(8,128)(2,1)}, (f32[2]{0}, s32[])}"),
    ("outfeed_shape", "(f32[2,3]{1,0}, /*index=1*/s32[])"),
    ("entry_computation_layout", "{(f32[<=2,3]{1,0:T(8,128)}, (s32[], b(f32[2]{0})))->f32[]}"),
    ("allow_spmd_sharding_propagation_to_output", "{true,false}"),
    ("parameter_replication", "{true,false}"),
    ("statistics", "{visualizing_index=1,stat-0=33.3}"),
    ("result_accuracy", "{tolerance={atol=0,rtol=1e-05,ulps=2}}"),
    ("result_accuracy", "{mode=highest}"),
    ("origin", '{({"x y" {0,1}}, {"y"})}'),
    ("origin", "{[synthetic_call]}"),
]
EXAMPLES = [
    (each.name, each.example) for each in (*WORDS.attributes.values(), *WORDS.header.values())
]  # fmt: skip
# Values that XLA keeps as text, and values of unknown attributes.
KEPT = {
    "backend_config", "block_scaling_config", "debug_attributes", "indices", "literal",
    "origin_recovery_table", "sparsity_config",
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), PRINTED + EXAMPLES)
def test_printed_values_are_unchanged(name: str, value: str) -> None:
    assert format_attribute_value(name, value) == value


@given(st.sampled_from([each for each in PRINTED + EXAMPLES if each[0] not in KEPT]), st.randoms())
def test_blanks_are_normalized(printed: tuple[str, str], chance: Random) -> None:
    name, value = printed
    assert format_attribute_value(name, vary_whitespace(value, chance, share=0.5)) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("backend_config", '{ "a" :  1,\n  "b": [1,2] }'),
        ("origin_recovery_table", '{\n  { "x" }: {"y"}\n}'),
        ("unknown_attribute", "{ 0, 1 }"),
        ("frontend_attributes", "{a={ b , c}}"),
        ("dimensions", "{0 1}"),
        ("dimensions", "{0,- 1}"),
        ("metadata", '{op_name="a", source_line=3}'),  # XLA reads the comma, and never prints it
        ("metadata", '{op_name="a" , what}'),
        # A second statement on the line, which XLA reads.
        ("metadata", '{op_name="a"} %b = f32[] add( %a,%a)'),
        ("dimensions", "{0, 1} %b = f32[] add( %a,%a)"),
        ("control-predecessors", "{%a,%b} ROOT %b = f32[] add( %a,%a)"),
        ("input_output_alias", "{{}: (0, {})} {}"),
        ("operand_layout_constraints", "{f32[ 2]} %b = f32[2] add( %a,%a)"),
        ("outfeed_shape", "f32[ 2] %b = f32[2] add( %a,%a)"),
        ("outfeed_shape", "(f32[2]{0},s32[]) %b = f32[2] add( %a,%a)"),
        ("replica_groups", "[2,2] <= [4] %b = f32[2] add( %a,%a)"),
        ("frontend_attributes", '{a= "b"} %b = f32[2] add( %a,%a)'),
    ],
)
def test_unknown_values_are_unchanged(name: str, value: str) -> None:
    assert format_attribute_value(name, value) == value
