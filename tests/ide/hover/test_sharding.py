"""Shardings as text, before and after the partitioner."""

import pytest

from hlo_lsp.ide.hover.sharding import describe_replica_groups, sharding_facts
from hlo_lsp.model.device_groups import GroupMode


def _facts(text: str, shape: str = "", *, is_shard: bool = False) -> dict[str, str]:
    facts = sharding_facts(text, shape, is_shard=is_shard)
    assert len({fact.label for fact in facts}) == len(facts)
    return {fact.label: fact.text for fact in facts}


@pytest.mark.parametrize(
    ("text", "shape", "words"),
    [
        ("{devices=[2,4]<=[8]}", "f32[1024,512]",
         "dim 0 in 2 parts, dim 1 in 4 parts over 8 devices; each device holds `f32[512,128]`, "
         "262,144 B (256.0 KiB) of 2,097,152 B (2.00 MiB)"),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "bf16[8,2]{1,0:T(8,128)(2,1)}",
         "dim 0 in 2 parts over 4 devices, each part replicated on 2; "
         "each device holds `bf16[4,2]`, 16 B of 32 B"),
        ("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", "f32[8,8]",
         "no dim is split over 4 devices, each part replicated on 4; "
         "each device holds `f32[8,8]`, 256 B"),
        ("{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, manual}}", "f32[8,8]",
         "dim 0 in 2 parts over 8 devices, unreduced over 2 (partial sums), "
         "manual over 2 (partitioned by the program); "
         "each device holds `f32[4,8]`, 128 B of 256 B"),
        ("{mesh['x'=2,'y'=4], [{'x', 'y':(1)2}, {?}], manual={'y':(2)2}}", "f32[8,8]",
         "dim 0 in 4 parts by axes x, y:(1)2 over 8 devices, "
         "manual over 2 by axis y:(2)2 (partitioned by the program), "
         "dim 1 may be split further; each device holds `f32[2,8]`, 64 B of 256 B"),
        ("{replicated}", "f32[8]",
         "replicated: the whole array on each device; "
         "each device holds `f32[8]`, 32 B"),
        ("{mesh['x'=2,'y'=2], replicated}", "f32[8]",
         "replicated: the whole array on each of 4 devices; each device holds `f32[8]`, 32 B"),
        ("{maximal device=3}", "f32[8]",
         "the whole array on device 3 only; "
         "each device holds `f32[8]`, 32 B"),
        ("{manual}", "f32[8]",
         "manual: partitioned by the program, the shape is the shard on each device; "
         "each device holds `f32[8]`, 32 B"),
        ("{unreduced}", "f32[8]",
         "unreduced: partial sums of the whole array on each device; "
         "each device holds `f32[8]`, 32 B"),
        ("{unknown}", "f32[8]", "unknown: a placeholder that any other sharding overrides"),
        ("{devices=[2]<=[2] shard_as 3}", "f32[8]",
         "dim 0 in 2 parts over 2 devices; each device holds `f32[4]`, 16 B of 32 B; "
         "the same as shard group 3"),
        ("{devices=[2]<=[2] shard_like 3}", "",
         "dim 0 in 2 parts over 2 devices; "
         "as close as possible to shard group 3"),
        ("{devices=[2]<=[2]}", "", "dim 0 in 2 parts over 2 devices"),
        ("{devices=[2,2]<=[4]}", "f32[8]", "dim 0 in 2 parts, dim 1 in 2 parts over 4 devices"),
        ("{devices=[2,1]<=[2]}", "f32[4,?]",
         "dim 0 in 2 parts over 2 devices; each device holds `f32[2,?]`"),
        ("{devices=[2]<=[2]}", "s4[10]{0:E(4)}",
         "dim 0 in 2 parts over 2 devices; each device holds `s4[5]`, 3 B of 5 B"),
    ],
)  # fmt: skip
def test_sharding_as_text(text: str, shape: str, words: str) -> None:
    assert _facts(text, shape)["sharding"] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{devices=[2,2]<=[4]}", "in row-major order on devices 0, 1, 2, 3"),
        ("{devices=[2,2]<=[2,2]T(1,0)}", "in row-major order on devices 0, 2, 1, 3"),
        ("{devices=[4,4]<=[16]}", "in row-major order on devices 0, 1, 2, 3, ..., 15"),
        ("{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
         "in row-major order on devices {0,2}, {1,3}"),
        ("{mesh['x'=8,'y'=2], [{'x'}]}",
         "in row-major order on devices {0,1}, {2,3}, {4,5}, {6,7} and 4 more"),
        ("{devices=[2,2]<=[4] last_tile_dims={manual}}", None),
        ("{devices=[1,4]<=[4] last_tile_dim_replicate}", None),
        ("{replicated}", None),
        ("{maximal device=0}", None),
    ],
)  # fmt: skip
def test_parts_list_their_devices(text: str, words: str | None) -> None:
    assert _facts(text).get("parts") == words


@pytest.mark.parametrize(
    ("text", "shape", "words"),
    [
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "bf16[512,512]",
         "dim 0 in 2 parts over 4 devices, each part replicated on 2; each device holds "
         "`bf16[512,512]`, 524,288 B (512.0 KiB)"),
        ("{replicated}", "f32[8]",
         "replicated: the whole array on each device; "
         "each device holds `f32[8]`, 32 B"),
        ("{devices=[4]<=[4]}", "f32[3]",
         "dim 0 in 4 parts over 4 devices; each device holds `f32[3]`, 12 B"),
    ],
)  # fmt: skip
def test_shape_after_partitioner_is_one_shard(text: str, shape: str, words: str) -> None:
    assert _facts(text, shape, is_shard=True)["sharding"] == words


def test_tuple_lists_each_distinct_sharding_once() -> None:
    text = "{{replicated}, {devices=[2]<=[2]}, {replicated}, {devices=[2]<=[2]}}"
    assert _facts(text, "(f32[3], f32[4], (s8[], f32[4]))") == {
        "sharding {0}": "and {2,0}: replicated: the whole array on each device",
        "sharding {1}": "and {2,1}: dim 0 in 2 parts over 2 devices",
    }


def test_single_sharding_applies_to_all_elements() -> None:
    assert _facts("{maximal device=0}", "(f32[3], (f32[3]))") == {
        "sharding": "the whole array on device 0 only"
    }


def test_tuple_of_different_length_has_numbered_elements() -> None:
    assert _facts("{{replicated}, {manual}}", "(f32[3], f32[3], f32[3])") == {
        "sharding {0}": "replicated: the whole array on each device",
        "sharding {1}": "manual: partitioned by the program, the shape is the shard on each device",
    }


def test_distinct_shardings_are_limited() -> None:
    text = "{" + ", ".join(f"{{maximal device={n}}}" for n in range(9)) + "}"
    facts = _facts(text)
    assert list(facts) == [f"sharding {{{n}}}" for n in range(4)] + ["shardings"]
    assert facts["shardings"] == "and 5 more"


def test_indices_of_equal_shardings_are_limited() -> None:
    facts = _facts("{" + ", ".join(["{replicated}"] * 9) + "}", f"({', '.join(['f32[2]'] * 9)})")
    assert facts == {
        "sharding {0}": "and {1}, {2}, {3}, {4} and 4 more: "
        "replicated: the whole array on each device"
    }


@pytest.mark.parametrize(
    "text", ["", "{new}", "{devices=[2,2]<=[5]}", '"#sdy.sharding<@mesh, []>"', "{{replicated}, x}"]
)
def test_invalid_sharding_has_no_facts(text: str) -> None:
    assert sharding_facts(text, "f32[8]") == []


def test_numbers_of_groups_have_no_limit() -> None:
    text = describe_replica_groups("[1000000000000,2]<=[2000000000000]", GroupMode.PARTITIONS)
    assert text.startswith("1,000,000,000,000 groups of 2 partitions: {0,1}, {2,3}, ")
    assert text.endswith(" and 999,999,999,996 more")
