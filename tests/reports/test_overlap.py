"""Tests for hlo_lsp.reports.overlap."""

from dataclasses import replace

from hlo_lsp.cost.chips import chips
from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.overlap import Overlap, overlap_content, overlap_json, overlap_of

_TRIPS = ', backend_config={"known_trip_count":{"n":"8"}}'
_LOOP = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

%update (a: f32[8], b: f32[1], i: s32[]) -> f32[8] {
  %a = f32[8]{0:S(5)} parameter(0)
  %b = f32[1]{0} parameter(1)
  %i = s32[] parameter(2)
  ROOT %dus = f32[8]{0:S(5)} dynamic-update-slice(%a, %b, %i)
}

%async (a.1: f32[8], b.1: f32[1], i.1: s32[]) -> f32[8] {
  %a.1 = f32[8]{0:S(5)} parameter(0)
  %b.1 = f32[1]{0} parameter(1)
  %i.1 = s32[] parameter(2)
  ROOT %wrapped = f32[8]{0:S(5)} fusion(%a.1, %b.1, %i.1), kind=kCustom, calls=%update
}

%body (s: (s32[], f32[1], f32[8])) -> (s32[], f32[1], f32[8]) {
  %s = (s32[], f32[1]{0}, f32[8]{0:S(5)}) parameter(0)
  %n = s32[] get-tuple-element(%s), index=0
  %v = f32[1]{0} get-tuple-element(%s), index=1
  %h = f32[8]{0:S(5)} get-tuple-element(%s), index=2
  %start = ((f32[8], f32[1], s32[]), f32[8]{0:S(5)}, u32[]) async-start(%h, %v, %n), calls=%async
  %done = f32[8]{0:S(5)} async-done(%start)
  %sum = f32[1]{0} all-reduce(%v), replica_groups={{0,1,2,3}}, to_apply=%add
  ROOT %t = (s32[], f32[1]{0}, f32[8]{0:S(5)}) tuple(%n, %sum, %done)
}

%condition (s.1: (s32[], f32[1], f32[8])) -> pred[] {
  %s.1 = (s32[], f32[1]{0}, f32[8]{0:S(5)}) parameter(0)
  ROOT %p = pred[] custom-call(), custom_call_target="more"
}

ENTRY %main (x: (s32[], f32[1], f32[8])) -> (s32[], f32[1], f32[8]) {
  %x = (s32[], f32[1]{0}, f32[8]{0:S(5)}) parameter(0)
  ROOT %w = (s32[], f32[1]{0}, f32[8]{0:S(5)}) while(%x), condition=%condition, body=%body%TRIPS
}
"""


def _overlap(trips: str = _TRIPS) -> Overlap:
    text = _LOOP.replace("%TRIPS", trips)
    return overlap_of(Compile([DumpFile.of_text(text, "after_optimizations.txt")]), chips()["v5e"])


def test_bytes_are_those_of_all_iterations() -> None:
    found = overlap_json(_overlap(), 9)
    (total,) = found["totals"]
    assert (total["kind"], total["bytes"], total["bytes_per_run"]) == (
        "dynamic-update-slice",
        4,
        32,
    )
    (collective,) = found["synchronous"]
    assert (collective["bytes"], collective["executions"]) == (4, 8)


def test_first_line_includes_all_exposed_operations() -> None:
    assert next(text_lines(overlap_content(_overlap(), 9, "jit_f"))) == (
        "jit_f: 1 asynchronous operation and 1 synchronous collective, 64 B in one run;"
        " exposed 2, 64 B (no computation runs meanwhile);"
        " collectives take 0.24 ns longer than the work meanwhile"
    )


def test_rows_add_up_to_the_first_line() -> None:
    overlap = _overlap()
    found = overlap_json(overlap, 9)
    assert sum(one.bytes_per_run for one in overlap.kinds) == found["bytes_per_run"] == 64
    exposed = sum(one.exposed.bytes_per_run for one in overlap.kinds)
    assert exposed == sum(one.bytes_per_run for one in overlap.waiting)
    assert exposed == found["exposed_bytes_per_run"] == 64


def test_last_rows_sum_up_the_others() -> None:
    overlap = _overlap()
    overlap = replace(overlap, network=(overlap.network or ()) * 3)
    lines = [line.split() for line in text_lines(overlap_content(overlap, 1, "jit_f"))]
    assert ["32", "B", "in", "1", "more"] in lines
    assert lines[-1] == ["0.48", "ns", "0.48", "ns", "in", "2", "more"]


def test_unknown_trip_count_is_a_lower_bound() -> None:
    lines = list(text_lines(overlap_content(_overlap(trips=""), 9, "jit_f")))
    assert ", at least 8 B in one run; exposed 2, 8 B " in lines[0]
    assert lines[1] == "loops of unknown trip count: one iteration counts"


def test_unbounded_array_is_a_lower_bound() -> None:
    text = _LOOP.replace("%sum = f32[1]{0} all-reduce", "%sum = f32[?]{0} all-reduce")
    dump = Compile([DumpFile.of_text(text.replace("%TRIPS", _TRIPS), "after_optimizations.txt")])
    lines = list(text_lines(overlap_content(overlap_of(dump), 9, "jit_f")))
    assert ", at least 32 B in one run; exposed 2, 32 B " in lines[0]
    assert lines[1] == "1 operation of unknown size: sum"


_MESH = """\
HloModule jit_f, is_scheduled=true, num_partitions=4

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %a = f32[256]{0} all-reduce-start(%x), channel_id=1, replica_groups={{0,1},{2,3}}, \
use_global_device_ids=true
  %b = f32[256]{0} all-reduce-done(%a)
  %c = f32[256]{0} all-reduce(%b), channel_id=2, replica_groups={{0,2},{1,3}}, \
use_global_device_ids=true
  %e = f32[256]{0} sine(%c)
  ROOT %d = f32[256]{0} all-reduce(%e), channel_id=3, replica_groups={{2,0},{1,3}}, \
use_global_device_ids=true
}
"""


def _mesh_overlap() -> Overlap:
    return overlap_of(Compile([DumpFile.of_text(_MESH, "a.txt")]), chips()["v5e"])


def test_collectives_add_up_by_axis() -> None:
    found = overlap_json(_mesh_overlap(), 9)
    data, model = ([{"name": name, "size": 2, "stride": None}] for name in ("data", "model"))
    assert found["meshes"] == [[*data, *model]]
    assert [
        (one["axes"], one["label"], one["count"], one["exposed_count"], one["bytes_per_run"])
        for one in found["by_axis"]
    ] == [(data, "data", 2, 2, 2048), (model, "model", 1, 1, 1024)]
    assert [one["axes"] for one in found["synchronous"]] == [data, data]
    assert [one["axes"] for one in found["exposed"]] == [model]
    total = sum(one["least_seconds"] for one in found["by_axis"])
    assert total == found["network"]["least_seconds"]


def test_tables_have_the_axes_of_collectives() -> None:
    lines = list(text_lines(overlap_content(_mesh_overlap(), 9, "jit_f")))
    start = lines.index("mesh: data=2, model=2")
    assert [line.split()[-1] for line in lines[start + 1 : start + 4]] == ["axis", "data", "model"]
    assert [line.split()[4:] for line in lines[start + 4 : start + 8]] == [
        ["exposed"],
        ["1", "model", "a", "->", "b", "parameter", "0"],
        ["1", "data", "c", "parameter", "0"],
        ["1", "data", "d"],
    ]


def test_program_without_mesh_has_no_column_for_axes() -> None:
    assert not any("axis" in line for line in text_lines(overlap_content(_overlap(), 9, "jit_f")))


def test_exposed_collectives_have_their_role() -> None:
    before = _MESH.replace("is_scheduled=true, ", "")
    others = [DumpFile.of_text(before, "m.before_optimizations.txt")]
    overlap = overlap_of(Compile([DumpFile.of_text(_MESH, "m.txt")], others=others))
    text = "reduces partial results of parameter 0"
    found = overlap_json(overlap, 9)
    assert [one["role"] for one in found["exposed"]] == [{"kind": "reduction", "text": text}]
    assert any(
        line.endswith(f"a -> b {text}") for line in text_lines(overlap_content(overlap, 9, "jit_f"))
    )
