"""The meshes of a compile, and the axes of its collectives."""

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.mesh import CollectiveAxes, axes_json, collective_axes, meshes_of

_NAMED = "mesh['data'=2,'model'=4]"
_BEFORE = """\
HloModule m, num_partitions=8{header}

ENTRY %e {{
  %x = f32[8] parameter(0), sharding={{{sharding}}}
}}
"""
_AFTER = """\
HloModule m, is_scheduled=true, {counts}

ENTRY %e {{
  %x = f32[8] parameter(0)
  %c = f32[8] {collective}, channel_id=1, use_global_device_ids=true
}}
"""


def _dump(collective: str, sharding: str = "", header: str = "", counts: str = "") -> Compile:
    text = _AFTER.format(collective=collective, counts=counts or "num_partitions=8")
    before = _BEFORE.format(sharding=sharding or "replicated", header=header)
    others = [DumpFile.of_text(before, "m.before_optimizations.txt")]
    return Compile([DumpFile.of_text(text, "m.cpu_after_optimizations.txt")], others=others)


def _axes(dump: Compile) -> CollectiveAxes | None:
    module = dump.files[0].module
    (record,) = module.instructions.all("c")
    return collective_axes(dump, module, record)


def _text(collective: str, sharding: str = f"{_NAMED}, [{{'data'}}]", header: str = "") -> str:
    found = _axes(_dump(collective, sharding, header))
    return "" if found is None else found.text


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ("[2,4]<=[8]", "over `model` (4 devices)"),
        ("[4,2]<=[2,4]T(1,0)", "over `data` (2 devices)"),
        ("{{3,7},{0,4},{5,1},{2,6}}", "over `data` (2 devices)"),
        ("{{7,6,5,4,3,2,1,0}}", "over `data` x `model` (8 devices)"),
        ("{}", "over `data` x `model` (8 devices)"),
        ("mesh['data'=2,'model'=4] {'model','data'}", "over `data` x `model` (8 devices)"),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_1'}", "over `model` (4 devices)"),
        ("mesh['axis_0'=4,'axis_1'=2], device_ids=([2,4]T(1,0)) {'axis_1'}",
         "over `data` (2 devices)"),
        ("{{0,1},{2,3},{4,5},{6,7}}", "over `model:(2)2` (2 devices)"),
        ("mesh['data'=2,'model'=4] {'model':(1)2}", "over `model:(1)2` (2 devices)"),
        ("{{0,2},{1,3},{4,6},{5,7}}", "over `model:(1)2` (2 devices)"),
        ("{{0},{1},{2},{3},{4},{5},{6},{7}}", "within each device"),
        ("{{0,3},{1,2},{4,7},{5,6}}", "4 groups of 2 that follow no axis"),
        ("{{0,5},{1,4},{2,7},{3,6}}", "4 groups of 2 that follow no axis"),
        ("{{0,1,2,3}}", "1 group of 4 that follow no axis"),
        ("{{0,1,2,3},{4,5},{6,7}}", "3 groups that follow no axis"),
        ("{{0,1,2,3,4,5,6,9}}", "1 group of 8 that follow no axis"),
        ("[2,8]<=[16]", ""),
        ("{{0,", ""),
    ],
)  # fmt: skip
def test_groups_are_axes_of_the_mesh(groups: str, text: str) -> None:
    assert _text(f"all-reduce(%x), replica_groups={groups}") == text


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ("{0,1},{1,2},{2,3},{3,0},{4,5},{5,6},{6,7},{7,4}", "ring along `model` (4 devices)"),
        ("{0,1},{1,2},{2,3},{4,5},{5,6},{6,7}", "shift along `model` (4 devices)"),
        ("{0,4},{1,5},{2,6},{3,7}", "shift along `data` (2 devices)"),
        ("{0,2},{1,3},{2,0},{3,1},{4,6},{5,7},{6,4},{7,5}", "exchange along `model` (4 devices)"),
        ("{0,1},{4,5}", "pairs along `model` (4 devices)"),
        ("{0,2},{4,6}", "pairs along `model` (4 devices)"),
        ("{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}",
         "ring along `data` x `model` (8 devices)"),
        ("{0,1},{1,0},{2,3},{3,2},{4,5},{5,4},{6,7},{7,6}", "exchange along `model` (4 devices)"),
        ("{0,1},{1,2},{2,3},{3,0}", "pairs that follow no axis"),
        ("{0,5},{5,2},{2,0}", "pairs that follow no axis"),
        ("{0,9}", "pairs that follow no axis"),
        ("{0,0},{1,1}", "within each device"),
    ],
)  # fmt: skip
def test_pairs_are_along_axes(pairs: str, text: str) -> None:
    assert _text(f"collective-permute(%x), source_target_pairs={{{pairs}}}") == text


@pytest.mark.parametrize(
    ("sharding", "text"),
    [
        ("mesh['a'=1,'b'=8,'c'=1], [{'b'}]", "over `b` (8 devices)"),
        ("mesh['a'=8], device_ids=([2,4]T(1,0)), replicated", "over `a` (8 devices)"),
        ("devices=[8]<=[8]", "over an axis of 8"),
        ("devices=[2,4]<=[8]", "over an axis of 2 x an axis of 4 (8 devices)"),
        ("mesh['axis_0'=8], [{'axis_0'}]", "over an axis of 8"),
    ],
)
def test_meshes_have_several_notations(sharding: str, text: str) -> None:
    assert _text("all-reduce(%x), replica_groups={}", sharding) == text


@pytest.mark.parametrize(
    ("sharding", "mesh"),
    [
        ("devices=[2,1,4]<=[8] last_tile_dim_replicate", "axis of 2, axis of 4"),
        ("devices=[4,2]<=[2,4]T(1,0)", "axis of 2, axis of 4"),
        ("devices=[8]<=[2,4]T(1,0)", "axis of 2, axis of 4"),
        ("devices=[2,2,2]<=[8]", "axis of 2 (devices 4 apart), axis of 2 (devices 2 apart), "
         "axis of 2 (devices 1 apart)"),
        ("devices=[8]0,3,2,1,7,6,5,4", "axis of 8"),
    ],
)  # fmt: skip
def test_unnamed_axes_follow_from_tiles(sharding: str, mesh: str) -> None:
    (found,) = meshes_of(_dump("negate(%x)", sharding))
    assert found.text == mesh


def test_unnamed_axes_include_those_of_groups() -> None:
    dump = _dump("all-reduce(%x), replica_groups=[4,2]<=[8]", "devices=[8]<=[8]")
    (mesh,) = meshes_of(dump)
    assert mesh.text == "axis of 4, axis of 2"


def test_contradicting_groups_add_no_axes() -> None:
    dump = _dump("all-reduce(%x), replica_groups={{0,3},{1,2},{4,7},{5,6}}", "devices=[2,4]<=[8]")
    (mesh,) = meshes_of(dump)
    assert mesh.text == "axis of 2, axis of 4"


def test_mesh_of_header_names_axes() -> None:
    header = ', frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}'
    text = _text("all-reduce(%x), replica_groups=[2,4]<=[8]", "devices=[2,4]<=[8]", header)
    assert text == "over `y` (4 devices)"


def test_device_ids_permute_a_mesh() -> None:
    sharding = "mesh['x'=2,'y'=4], device_ids=(0,2,4,6,1,3,5,7), [{'x'}]"
    found = [_text(f"all-reduce(%x), replica_groups={one}", sharding)
             for one in ("[4,2]<=[8]", "[2,4]<=[4,2]T(1,0)", "[2,4]<=[8]")]  # fmt: skip
    assert found == [
        "over `x` (2 devices)",
        "over `y` (4 devices)",
        "over `x` x `y:(2)2` (4 devices)",
    ]


def test_several_meshes_name_all_candidates() -> None:
    header = ', frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=8]>}}'
    dump = _dump("all-reduce(%x), replica_groups={}", f"{_NAMED}, [{{'data'}}]", header)
    found = _axes(dump)
    assert found is not None
    assert (found.axes, found.text) == ((), "over a or data x model")


@pytest.mark.parametrize(
    ("counts", "has_mesh"),
    [
        ("num_partitions=1", False),
        ("replica_count=8", True),
        ("num_partitions=999999999", False),
    ],
)
def test_meshes_have_all_partitions_or_replicas(counts: str, has_mesh: bool) -> None:
    assert bool(meshes_of(_dump("negate(%x)", "replicated", counts=counts))) is has_mesh


def test_groups_of_replicas_have_no_mesh_axes() -> None:
    text = _AFTER.format(
        collective="all-to-all(%x), replica_groups={{0}}", counts="num_partitions=8"
    ).replace(", channel_id=1, use_global_device_ids=true", "")
    assert _axes(Compile([DumpFile.of_text(text, "m.cpu_after_optimizations.txt")])) is None


def test_end_of_collective_has_its_axes() -> None:
    text = f"""\
HloModule m, is_scheduled=true, num_partitions=8

ENTRY %e {{
  %x = f32[8] parameter(0), sharding={{{_NAMED}, [{{'data'}}]}}
  %s = f32[8] all-reduce-start(%x), channel_id=1, replica_groups=[2,4]<=[8], \
use_global_device_ids=true
  ROOT %c = f32[8] all-reduce-done(%s)
}}
"""
    found = _axes(Compile([DumpFile.of_text(text, "m.txt")]))
    assert axes_json([found, None, found]) == [{"name": "model", "size": 4, "stride": None}]
