"""Tests for the list of donations, compared with the numbers of ``memory_analysis()``."""

from pathlib import Path

import pytest

from hlo_lsp.memory.donated_arguments import DonationState, donated_arguments
from hlo_lsp.memory.memory_analysis import memory_analysis
from hlo_lsp.model.backend import HOST_MEMORY_SPACE
from oracles.compiles import compiles_of

pytestmark = pytest.mark.corpus


def test_totals_equal_memory_analysis(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        arguments = donated_arguments(compile_.dump)
        sizes = {one.key: one.bytes for one in memory_analysis(compile_.dump)}
        if arguments is None or sizes.get("argument_size_in_bytes") is None:
            continue
        device = [one for one in arguments if one.space != HOST_MEMORY_SPACE]
        total = sum(one.bytes for one in device)
        assert total == sizes["argument_size_in_bytes"]
        used = sum(one.bytes for one in device if one.state is DonationState.DONATED)
        assert used == sizes["alias_size_in_bytes"], compile_.dump.files[0].label
