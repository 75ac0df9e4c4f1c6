"""Groups of devices in words."""

import pytest

from hlo_lsp.analysis.cards.card import Fact
from hlo_lsp.analysis.cards.device_groups import group_facts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{0,1},{2,3}}", "2 groups of 2 devices: {0,1}, {2,3}"),
        ("[2,2]<=[2,2]T(1,0)", "2 groups of 2 devices: {0,2}, {1,3}"),
        ("{}", "all devices in one group"),
        ("{{0,1,2,3}}", "1 group of 4 devices: {0,1,2,3}"),
        ("{{0},{1,2}}", "2 groups: {0}, {1,2}"),
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
def test_groups_in_words(text: str, words: str) -> None:
    assert group_facts(text) == [Fact("replica groups", words)]


@pytest.mark.parametrize("text", ["", "{{0,1}", "[2,2]<=[5]", "mesh['x'=2] {'y'}"])
def test_of_groups_that_cannot_be_read_nothing_is_told(text: str) -> None:
    assert group_facts(text) == []
