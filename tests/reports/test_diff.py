"""The differences between two compiles."""

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from hlo_lsp.memory.grouping import GroupKey
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.reports.diff import Growth, ModuleDiff, compare, pair_modules
from hlo_lsp.reports.diff_text import diff_json, diff_lines, diff_markdown, headline
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM, example


def _text(before: Compile, after: Compile) -> str:
    return "\n".join(diff_lines(compare(before, after), 10))


def test_same_compile_has_no_differences() -> None:
    diff = compare(example(), example())
    assert diff.is_equal
    assert headline(diff) == "jit_f: no differences"


def test_headline_names_the_buffer_that_grew() -> None:
    assignment = ASSIGNMENT.replace("size 3072", "size 5120").replace(
        "<3 b @0> (size=1024", "<3 b @0> (size=3072"
    )
    module = MODULE.replace("%b = f32[256]{0} slice", "%b = f32[768]{0} slice")
    text = _text(example(), example(assignment, RANGES, module))
    assert text.startswith(
        "jit_f: memory space 0 peak +2.0 KiB (5.0 KiB -> 7.0 KiB): b (model.py:7 cos) is larger\n"
    ), text
    assert "  by line: model.py:7 +2.0 KiB" in text
    assert "  ~ b: f32[256]{0} -> f32[768]{0}" in text


def test_different_platforms_come_first() -> None:
    name = "module_0001.jit_f.cpu_after_optimizations.txt"
    cpu = Compile([DumpFile.of_text(MODULE, name)])
    tpu = Compile([DumpFile.of_text(MODULE, f"{STEM}.txt")])
    start = "jit_f (different platforms: CPU -> TPU): "
    assert _text(cpu, tpu).startswith(start)


def _compiled(stem: str, assignment: str = ASSIGNMENT) -> Compile:
    texts = {"": MODULE, "-buffer-assignment": assignment, "-live-range": RANGES}
    return Compile(
        [DumpFile.of_text(text, f"{stem}{suffix}.txt") for suffix, text in texts.items()]
    )


def test_headline_prefers_the_memory_that_runs_out() -> None:
    c = " value: <4 c @0> (size=2048,offset=0): f32[512]{0}\n"
    vmem = c.replace("@0", "@1").replace("2048", "8192")
    on_chip = f"allocation 3: size 8192, color 1, preallocated-temp:\n{vmem}"
    before = ASSIGNMENT.replace(c, "") + on_chip
    after = ASSIGNMENT.replace("size 3072", "size 4096").replace(
        "b @0> (size=1024", "b @0> (size=2048"
    )
    found = compare(_compiled(STEM, before), _compiled(STEM, after))
    assert headline(found).startswith("jit_f: HBM peak +1.0 KiB (5.0 KiB -> 6.0 KiB)")
    assert {one.title: one.peak_change for one in found.spaces} == {"HBM": 1024, "VMEM": -8192}


def test_headline_names_the_memory_of_each_platform() -> None:
    sides = _compiled("module_0001.jit_f.cpu_after_optimizations"), _compiled(STEM)
    assert headline(compare(*sides)) == (
        "jit_f (different platforms: CPU -> TPU): main memory peak 5.0 KiB -> HBM peak 5.0 KiB"
    )


def test_platform_without_buffer_assignment_has_unknown_memory() -> None:
    cpu = Compile([DumpFile.of_text(MODULE, "module_0001.jit_f.cpu_after_optimizations.txt")])
    assert headline(compare(_compiled(STEM), cpu)) == (
        "jit_f (different platforms: TPU -> CPU): HBM peak 5.0 KiB -> unknown"
    )


def test_memories_of_two_platforms_are_compared_by_role() -> None:
    vmem = "allocation 3: size 8192, color 1, preallocated-temp:\n"
    larger = ASSIGNMENT.replace("size 3072", "size 5120").replace(
        "b @0> (size=1024", "b @0> (size=3072"
    )
    cpu, tpu = _compiled("m.jit_f.cpu_after_optimizations"), _compiled(STEM, larger + vmem)
    diff = compare(cpu, tpu)
    lines = list(diff_lines(diff, 5))
    assert lines[1].startswith("main memory -> HBM: allocated 5.0 KiB -> 7.0 KiB (+2.0 KiB) · peak")
    assert "  +2.0 KiB  b f32[256]{0} model.py:7 cos larger on TPU" in lines
    assert [line for line in lines if "VMEM" in line] == [
        "VMEM: only on TPU · allocated 8.0 KiB · peak 0 B"
    ]
    row = "| VMEM, only on TPU | 8.0\N{NO-BREAK SPACE}KiB |  | 0\N{NO-BREAK SPACE}B |  |"
    assert row in list(diff_markdown(diff, 5))
    assert not Growth.of("2 KiB").is_exceeded_by(diff)


def test_line_in_another_checkout_is_one_group() -> None:
    moved = MODULE.replace("/home/user/model.py", "/home/user/branch/model.py")
    larger = ASSIGNMENT.replace("size 3072", "size 5120").replace(
        "<3 b @0> (size=1024", "<3 b @0> (size=3072"
    )
    text = _text(example(), example(larger, RANGES, moved))
    assert "  by line: model.py:7 +2.0 KiB\n" in text


def test_moved_buffer_names_the_other_memory_space() -> None:
    moved = ASSIGNMENT.replace("size 3072,", "size 1024, color 0,", 1).replace(
        " value: <2 a @0> (size=2048,offset=0): f32[512]{0}\n", ""
    )
    moved = moved.replace("offset=2048", "offset=0")
    moved += (
        "allocation 3: size 2048, color 1, preallocated-temp:\n"
        " value: <2 a @0> (size=2048,offset=0): f32[512]{0:S(1)}\n"
    )
    after = example(moved, RANGES, MODULE)
    assert "model.py:3 sin was in memory space 0" in _text(example(), after)
    assert "model.py:3 sin is now in memory space 0" in _text(after, example())


def test_longer_live_range_is_reported() -> None:
    ranges = RANGES.replace("a{}:1-2", "a{}:1-1")
    diff = compare(example(ASSIGNMENT, ranges, MODULE), example())
    (space,) = diff.spaces
    assert {(one.change.value, one.bytes) for one in space.buffers} >= {("live_at_peak", 2048)}


def test_buffer_that_shared_bytes_has_its_own() -> None:
    apart = ASSIGNMENT.replace("size 3072", "size 5120").replace(
        "<4 c @0> (size=2048,offset=0)", "<4 c @0> (size=2048,offset=3072)"
    )
    ranges = RANGES.replace("c{}:3-4", "c{}:2-4")
    together = compare(example(ASSIGNMENT, ranges, MODULE), example(apart, ranges, MODULE))
    (space,) = together.spaces
    assert [(one.change.value, one.bytes) for one in space.buffers] == [("own_bytes", 2048)]


def test_added_instruction_is_reported() -> None:
    module = MODULE.replace("  ROOT %r", "  %extra = f32[4]{0} negate(%b)\n  ROOT %r")
    diff = compare(example(), example(ASSIGNMENT, RANGES, module))
    assert diff.instructions is not None
    assert [node.record.name for node in diff.instructions.added] == ["extra"]
    assert not diff.instructions.removed


def test_different_attributes_are_named() -> None:
    line = "  %extra = f32[4]{0} reduce-precision(%b), exponent_bits=8, mantissa_bits=7\n  ROOT %r"
    before, after = (
        example(ASSIGNMENT, RANGES, MODULE.replace("  ROOT %r", one))
        for one in (line, line.replace("mantissa_bits=7", "mantissa_bits=10"))
    )
    assert "  ~ extra: mantissa_bits 7 -> 10" in _text(before, after).splitlines()


_FUSED = """\
HloModule jit_f, is_scheduled=true

%inner (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %sine.4 = f32[8]{0} sine(%q)
}

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %negate.3 = f32[8]{0} negate(%p)
  ROOT %fusion.5 = f32[8]{0} fusion(%negate.3), kind=kLoop, calls=%inner
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  %y = f32[8]{0} parameter(1), metadata={op_name="y"}
  %constant.1 = f32[] constant(1)
  %fusion.2 = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
  ROOT %subtract.1 = f32[8]{0} subtract(%fusion.2, %y), metadata={op_name="jit(f)/sub"}
}
"""


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (" negate(", " cosine(", "fusion.2: negate.3: negate -> cosine"),
        (" sine(", " cosine(", "fusion.2: fusion.5: sine.4: sine -> cosine"),
        ("constant(1)", "constant(2.5)", "constant.1: 1 -> 2.5"),
        ("subtract(%fusion.2, %y)", "subtract(%y, %fusion.2)", "subtract.1: reads fusion.2 -> y"),
        ("fusion(%x)", "fusion(%y)", "fusion.2: reads x -> y"),
    ],
)
def test_first_change_of_an_instruction_is_named(old: str, new: str, change: str) -> None:
    before, after = (
        Compile([DumpFile.of_text(text)]) for text in (_FUSED, _FUSED.replace(old, new))
    )
    assert f"  ~ {change}" in _text(before, after).splitlines()


def test_bytes_above_the_peak_have_causes() -> None:
    before = example()
    after = example(ASSIGNMENT.replace("size 3072", "size 7168"), RANGES, MODULE)
    text = _text(before, after)
    assert text.startswith(
        "jit_f: memory space 0 allocated +4.0 KiB (5.0 KiB -> 9.0 KiB): alignment "
    )
    assert text.endswith("\n  above the peak: alignment +4.0 KiB")


def test_another_libtpu_is_named() -> None:
    before, after = (
        Compile(
            [DumpFile.of_text(MODULE, f"module_0001.jit_f.cl_{number}.after_optimizations.txt")]
        )
        for number in (12, 13)
    )
    assert "\ncompiled by another libtpu: cl/12 -> cl/13" in _text(before, after)
    assert "compiled by another" not in _text(before, before)


def test_names_of_arguments_have_no_backslashes() -> None:
    line = """  %n = f32[4]{0} negate(%b), metadata={op_name="p[\\'w\\']"}\n  ROOT %r"""
    after = example(ASSIGNMENT, RANGES, MODULE.replace("  ROOT %r", line))
    assert "  + n = f32[4]{0} negate p['w']" in _text(example(), after).splitlines()


def test_buffers_match_without_module_text() -> None:
    diff = compare(example(ASSIGNMENT, RANGES), example(ASSIGNMENT, RANGES))
    assert diff.is_equal
    assert diff.instructions is None


def test_constants_inside_of_fusions_match_without_their_numbers() -> None:
    constant = "allocation 3: size 4, constant:\n value: <6 NAME @0> (size=4,offset=0): s32[]\n"
    sides = [ASSIGNMENT + constant.replace("NAME", f"constant_{one}") for one in ("18", "5_0")]
    before, after = (example(side, RANGES, MODULE) for side in sides)
    assert compare(before, after).is_equal


def test_unknown_peaks_leave_the_allocated_bytes() -> None:
    larger = ASSIGNMENT.replace("size 3072", "size 4096")
    text = _text(example(ASSIGNMENT, MODULE), example(larger, MODULE))
    assert "memory space 0 allocated +1.0 KiB (5.0 KiB -> 6.0 KiB)" in text


def test_unrelated_modules_are_reported_first() -> None:
    module = "HloModule g\nENTRY %e (q: s8[7]) -> s8[7] {\n  ROOT %q = s8[7]{0} parameter(0)\n}\n"
    lines = list(diff_lines(compare(example(), example(module)), 5))
    assert lines[0].startswith("The modules differ widely: of the instructions, 0 correspond (0%")


def test_forms_agree() -> None:
    larger = ASSIGNMENT.replace("size 3072", "size 4096")
    diff = compare(example(), example(larger, RANGES, MODULE))
    assert diff_json(diff, 5)["headline"] == headline(diff)
    assert next(diff_markdown(diff, 5)) == f"# {headline(diff)}"


def test_pairs_have_the_same_name() -> None:
    body = "ENTRY %e (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n"
    f, g, other = (example(f"HloModule {name}\n\n{body}") for name in ("jit_f", "jit_g", "jit_f"))
    pairs, removed, added = pair_modules([f, g], [other])
    assert pairs == [(f, other)]
    assert (removed, added) == ([g], [])


def _renumbered(text: str) -> str:
    """Give other numbers to instructions and computations."""
    numbers: dict[str, str] = {}
    count = itertools.count(5_000)

    def renamed(match: re.Match[str]) -> str:
        name = match[1]
        return f"%{numbers.setdefault(name, f'{name.split(chr(46))[0]}.{next(count)}')}"

    return re.sub(r"%([\w.\-]+)", renamed, text)


def _compiles(folder: Path) -> list[Compile]:
    found = []
    for compile_ in compiles_below(folder):
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES)
        file = workspace.file(compile_.path)
        if file.kind.has_records:
            found.append(workspace.compile_of(file))
    return found


def _assert_sums(diff: ModuleDiff) -> None:
    for space in diff.spaces:
        if space.peaks is not None:
            assert sum(one.bytes for one in space.buffers) == space.peak_change
            for key in (GroupKey.LINE, GroupKey.SHAPE):
                assert sum(one.bytes for one in space.groups[key]) == space.peak_change


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["tpu_v5e", "cpu", "gpu_h100"])
def test_compile_equals_itself(corpus_small: Path, name: str) -> None:
    for dump in _compiles(corpus_small / name):
        assert compare(dump, dump).is_equal


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["tpu_v5e", "cpu", "gpu_h100"])
def test_renumbered_module_is_equal(corpus_small: Path, name: str) -> None:
    compared = 0
    for dump in _compiles(corpus_small / name):
        for file in dump.files:
            text = "\n".join(file.document.lines)
            if file.module.entry is not None and "%" in text:
                one, other = (
                    Compile([DumpFile.of_text(each)]) for each in (text, _renumbered(text))
                )
                diff = compare(one, other)
                assert diff.instructions is not None
                assert diff.instructions.is_equal
                assert diff.instructions.share == 1
                compared += 1
    assert compared > 5


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tpu_v5e_jax_0.9.2", "tpu_v5e"),
        ("cpu_jax_0.6.2", "cpu"),
        ("gpu_h100_jax_0.8.3", "gpu_h100"),
    ],
)
def test_differences_add_up_and_mirror(corpus_small: Path, before: str, after: str) -> None:
    pairs, _, _ = pair_modules(_compiles(corpus_small / before), _compiles(corpus_small / after))
    assert len(pairs) > 5
    for one, other in pairs:
        forward, backward = compare(one, other), compare(other, one)
        _assert_sums(forward)
        _assert_sums(backward)
        for there, back in zip(forward.spaces, backward.spaces, strict=True):
            assert there.peak_change == -back.peak_change
        mirrored = [{s.title: Counter(b.bytes * sign for b in s.buffers) for s in d.spaces}
                    for d, sign in ((forward, 1), (backward, -1))]  # fmt: skip
        assert mirrored[0] == mirrored[1]


@pytest.mark.parametrize(("limit", "is_exceeded"), [("40%", False), ("39%", True)])
def test_share_limits_growth_of_peaks(limit: str, is_exceeded: bool) -> None:
    assignment = ASSIGNMENT.replace("size 3072", "size 5120").replace(
        "<3 b @0> (size=1024", "<3 b @0> (size=3072"
    )
    diff = compare(example(), example(assignment))
    assert Growth.of(limit).is_exceeded_by(diff) is is_exceeded
