"""Tests for the share of peak bytes with a Python line or an argument."""

from pathlib import Path

import pytest

from hlo_lsp.memory.grouping import GroupKey, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from oracles.compiles import compiles_of

pytestmark = pytest.mark.corpus
# XLA prints some kernels and constants without a stack.
_MAX_SHARE_WITHOUT_LINE = 0.02
# XLA for CPUs expands the gradient of a maximum over windows into parts without a stack.
_MAX_SHARE_OF_WHOLE_FOLDERS = 0.08


def test_peak_bytes_have_a_line_or_argument(any_folder: Path) -> None:
    unowned = total = 0
    for compile_ in compiles_of(any_folder):
        for space in memory_space_occupancies(compile_.dump):
            live = live_buffers(compile_.dump, space.space, space.peak_step)
            owned = owned_buffers(compile_.dump, live)
            groups = group_buffers(compile_.dump, owned, GroupKey.LINE)
            total += sum(group.bytes for group in groups)
            unowned += sum(group.bytes for group in groups if group.name == "no Python line")
            assert sum(group.bytes for group in groups) == space.peak_bytes
    is_whole = any_folder.parent.name.startswith("whole")
    share = _MAX_SHARE_OF_WHOLE_FOLDERS if is_whole else _MAX_SHARE_WITHOUT_LINE
    assert unowned <= total * share
