"""Device groups as text."""

import pytest

from hlo_lsp.ide.hover.sharding import describe_replica_groups, group_facts
from hlo_lsp.model.device_groups import GroupMode
from hlo_lsp.model.dump_file import DumpFile


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{0,1},{2,3}}", "2 groups of 2 devices: {0,1}, {2,3}"),
        ("[2,2]<=[2,2]T(1,0)", "2 groups of 2 devices: {0,2}, {1,3}"),
        ("{}", "all devices in one group"),
        ("{{0,1,2,3}}", "1 group of 4 devices: {0,1,2,3}"),
        ("{{0},{1,2}}", "2 groups of devices: {0}, {1,2}"),
        ("[8,2]<=[16]", "8 groups of 2 devices: {0,1}, {2,3}, {4,5}, {6,7} and 4 more"),
        ("[1,8]<=[8]", "1 group of 8 devices: {0,1,2,3,4,5,6,7}"),
        ("{{8,7,6,5,4,3,2,1,0}}", "1 group of 9 devices: {8,7,6,5,...,0}"),
        ("[2,512]<=[512,2]T(1,0)",
         "2 groups of 512 devices: {0,2,4,6,...,1022}, {1,3,5,7,...,1023}"),
        ("mesh['x'=2,'y'=2] {'x'}",
         "2 groups of 2 devices by axis x of the mesh x=2, y=2: {0,2}, {1,3}"),
        ("mesh['x'=4,'y'=2] {'x':(2)2,'y'}",
         "2 groups of 4 devices by axes x:(2)2, y of the mesh x=4, y=2: {0,1,2,3}, {4,5,6,7}"),
    ],
)  # fmt: skip
def test_replica_groups_as_text(text: str, words: str) -> None:
    assert describe_replica_groups(text, GroupMode.DEVICES) == words


@pytest.mark.parametrize("text", ["", "{{0,1}", "[2,2]<=[5]", "mesh['x'=2] {'y'}"])
def test_invalid_groups_have_no_text(text: str) -> None:
    assert describe_replica_groups(text, GroupMode.DEVICES) == ""


@pytest.mark.parametrize(
    ("opcode", "attributes", "words"),
    [
        ("all-reduce", "use_global_device_ids=true, channel_id=1", "1 group of 2 devices: {0,1}"),
        ("all-reduce", "channel_id=1", "1 group of 2 replicas with all their partitions: {0,1}"),
        ("all-reduce-start", "channel_id=1, use_global_device_ids=false",
         "1 group of 2 replicas with all their partitions: {0,1}"),
        ("all-reduce", "dimensions={0}", "1 group of 2 replicas: {0,1}"),
        ("all-to-all", "channel_id=1", "1 group of 2 partitions: {0,1}"),
        ("all-to-all", "dimensions={0}", "1 group of 2 replicas: {0,1}"),
    ],
)  # fmt: skip
def test_group_numbers_have_a_unit(opcode: str, attributes: str, words: str) -> None:
    assert _group_text(f"{opcode}(%x), replica_groups={{{{0,1}}}}, {attributes}") == words


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("all-reduce(%x), channel_id=1", "all devices in one group"),
        ("all-reduce(%x)", "all replicas in one group"),
        ("all-to-all(%x), channel_id=1", "all partitions in one group"),
    ],
)
def test_empty_groups_mean_one_group(rest: str, words: str) -> None:
    assert _group_text(f"{rest}, replica_groups={{}}") == words


def _group_text(rest: str) -> str:
    file = DumpFile.of_text(f"HloModule m\n\nENTRY %e () -> f32[] {{\n  %c = f32[] {rest}\n}}")
    (instruction,) = file.module.instructions.all("c")
    (fact,) = group_facts(instruction.parsed)
    assert fact.label == "replica groups"
    return fact.text
