"""Tests for the sums of views of memory, compared with the allocations and reports of a compile."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlo_lsp.cost.operation import Cost
from hlo_lsp.memory.computation_buffers import buffers_by_computation
from hlo_lsp.memory.group_tree import TREE_KEYS, GroupNode, group_tree
from hlo_lsp.memory.grouping import GroupKey, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.lost_bytes import lost_bytes
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.reports.summary import SummaryOptions, summarize
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import compiles_of, on_typical_folders

pytestmark = pytest.mark.corpus

_TOTAL = re.compile(r"^Memory Space: \w+ \(color=(\d+)\)\nTotal bytes: (\d+)", re.MULTILINE)


def test_all_groupings_add_up(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        dump = compile_.dump
        for space in memory_space_occupancies(dump):
            buffers = live_buffers(dump, space.space, space.peak_step)
            assert sum(buffer.bytes for buffer in buffers) == space.peak_bytes
            lost = lost_bytes(dump, space.space, space.peak_step)
            assert lost.total + lost.logical == space.allocated_bytes
            assert lost.free >= 0
            assert lost.total - lost.occupied == space.allocated_bytes - space.peak_bytes
            owned = owned_buffers(dump, buffers)
            for key in GroupKey:
                groups = group_buffers(dump, owned, key)
                assert sum(group.bytes for group in groups) == space.peak_bytes
            for key in TREE_KEYS:
                tree = group_tree(dump, owned, key)
                assert sum(node.bytes for node in tree) == space.peak_bytes
                assert all(node.own_bytes >= 0 for root in tree for node in _below(root))


@on_typical_folders
def test_maps_agree_with_allocations(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        data = memory_map(compile_.dump)
        peaks = {one.space: one.peak_bytes for one in memory_space_occupancies(compile_.dump)}
        summary = summarize(compile_.dump, SummaryOptions())
        allocated = {one.space: one.allocated_bytes for one in summary.spaces}
        assert data["spaces"]
        for space in data["spaces"]:
            assert space["allocatedBytes"] == allocated[space["space"]]
            assert space.get("peakBytes") == peaks.get(space["space"])
        for allocation, offset, size in zip(
            *(data["boxes"][key] for key in ("allocation", "offset", "size")), strict=True
        ):
            assert 0 <= offset <= offset + size <= data["allocations"]["size"][allocation]


def test_allocated_bytes_are_those_of_the_report(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        for report in compile_.dump.files:
            if report.kind is FileKind.REPORT:
                text = "\n".join(report.lines)
                printed = {int(space): int(total) for space, total in _TOTAL.findall(text)}
                assert bool(printed) == ("\nTotal bytes: " in text)  # not in the old form
                if printed:
                    found = summarize(compile_.dump, SummaryOptions())
                    assert printed == {one.space: one.allocated_bytes for one in found.spaces}


@on_typical_folders
def test_costs_by_owner_add_up(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder)[::3]:
        table = cost_table(compile_.dump, None)
        if table is not None:
            costs = [group.cost for group in table.cost_groups(InstructionKey.LINE)]
            assert sum((one.cost for one in costs), Cost()) == table.cost.total.cost
            assert min((one.cost.flops for one in costs), default=0) >= 0
            assert sum(one.memory_bytes for one in costs) == table.cost.total.memory_bytes


def test_buffers_do_not_exceed_program_size(any_folder: Path) -> None:
    """By the total that XLA printed, which counts thread-local memory, too."""
    for compile_ in compiles_of(any_folder):
        allocations = [each.record for each in compile_.dump.allocations()]
        total = sum(record.size for record in allocations if not record.thread_local)
        buffers = buffers_by_computation(compile_.dump)
        assert bool(buffers) == bool(compile_.printed.instructions)
        assert all(0 <= found.bytes <= total for found in buffers.values())


def _below(node: GroupNode) -> Iterator[GroupNode]:
    yield node
    for child in node.children:
        yield from _below(child)
