"""Tests for exports, which add up to the occupied bytes of each memory space."""

import gzip
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.memory.byte_ranges import union_size
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.protos.messages import message_class
from hlo_lsp.reports.perfetto import perfetto_trace
from hlo_lsp.reports.pprof import PPROF, pprof_profile
from hlo_lsp.reports.profiles import buffer_samples, folded_stacks
from hlo_lsp.reports.trace_writer import PERFETTO
from oracles.compiles import compiles_of, on_typical_folders

pytestmark = pytest.mark.corpus


def test_profiles_add_up_to_the_peaks(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        dump = compile_.dump
        stacks = list(buffer_samples(dump))
        peaks = {
            space_title(one.space, dump.backend): one.peak_bytes
            for one in memory_space_occupancies(dump)
            if one.peak_bytes
        }
        profile = message_class(PPROF, "Profile").FromString(gzip.decompress(pprof_profile(stacks)))
        sums = [
            sum(sample.value[place] for sample in profile.sample) for place in range(len(peaks))
        ]
        names = [profile.string_table[one.type].replace("_", " ") for one in profile.sample_type]
        assert dict(zip(names, sums, strict=True)) == peaks
        folded: Counter[str] = Counter()
        for line in folded_stacks(stacks):
            folded[line.split(";")[1]] += int(line.rpartition(" ")[2])
        assert folded == peaks


@on_typical_folders
def test_trace_slices_cover_the_counter(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        dump = compile_.dump
        trace = message_class(PERFETTO, "Trace").FromString(perfetto_trace([dump]))
        tracks = {
            packet.track_descriptor.uuid: packet.track_descriptor
            for packet in trace.packet
            if packet.HasField("track_descriptor")
        }
        for space in memory_space_occupancies(dump):
            title = space_title(space.space, dump.backend)
            (group,) = (uuid for uuid, one in tracks.items() if one.name == f"{title} buffers")
            lanes = {uuid for uuid, one in tracks.items() if one.parent_uuid == group}
            assert _covered(trace, lanes, 1000 * space.peak_step) == space.peak_bytes


def _covered(trace: Any, lanes: set[int], time: int) -> int:
    """Return the bytes that the slices of some tracks cover at a time."""
    open_slices: dict[int, dict[str, int]] = {}
    for packet in trace.packet:
        event = packet.track_event
        if not packet.HasField("track_event") or event.track_uuid not in lanes:
            continue
        if packet.timestamp > time:
            break
        if event.type == 1:
            facts = {one.name: one.int_value for one in event.debug_annotations}
            open_slices[event.track_uuid] = facts
        else:
            del open_slices[event.track_uuid]
    ranges = defaultdict(set)
    fixed = 0
    for facts in open_slices.values():
        if "offset" in facts:
            first = facts["offset"]
            ranges[facts["allocation"]].add((first, first + facts["bytes"]))
        else:
            fixed += facts["bytes"]
    return fixed + sum(union_size(one) for one in ranges.values())
