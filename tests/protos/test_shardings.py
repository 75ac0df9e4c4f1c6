"""Shardings and device lists are printed as XLA prints them."""

import pytest

from hlo_lsp.protos.shardings import replica_groups_text, sharding_text
from protos.messages import message

_MESH = 'mesh { axes { name: "x" size: 2 } axes { name: "y" size: 4 } }'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("type: 0", "{replicated}"),
        ("type: 4", "{manual}"),
        ("type: 1 tile_assignment_devices: 3", "{maximal device=3}"),
        (
            "type: 3 tile_assignment_dimensions: [2, 1] tile_assignment_devices: [1, 0]",
            "{devices=[2,1]1,0}",
        ),
        (
            "type: 3 tile_assignment_dimensions: [2, 1] iota_reshape_dims: 2"
            " iota_transpose_perm: 0 replicate_on_last_tile_dim: true",
            "{devices=[2,1]<=[2] last_tile_dim_replicate}",
        ),
        (
            "type: 3 tile_assignment_dimensions: [4, 2] iota_reshape_dims: [2, 4]"
            " iota_transpose_perm: [1, 0] last_tile_dims: [4, 0]",
            "{devices=[4,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}",
        ),
        ("type: 2 tuple_shardings { type: 0 } tuple_shardings { type: 4 }",
         "{{replicated}, {manual}}"),
        ("type: 0 is_shard_group: true shard_group_id: 7 shard_group_type: 1",
         "{replicated shard_like 7}"),
        ('type: 0 metadata { op_name: "a" }', '{replicated metadata={op_name="a"}}'),
        (
            f"named_sharding {{ {_MESH} dim_shardings {{ axes {{ mesh_axis_index: 1 }}"
            " is_closed: true } dim_shardings {} replicated_axes { sub_axis_info { pre_size: 1"
            " size: 2 } } }",
            "{mesh['x'=2,'y'=4], [{'y'}, {?}], replicated={'x':(1)2}}",
        ),
    ],
)  # fmt: skip
def test_shardings(text: str, expected: str) -> None:
    assert sharding_text(message("OpSharding", text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "{}"),
        ("replica_groups { replica_ids: [0, 1] } replica_groups { replica_ids: [2, 3] }",
         "{{0,1},{2,3}}"),
        ("collective_device_list { replica_groups { replica_ids: [0, 1] } }", "{{0,1}}"),
        (
            "iota_collective_device_list { num_replica_groups: 2 num_devices_per_group: 4"
            " iota_reshape_dims: [4, 2] iota_transpose_perm: [1, 0] }",
            "[2,4]<=[4,2]T(1,0)",
        ),
        (
            f"mesh_axes_replica_group_list {{ {_MESH} axes {{ mesh_axis_index: 1 }} }}",
            "mesh['x'=2,'y'=4] {'y'}",
        ),
    ],
)  # fmt: skip
def test_replica_groups(text: str, expected: str) -> None:
    assert replica_groups_text(message("HloInstructionProto", text)) == expected
