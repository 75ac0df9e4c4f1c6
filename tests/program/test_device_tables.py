"""Which device has which part of an array."""

import pytest

from hlo_lsp.display.table import text_lines
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.model.sharding import Sharding, parse_sharding
from hlo_lsp.program.device_tables import device_table
from hlo_lsp.program.global_shapes import GlobalShape


@pytest.mark.parametrize(
    ("text", "shape", "lines"),
    [
        (
            "{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}",
            "f32[3,2048]",
            [
                "  dim 0  dim 1: 0-1,023  dim 1: 1,024-2,047",
                "  0-1    0               2",
                "  2-2    1               3",
            ],
        ),
        (
            "{devices=[1,2,2]<=[4] last_tile_dim_replicate}",
            "f32[8,8]",
            ["  dim 1  devices", "  0-3    0, 1", "  4-7    2, 3"],
        ),
        (
            "{devices=[4]<=[4]}",
            "f32[2]",
            ["  dim 0    devices", "  0-0      0", "  1-1      1", "  padding  2", "  padding  3"],
        ),
        (
            "{devices=[16]<=[16]}",
            "f32[16]",
            ["  devices of 16 parts: the table is for at most 8 x 8"],
        ),
        (
            "{devices=[2,2,2]<=[8]}",
            "f32[8,8,8]",
            ["  devices of 2 x 2 x 2 parts: the table is for at most 8 x 8"],
        ),
        ("{replicated}", "f32[8]", []),
        ("{devices=[2,2]<=[4] last_tile_dims={manual}}", "f32[8]", []),
    ],
)
def test_table_has_the_devices_of_each_part(text: str, shape: str, lines: list[str]) -> None:
    sharding, array = parse_sharding(text), try_shape(shape)
    assert isinstance(sharding, Sharding)
    assert isinstance(array, ArrayShape)
    table = device_table(GlobalShape(array, (), sharding))
    assert [one.rstrip() for one in text_lines([table] if table else [])] == lines
