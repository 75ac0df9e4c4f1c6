"""The mesh and its axes in hovers of a module and of attributes."""

import pytest

from ide.hover.facts import card_at, facts

_TEXT = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %e {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %a = f32[8] all-reduce(%x), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true
  ROOT %p = f32[8] collective-permute(%a), source_target_pairs={{0,2},{2,0},{1,3},{3,1}}, \
channel_id=2
}
"""


def _facts_at(part: str) -> dict[str, str]:
    line = next(number for number, text in enumerate(_TEXT.split("\n")) if part in text)
    return facts(card_at(_TEXT, line, _TEXT.split("\n")[line].index(part)))


def test_hover_of_a_module_has_its_mesh() -> None:
    assert _facts_at("m, is_scheduled")["mesh"] == "data=2, model=2"


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("replica_groups", "over `model` (2 devices)"),
        ("source_target_pairs", "ring along `data` (2 devices)"),
    ],
)
def test_hover_of_groups_has_their_axes(attribute: str, text: str) -> None:
    assert _facts_at(attribute)["axes"] == f"{text} of the mesh data=2, model=2"
