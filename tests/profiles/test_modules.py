"""Tests for the module texts of profiled programs."""

import pytest

from hlo_lsp.profiles.modules import names_communication


@pytest.mark.parametrize(
    "name",
    [
        *("all-reduce", "all-gather-start.2", "collective-permute-done.7"),
        *(
            "ppermute.3",
            "psum_invariant.1",
            "all_gather.3",
            "reduce_scatter",
            "ragged_all_to_all.4",
        ),
    ],
)
def test_collective_is_known_by_its_name(name: str) -> None:
    assert names_communication(name)


@pytest.mark.parametrize("name", ["reduce.3", "psum_add_fusion", "wrapped_tanh", "permute"])
def test_other_name_is_no_collective(name: str) -> None:
    assert not names_communication(name)
