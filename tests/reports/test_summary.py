"""The memory summary of a compile."""

import json
from dataclasses import replace

import pytest

from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.summary import ModuleSummary, SummaryOptions, summarize
from hlo_lsp.reports.summary_text import SummaryLinks, summary_json, summary_lines, summary_markdown

_MODULE = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "/home/user/model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0:T(256)} parameter(0), metadata={op_name="p['w']"}
  %y = f32[256]{0:T(256)} exponential(%x), metadata={op_name="jit(f)/jvp(exp)" stack_frame_id=1}
  %z = f32[256]{0:T(256)} copy(%y)
  ROOT %r = f32[256]{0:T(256)} add(%y, %z), metadata={op_name="jit(f)/add" stack_frame_id=1}
}
"""
_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 1024, parameter 0, shape |f32[256]| at ShapeIndex {}:
 value: <1 x @0> (size=1024,offset=0): f32[256]{0:T(256)}
allocation 1: size 1024, output shape is |f32[256]|, maybe-live-out:
 value: <4 r @0> (size=1024,offset=0): f32[256]{0:T(256)}
allocation 2: size 4096, preallocated-temp:
 value: <2 y @0> (size=1024,offset=0): f32[256]{0:T(256)}
 value: <3 z @0> (size=1024,offset=2048): f32[256]{0:T(256)}

Total bytes used: 6144 (6.0KiB)
"""
_RANGES = """\
HloLiveRange (max 4):
  InstructionSequence:
    0:x
    1:y
    2:z
    3:r
  BufferLiveRange:
    x{}:0-4
    y{}:1-3
    z{}:2-3
    r{}:3-4
  Live ranges at 3 (peak):
    y{}: 1024 bytes
"""


def _dump(*texts: str) -> Compile:
    return Compile([DumpFile.of_text(text) for text in texts])


def _summary(options: SummaryOptions | None = None) -> ModuleSummary:
    return summarize(_dump(_ASSIGNMENT, _RANGES, _MODULE), options or SummaryOptions())


def test_text_shows_totals_owners_and_lost_bytes() -> None:
    assert list(summary_lines(_summary(), 3))[:4] == [
        "jit_f · TPU · HBM 6.0 KiB allocated",
        "peak of HBM 4.0 KiB at step 2 of 4",
        "  model.py:7 3.0 KiB · arguments 1.0 KiB",
        "  allocated above the peak 2.0 KiB: alignment 2.0 KiB",
    ]


def _with_small_parts(*, with_negligible: bool = False) -> ModuleSummary:
    """Return the summary of a program in which one argument has nearly all bytes."""
    size = 1 << 20
    allocations = _ASSIGNMENT.replace("size 1024, param", f"size {size}, param")
    allocations = allocations.replace("x @0> (size=1024", f"x @0> (size={size}")
    total = f"allocation 3: size 32, color 5:\n\nTotal bytes used: {size + 5152} (1.00MiB)\n"
    allocations = allocations.partition("\nTotal")[0] + total
    options = SummaryOptions(with_negligible=with_negligible)
    return summarize(_dump(allocations, _RANGES, _MODULE), options)


def test_parts_below_one_percent_are_left_out() -> None:
    summary = _with_small_parts()
    assert list(summary_lines(summary, 3))[:3] == [
        "jit_f · TPU · HBM 1.00 MiB allocated",
        "peak of HBM 1.00 MiB at step 2 of 4",
        "  arguments 1.00 MiB",
    ]
    text = "\n".join([*summary_lines(summary, 3), *summary_markdown(summary, 3)])
    assert not any(
        part in text for part in ("model.py:7", "alignment", "host memory", "XLA declares")
    )
    assert summary_json(summary, 3)["by_space"].keys() == {"0", "5"}


def test_small_parts_and_declared_peak_are_shown_on_request() -> None:
    summary = _with_small_parts(with_negligible=True)
    text = "\n".join(summary_lines(summary, 3))
    for part in (
        "model.py:7 3.0 KiB",
        "alignment 2.0 KiB",
        "host memory 32 B",
        "XLA declares the peak",
    ):
        assert part in text


def test_small_arguments_have_no_line() -> None:
    assignment = _ASSIGNMENT.replace("size 4096, pre", f"size {1 << 20}, pre")
    assignment = assignment.replace("y @0> (size=1024", f"y @0> (size={1 << 19}")
    assignment = assignment.replace("offset=2048", f"offset={1 << 19}")
    second = '  %w = f32[8]{0} parameter(1), metadata={op_name="q"}\n  ROOT'
    parameter = (
        "allocation 3: size 32, parameter 1, shape |f32[8]| at ShapeIndex {}:\n"
        " value: <5 w @0> (size=32,offset=0): f32[8]{0}\n\nTotal"
    )
    dump = _dump(
        assignment.replace("\nTotal", parameter),
        _RANGES.replace("    y{}", "    w{}:0-4\n    y{}"),
        _MODULE.replace("  ROOT", second),
    )
    summary = summarize(dump)
    assert [one.name for one in summary.spaces[0].arguments] == ["p['w']", "q"]
    assert not any("arguments" in line for line in summary_lines(summary, 3))


def test_many_small_owners_are_one_sum() -> None:
    line = next(line for line in summary_lines(_summary(), 1) if line.startswith("  "))
    assert line == "  model.py:7 3.0 KiB · 1 more 1.0 KiB"


def test_json_has_the_documented_keys() -> None:
    found = summary_json(replace(_summary(), findings={"overlap": 1}), 2)
    json.dumps(found)
    assert found["name"] == "jit_f"
    assert found["total_bytes"] == 6144
    assert found["by_space"] == {
        "0": {
            "name": "HBM",
            "allocated_bytes": 6144,
            "peak_bytes": 4096,
            "peak_step": 2,
            "groups": [
                {"name": "/home/user/model.py:7", "bytes": 3072, "buffers": 3, "children": []},
                {"name": "arguments", "bytes": 1024, "buffers": 1, "children": []},
            ],
            "arguments": [{"name": "p['w']", "bytes": 1024, "buffers": 1}],
        }
    }
    assert found["by_kind"] == {
        "parameter": 1024,
        "constant": 0,
        "output": 1024,
        "thread_local": 0,
        "temp": 4096,
    }
    assert found["top_sources"] == [
        {"file": "/home/user/model.py", "line": 7, "padded_bytes": 3072, "buffers": 3}
    ]
    first = found["top_buffers"][0]
    assert (first["name"], first["origin"]["argument"]) == ("x", "p['w']")
    assert found["lost"] == {
        "array_padding": 0,
        "tuple_table_slots": 0,
        "alignment": 2048,
        "free_at_peak": 0,
        "occupied_at_peak": 0,
        "above_peak": 2048,
    }
    assert found["findings"] == {"overlap": 1}


def test_another_step_can_be_chosen() -> None:
    (space,) = _summary(SummaryOptions(step=1)).spaces
    assert (space.step, space.bytes) == (1, 3072)


def test_owners_can_be_grouped_by_role() -> None:
    (space,) = _summary(SummaryOptions(key=GroupKey.ROLE)).spaces
    assert {group.name: group.bytes for group in space.groups} == {
        "argument": 1024,
        "output": 1024,
        "activation": 2048,
    }


def test_markdown_has_a_table_of_owners() -> None:
    text = "\n".join(summary_markdown(_summary(), 3)).replace("\N{NO-BREAK SPACE}", " ")
    assert "| HBM | 6.0 KiB | 4.0 KiB | 2 |" in text
    assert "| model.py:7 | 3.0 KiB | 3 |" in text
    assert "| `x{}` | 1.0 KiB | argument `p['w']` |" in text


def test_markdown_links_owners_and_steps() -> None:
    links = SummaryLinks(lambda source: f"file:///{source.short}", lambda step: f"file:///#{step}")
    summary = _summary()
    text = "\n".join(summary_markdown(summary, 3, links))
    main = summary.main
    assert main is not None
    owner = next(group for group in main.groups[:3] if group.source is not None)
    assert f"| [{owner.label}](file:///{owner.label}) |" in text
    assert f"[step {main.step:,}](file:///#{main.step})" in text
    assert "](" not in "\n".join(summary_markdown(summary, 3))


def test_markdown_keeps_the_name_of_a_function() -> None:
    lines = list(summary_markdown(_summary(), 3))
    assert any(line.startswith("memory_analysis() of JAX: ") for line in lines)


def test_unknown_numbers_of_jax_have_a_reason() -> None:
    (line,) = (one for one in summary_lines(_summary(), 3) if one.startswith("memory_analysis()"))
    assert " · temp unknown (this release of libtpu counts fragmentation" in line


def test_thread_local_bytes_are_part_of_the_allocated_ones() -> None:
    text = _ASSIGNMENT.replace("preallocated-temp", "thread-local")
    summary = summarize(_dump(text, _RANGES, _MODULE))
    (space,) = summary.spaces
    assert (space.allocated_bytes, space.scheduled_bytes) == (6144, 2048)
    assert "6.0 KiB allocated (4.0 KiB thread-local)" in next(summary_lines(summary, 3))


def test_cut_assignment_has_no_peak() -> None:
    cut = "\n".join(_ASSIGNMENT.splitlines()[:4]) + "\n"
    summary = summarize(_dump(cut, _RANGES, _MODULE))
    assert [space.bytes for space in summary.spaces] == [None]
    lines = list(summary_lines(summary, 3))
    assert "HBM at least 2.0 KiB allocated" in lines[0]
    assert "the buffer assignment lacks 3 values of the live ranges: peaks are unknown" in lines


def test_cut_module_text_is_named() -> None:
    cut = _MODULE[: _MODULE.index("  ROOT")]
    (missing,) = summarize(_dump(_ASSIGNMENT, _RANGES, cut)).missing
    assert "is cut off at line" in missing


def test_cut_assignment_is_named() -> None:
    cut = _ASSIGNMENT.partition("(size=1024,offset=2048)")[0]
    missing = summarize(_dump(cut, _RANGES, _MODULE)).missing
    assert "dump.txt is cut off at line 8, expected the rest of this line" in missing


@pytest.mark.parametrize(
    ("texts", "missing"),
    [
        ((_ASSIGNMENT, _MODULE), "no live ranges: peaks and owners are unknown"),
        (
            (
                _ASSIGNMENT,
                _MODULE,
                "HloLiveRange not available (finalized or constructed from proto)",
            ),
            "no live ranges: peaks and owners are unknown",
        ),
        ((_ASSIGNMENT, _RANGES), "no module text: origins and Python lines are unknown"),
        ((_MODULE,), "no buffer assignment: allocations and peaks are unknown"),
        (
            (_ASSIGNMENT, _RANGES.replace("    z{}:2-3\n", ""), _MODULE),
            "some values have no live range: peaks and owners are unknown",
        ),
    ],
)
def test_missing_files_are_named(texts: tuple[str, ...], missing: str) -> None:
    summary = summarize(_dump(*texts), SummaryOptions())
    assert missing in summary.missing
    assert missing in list(summary_lines(summary, 3))
    json.dumps(summary_json(summary, 3))
    assert list(summary_markdown(summary, 3))
