"""The data of a memory map agrees with the dump."""

import json
from itertools import accumulate

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.memory_map import memory_map, memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page
from hlo_lsp.text.inert import Json
from jobs import count_checkpoints

_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |u8[32]| at ShapeIndex {}:
 value: <0 x @0> (size=32,offset=0): u8[32]{0}
allocation 1: size 8, thread-local:
 value: <1 add @0> (size=8,offset=0): u8[8]{0}
allocation 2: size 96, preallocated-temp:
 value: <2 a @0> (size=64,offset=0): u8[64]{0}
 value: <3 b{0} @0> (size=32,offset=64): u8[32]{0}
 value: <4 none @0> (size=0,offset=0): u8[0]{0}
"""
_RANGES = """\
HloLiveRange (max 9):
  BufferLiveRange:
    x{}:0-9
    a{}:1-3
    b{0}:2-5
    none{}:2-5
"""
_MODULE = """\
HloModule m, is_scheduled=true

body {
  p = u8[64] parameter(0)
  ROOT next = u8[64] copy(p)
}

condition {
  q = u8[64] parameter(0)
  ROOT less = pred[] custom-call(q), custom_call_target="f"
}

ENTRY main {
  x = u8[64] parameter(0)
  ROOT loop = u8[64] while(x), condition=condition, body=body
}
"""


def _map(*texts: str) -> Json:
    return memory_map(Compile([DumpFile.of_text(text) for text in texts]))


def _column(data: Json, table: str, name: str) -> list[str]:
    return [data["strings"][number] for number in data[table][name]]


def test_boxes_are_values_with_bytes() -> None:
    data = _map(_ASSIGNMENT, _RANGES)
    boxes = data["boxes"]
    assert _column(data, "boxes", "name") == ["x", "a", "b"]
    assert _column(data, "boxes", "index") == ["", "", "{0}"]
    assert boxes["offset"] == [0, 0, 64]
    assert boxes["size"] == [32, 64, 32]
    assert list(zip(boxes["start"], boxes["end"], strict=True)) == [(0, 9), (1, 3), (2, 5)]
    assert boxes["assignmentLine"] == [2, 6, 7]


def test_tiny_memory_space_is_small() -> None:
    tiny = "allocation 3: size 4, color 5:\n value: <5 s @0> (size=4,offset=0): u8[4]{0}\n"
    large = _ASSIGNMENT.replace("size 32, parameter", "size 3200, parameter")
    spaces = _map(large + tiny, _RANGES + "    s{}:1-2\n")["spaces"]
    assert [(one["space"], one["isSmall"]) for one in spaces] == [(0, False), (5, True)]


def test_boxes_name_what_they_are_kept_for() -> None:
    loop = "ROOT loop = u8[64] while(x), condition=condition, body=body"
    text = _MODULE.replace(loop, "a = u8[64] copy(x)\n  ROOT b = u8[64] copy(a)")
    line = ' metadata={source_file="/home/user/f.py" source_line=3}'
    data = _map(_ASSIGNMENT, _RANGES, text.replace("copy(a)", f"copy(a),{line}"))
    assert dict(
        zip(_column(data, "boxes", "name"), _column(data, "boxes", "kept"), strict=True)
    ) == {
        "x": "the caller, which owns the buffer of an argument that is not donated",
        "a": "b (copy, f.py:3), which copies it to an output",
        "b": "the caller: it is an output",
    }


def test_fixed_allocations_come_first() -> None:
    data = _map(_ASSIGNMENT.replace("size 8, thread-local", "size 8, constant"), _RANGES)
    assert data["allocations"]["number"] == [0, 1, 2]
    assert data["allocations"]["fixed"] == [1, 1, 0]
    assert _column(data, "allocations", "kind") == ["parameter", "constant", "temp"]


_DONATED = """\
HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY main {
  p.1 = u8[32] parameter(0), metadata={op_name="p[\\'w\\']"}
  a = u8[64] copy(p.1), metadata={op_name="copy" source_file="/src/p.py" source_line=7}
  ROOT out = u8[32] slice(a), metadata={op_name="out" source_file="/src/p.py" source_line=8}
}
"""
_DONATED_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |u8[32]| at ShapeIndex {}, maybe-live-out:
 value: <0 p.1 @0> (size=32,offset=0): u8[32]{0}
 value: <1 out @0> (size=32,offset=0): u8[32]{0}
allocation 1: size 64, preallocated-temp:
 value: <2 a @0> (size=64,offset=0): u8[64]{0}
"""


def test_output_in_a_donated_buffer_has_its_line() -> None:
    data = _map(_DONATED_ASSIGNMENT, _DONATED)
    assert _column(data, "boxes", "name") == ["p.1", "out", "a"]
    assert _column(data, "boxes", "line") == ["arguments", "/src/p.py:8", "/src/p.py:7"]
    assert _column(data, "boxes", "role")[:2] == ["argument", "output"]


def test_arguments_have_names_and_donation() -> None:
    data = _map(_DONATED_ASSIGNMENT, _DONATED)
    assert _column(data, "boxes", "argument") == ["p['w']", "", "p['w']"]
    assert _column(data, "allocations", "donation") == [
        "donated, used by an output: to output {}",
        "",
    ]
    assert "Donated, used by an output 32 B: 1 argument" in data["spaces"][0]["notes"]
    (row,) = data["spaces"][0]["donation"]
    assert row == ["p['w']", "32 B", "donated, used by an output: to output {}"]


def test_arguments_have_the_shape_of_the_whole_array() -> None:
    after = _DONATED.replace("HloModule m,", "HloModule m, num_partitions=2,")
    before = """\
HloModule m, num_partitions=2

ENTRY main {
  ROOT p = u8[64] parameter(0), sharding={mesh['model'=2], [{'model'}]}
}
"""
    files = [DumpFile.of_text(after, "m.cpu_after_optimizations.txt")]
    files.append(DumpFile.of_text(_DONATED_ASSIGNMENT))
    other = DumpFile.of_text(before, "m.before_optimizations.txt")
    dump = Compile(files, others=[other])
    found = memory_map(dump)
    assert found["allocations"]["whole"] == [0, -1]
    assert found["wholeArrays"] == [
        {
            "text": "u8[64], 64 B: dim 0 in 2 parts over model",
            "titles": ("dim 0", "devices"),
            "rows": (("0-31", "0"), ("32-63", "1")),
        }
    ]


def test_undonated_arguments_count_as_often_as_outputs_fit() -> None:
    header = _DONATED.replace(", input_output_alias={ {}: (0, {}, may-alias) }", "")
    second = "  q = u8[32] parameter(1)\n  a ="
    assignment = _DONATED_ASSIGNMENT.replace(", maybe-live-out:", ":") + (
        "allocation 2: size 32, parameter 1, shape |u8[32]| at ShapeIndex {}:\n"
        " value: <3 q @0> (size=32,offset=0): u8[32]{0}\n"
    )
    data = _map(assignment, header.replace("  a =", second))
    assert sorted(_column(data, "allocations", "donation")) == [
        "",
        "not donated, no output to use it",
        "usable, but not donated: fits output {}",
    ]
    notes = [one for one in data["spaces"][0]["notes"] if "donated" in one]
    assert notes == [
        "Usable, but not donated 32 B: 1 argument",
        "Not donated, no output to use it 32 B: 1 argument",
    ]


def test_spaces_have_lost_bytes_and_advice() -> None:
    slots = _ASSIGNMENT.replace("size 96, preallocated", "size 8192, preallocated")
    (space,) = _map(slots, _RANGES)["spaces"]
    assert space["notes"] == ["Allocated above the peak 7.9 KiB: alignment 7.9 KiB"]
    assert space["advice"] == []


def test_curve_is_that_of_the_space() -> None:
    (space,) = _map(_ASSIGNMENT, _RANGES)["spaces"]
    assert space["fixedBytes"] == 32
    assert (space["peakStep"], space["peakBytes"]) == (2, 128)
    assert space["localPeaks"] == [[2, 128]]
    assert list(accumulate(space["changeSteps"])) == [1, 2, 4, 6]
    assert list(accumulate(space["tempBytes"])) == [64, 96, 32, 0]


def test_bands_are_loop_bodies() -> None:
    data = _map(_MODULE)
    bands = data["bands"]
    assert _column(data, "bands", "name") == ["loop", "loop"]
    assert _column(data, "bands", "opcode") == ["while", "while"]
    assert list(zip(bands["start"], bands["end"], strict=True)) == [(1, 2), (3, 4)]


def test_bands_have_known_trip_counts() -> None:
    assert _map(_MODULE)["bands"]["tripCount"] == [-1, -1]
    config = 'body=body, backend_config={"known_trip_count":{"n":"33"}}'
    assert _map(_MODULE.replace("body=body", config))["bands"]["tripCount"] == [33, 33]


def test_steps_name_their_instructions() -> None:
    data = _map(_MODULE)
    assert [data["strings"][number] for number in data["steps"]] == [
        "x",
        "q",
        "less",
        "p",
        "next",
        "loop",
    ]


def test_missing_live_ranges_leave_boxes_without_steps() -> None:
    data = _map(_ASSIGNMENT)
    assert data["boxes"]["start"] == [-1, -1, -1]
    assert "peakBytes" not in data["spaces"][0]
    assert any("no live ranges" in message for message in data["missing"])


def test_module_text_alone_has_no_boxes() -> None:
    data = _map(_MODULE)
    assert data["spaces"] == []
    assert data["missing"] == ["no buffer assignment: allocations and peaks are unknown"]


def test_long_maps_give_way() -> None:
    values = "".join(
        f" value: <{number} v{number} @0> (size=1,offset={number}): u8[1]{{0}}\n"
        for number in range(1000)
    )
    head = "BufferAssignment:\nallocation 0: size 1000, preallocated-temp:\n"
    dump = Compile([DumpFile.of_text(head + values)])
    assert count_checkpoints(lambda: memory_map(dump)) >= 4


def test_edit_of_any_file_changes_the_map() -> None:
    files = [DumpFile.of_text(text) for text in (_ASSIGNMENT, _RANGES, _MODULE)]
    dump = Compile(files)
    first = memory_map(dump)
    assert memory_map(dump) is first
    edits = (("size=64", "size=32"), ("a{}:1-3", "a{}:1-2"), ("is_scheduled=true", "x=true"))
    for file, (old, new) in zip(files, edits, strict=True):
        before = memory_map(dump)
        file.changed(file.document.replace("\n".join(file.lines).replace(old, new, 1)))
        file.refresh()
        assert memory_map(dump) != before


def test_page_holds_its_data() -> None:
    document = memory_map_document([{**_map(_ASSIGNMENT, _RANGES), "name": "</script><b>&"}])
    page = memory_map_page(document)
    start = page.index('id="memory-map-data">') + len('id="memory-map-data">')
    assert json.loads(page[start : page.index("</script>", start)]) == document
    assert "<title>Memory map of &lt;/script&gt;&lt;b&gt;&amp;</title>" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
