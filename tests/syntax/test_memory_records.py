"""The records of memory files of all versions."""

import pytest

from hlo_lsp.syntax.memory_records import BreakdownRow
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record
from hlo_lsp.syntax.scanners import memory_scanner
from syntax.record_fields import record_fields

_NO_ALLOCATION = {
    "color": 0,
    "parameter": None,
    "parameter_index": None,
    "parameter_shape": None,
    "output_shape": None,
    "constant": False,
    "thread_local": False,
    "maybe_live_out": False,
    "preallocated_temp": False,
}


def _record(line: str) -> Record:
    return memory_scanner().read([line], 0)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("allocation 3: size 20992, color 1, preallocated-temp:",
         {"number": 3, "size": 20992, "color": 1, "preallocated_temp": True}),
        ("allocation 0: size 0, color 1, page 0, preallocated-temp:",
         {"number": 0, "size": 0, "color": 1, "preallocated_temp": True}),
        ("allocation 12: size 512, page 0, thread-local:",
         {"number": 12, "size": 512, "thread_local": True}),
        ("allocation 8: size 4, constant:", {"number": 8, "size": 4, "constant": True}),
        ("allocation 8: size 4, maybe-live-out:",
         {"number": 8, "size": 4, "maybe_live_out": True}),
        ("allocation 1: size 8, page 0, parameter 2, shape |(f32[2], /*index=5*/s8[<=3])|"
         " at ShapeIndex {1,0}, maybe-live-out:",
         {"number": 1, "size": 8, "parameter": 2, "parameter_index": "{1,0}",
          "parameter_shape": "(f32[2], /*index=5*/s8[<=3])", "maybe_live_out": True}),
        ("allocation 1: size 8, parameter 0, shape |<unknown shape>| at ShapeIndex {}:",
         {"number": 1, "size": 8, "parameter": 0, "parameter_index": "{}",
          "parameter_shape": "<unknown shape>"}),
        ("allocation 7: size 16, output shape is |(f32[2,3], f32[])|, maybe-live-out:",
         {"number": 7, "size": 16, "output_shape": "(f32[2,3], f32[])", "maybe_live_out": True}),
        ("allocation 2: size 16, pinned, constant, frobnicated 3:",
         {"number": 2, "size": 16, "constant": True}),
        ("allocation 4: size 9:", {"number": 4, "size": 9}),
    ],
)  # fmt: skip
def test_allocation(line: str, fields: dict[str, object]) -> None:
    assert record_fields(_record(line)) == ("AllocationLine", {**_NO_ALLOCATION, **fields})


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (" value: <328 fusion.40{0} @0> (size=512,offset=49152): u32[1]{0:T(128)}",
         (328, "fusion.40", "{0}", False, 0, 512, 49152, "u32[1]{0:T(128)}")),
        (" value: <39 arg_tuple.3{} (phi) @0> (size=8,offset=0): (s32[], f32[2]{0})",
         (39, "arg_tuple.3", "{}", True, 0, 8, 0, "(s32[], f32[2]{0})")),
        (" value: <4 constant.5..sunk @7> (size=4,offset=8): f32[]",
         (4, "constant.5..sunk", None, False, 7, 4, 8, "f32[]")),
        (" value: <4 a{1,0,2}> (size=4,offset=8): b(f32[2])",
         (4, "a", "{1,0,2}", False, None, 4, 8, "b(f32[2])")),
        (" value: <4 copy-start.1{2} @2> (size=4,offset=0): u32[]{:T(128)S(2)}",
         (4, "copy-start.1", "{2}", False, 2, 4, 0, "u32[]{:T(128)S(2)}")),
    ],
)  # fmt: skip
def test_assigned_value(line: str, fields: tuple[object, ...]) -> None:
    names = ("id", "name", "index", "phi", "color", "size", "offset", "shape")
    assert record_fields(_record(line)) == ("AssignedValue", dict(zip(names, fields, strict=True)))


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        ("Total bytes used: 172580 (168.5KiB)", "TotalLine",
         {"total": 172580, "human": "168.5KiB"}),
        ("HloLiveRange (max 14):", "LiveRangeLabel", {"max": 14}),
        ("    5:fusion.2", "SequenceRow", {"step": 5, "name": "fusion.2"}),
        ("    fusion.5{}:10-13", "RangeRow",
         {"name": "fusion.5", "index": "{}", "start_step": 10, "end_step": 13}),
        ("    a{1,0}:0-3", "RangeRow",
         {"name": "a", "index": "{1,0}", "start_step": 0, "end_step": 3}),
        ("  Live ranges at 13 (peak):", "PeakLabel", {"moment": 13}),
        ("  Live ranges at -1 (peak):", "PeakLabel", {"moment": -1}),
        ("    fusion{}: 2048 bytes (cumulative: 43008 bytes)", "PeakRow",
         {"name": "fusion", "index": "{}", "bytes": 2048, "cumulative": 43008}),
        ("    while.56.0: 40 bytes", "PeakRow",
         {"name": "while.56.0", "index": None, "bytes": 40, "cumulative": None}),
        ("    main.3 (100.0%, total: 3 162 132 bytes, current: 0 bytes, remaining: 3 bytes)",
         "BreakdownRow",
         {"depth": 0, "title": "main.3", "total": 3162132, "current": 0, "remaining": 3}),
        ("      ├── params['a b'].c, f(x) (0.5%, total: 16 384 bytes, current: 16 bytes, "
         "remaining: 20 bytes)", "BreakdownRow",
         {"depth": 1, "title": "params['a b'].c, f(x)", "total": 16384, "current": 16,
          "remaining": 20}),
        ("      │       └── x{1} (0.5%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)",
         "BreakdownRow",
         {"depth": 3, "title": "x{1}", "total": 4, "current": 4, "remaining": 0}),
        ("Memory Space: color_6 (color=6)", "SpaceLine", {"name": "color_6", "color": 6}),
        ("   164.2KiB(100%);         4B;       484224;                5; 5×s32[]", "TableRow",
         {"offset": 484224, "value_count": 5, "shapes": "5×s32[]"}),
        ("\t 472.2KiB(-nan%);        16B;          512;                1; (f32[8], s8[])",
         "TableRow", {"offset": 512, "value_count": 1, "shapes": "(f32[8], s8[])"}),
        ("  472.9KiB( 64%);   268.0KiB; allocation 7: size 472.9KiB, preallocated-temp:",
         "ListedAllocation", {"number": 7, "human": "472.9KiB"}),
        ("allocation 0: size 132.0KiB, parameter 1, shape |f32[3]| at ShapeIndex {}:",
         "ReportedAllocation", {"number": 0, "human": "132.0KiB"}),
    ],
)  # fmt: skip
def test_other_lines(line: str, kind: str, fields: dict[str, object]) -> None:
    assert record_fields(_record(line)) == (kind, fields)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("BufferAssignment:", "assignment_label"),
        ("Used values:", "used_values_label"),
        ("HloLiveRange not available (finalized or constructed from proto)", "live_range_missing"),
        ("  InstructionSequence:", "sequence_label"),
        ("  BufferLiveRange:", "ranges_label"),
        (
            "  Peak memory could not be determined due to unbounded dynamic shape.",
            "peak_missing",
        ),
        ("  Stack trace breakdown for peak usage: 3 162 132 bytes", "breakdown_label"),
        ("  Stack trace breakdown for peak usage: 3162132 bytes", "breakdown_label"),
        ("Total bytes: 786500 (768.1KiB)", "space_total_line"),
        (
            "\tcumulative_size;       size;       offset; used_by_n_values; shapes_list",
            "table_header",
        ),
        (
            "  The rest 12 values are less than 5% of the total size and not shown.",
            "table_rest",
        ),
        (
            "The rest 3 allocations are less than 5% of the total size and not shown.",
            "table_rest",
        ),
        (f"  {'-' * 60}", "table_ruler"),
        ("-" * 78, "table_ruler"),
        ("Allocations sorted by size:", "by_size_label"),
        ("cumulative_size; total_size - cumulative_size; allocation", "by_size_header"),
        ("Allocations sorted by size with their values:", "with_values_label"),
        ("memory_space_allocation_entries {", "proto_line"),
        ("  name: \"default\"", "proto_line"),
        ("  }", "proto_line"),
    ],
)  # fmt: skip
def test_labels(line: str, rule: str) -> None:
    record = _record(line)
    assert isinstance(record, Label)
    assert record.name == rule


def test_empty_and_blank_lines() -> None:
    assert type(_record("")) is BlankLine
    broken = _record("Lorem ipsum")
    assert isinstance(broken, BrokenRecord)
    assert broken.text == "Lorem ipsum"


def test_values_go_by_name_and_index() -> None:
    def key(line: str) -> object:
        return getattr(_record(line), "key", "no key")

    assert key(" value: <4 a.1{0} @0> (size=4,offset=8): f32[]") == "a.1{0}"
    assert key(" value: <4 a.1 @0> (size=4,offset=8): f32[]") == "a.1{}"
    assert key("    a.1{0}:1-2") == "a.1{0}"
    assert key("    a.1{0}: 4 bytes (cumulative: 4 bytes)") == "a.1{0}"
    assert key("    a.1: 4 bytes") is None


@pytest.mark.parametrize(
    ("tree", "depth"),
    [
        ("    ", 0),
        ("      ├── ", 1),
        ("      └── ", 1),
        ("      │   └── ", 2),
        ("          └── ", 2),
        ("      │   │   ├── ", 3),
        ("          │   └── ", 3),
    ],
)
def test_node_depth_counts_branches(tree: str, depth: int) -> None:
    record = _record(f"{tree}x (1.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)")
    assert isinstance(record, BreakdownRow)
    assert record.depth == depth
