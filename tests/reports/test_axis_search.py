"""The collectives over an axis of the mesh."""

import pytest

from hlo_lsp.cost.chips import chips
from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.axis_search import AxisInModule, axis_content, axis_json, find_axis

_MODULE = """\
HloModule jit_f, is_scheduled=true, num_partitions=8

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0), sharding={mesh['data'=2,'model'=4], [{'data'}]}
  %both = f32[256]{0} all-reduce(%x), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, \
use_global_device_ids=true
  %data = f32[256]{0} all-reduce(%both), channel_id=2, replica_groups={{0,4},{1,5},{2,6},{3,7}}, \
use_global_device_ids=true, metadata={source_file="/home/a/train.py" source_line=7}
  ROOT %half = f32[256]{0} all-reduce(%data), channel_id=3, \
replica_groups={{0,1},{2,3},{4,5},{6,7}}, use_global_device_ids=true
}
"""


def _found(axis: str, module: str = _MODULE) -> AxisInModule:
    dump = Compile([DumpFile.of_text(module, "m.after_optimizations.txt")])
    return find_axis(dump, axis, chips()["v5e"])


@pytest.mark.parametrize(
    ("axis", "names"),
    [("data", ["data", "both"]), ("model", ["both", "half"]), ("model:(2)2", ["half"]), ("x", [])],
)
def test_collectives_of_an_axis_and_its_parts_are_found(axis: str, names: list[str]) -> None:
    assert sorted(one.placed.start.name for one in _found(axis).collectives) == sorted(names)


def test_axis_without_name_is_found_by_its_label() -> None:
    module = _MODULE.replace("mesh['data'=2,'model'=4], [{'data'}]", "devices=[2,4]<=[8]")
    found = _found("axis of 2 (devices 4 apart)", module).collectives
    assert [one.placed.start.name for one in found] == ["both", "data"]


def test_table_has_the_first_collectives() -> None:
    first, _, row, more = text_lines(axis_content(_found("data"), "data", 1))
    assert first.startswith("jit_f: 2 collectives over data, 2.0 KiB in one run, at least ")
    assert row.split()[2:] == ["1.0", "KiB", "1", "exposed", "data", "x", "model", "both"]
    assert more == "  and 1 more (1.0 KiB)"


def test_json_has_bytes_times_and_axes() -> None:
    found = axis_json(_found("data"))
    assert (found["name"], found["chip"], found["bytes_per_run"]) == ("jit_f", "v5e", 2048)
    last = found["collectives"][1]
    assert last["least_seconds"] > 0
    assert last["axes"] == [{"name": "data", "size": 2, "stride": None}]
    assert last["source"] == "/home/a/train.py:7"
