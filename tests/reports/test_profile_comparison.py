"""Tests for hlo_lsp.reports.profile_comparison."""

from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.profile_comparison import (
    compare_profiles,
    comparison_blocks,
    comparison_json,
    profile_comparison_markdown,
)
from hlo_lsp.stats.changes import Change
from hlo_lsp.stats.measured_programs import JoinedProfile, join
from stats.test_measured_programs import MODULE


def profile(**durations: int) -> JoinedProfile:
    """Return a profile of two runs in which each instruction takes this time in microseconds."""
    found = Profile()
    for run in (1, 2):
        start = run * 10**9
        for name, duration in durations.items():
            event = InstructionEvent(name, 0, start, duration * 10**6, run, name)
            found.of(Program("jit_f", run), "GPU 0").events.append(event)
            start += duration * 10**6
    return join(found, {})


def located(folder: str, neg: int) -> JoinedProfile:
    """Return a profile of a module whose Python file is in a folder."""
    text = MODULE.replace("/x/train.py", f"{folder}/train.py")
    found = Profile()
    event = InstructionEvent("neg", 0, 0, neg * 10**6, 1, "neg")
    found.of(Program("m", 3), "CPU 0").events.append(event)
    return join(found, {3: Compile([DumpFile.of_text(text, "module_0003.m.txt")])})


def _times(change: Change) -> tuple[int, int]:
    return change.before.measured_ps, change.after.measured_ps


def test_largest_change_is_first() -> None:
    changes = compare_profiles(
        profile(a=10, b=20, c=5), profile(a=11, b=15, d=1), InstructionKey.INSTRUCTION
    )
    (lines,) = map(list, map(text_lines, comparison_blocks(changes, 3)))
    assert lines == [
        "jit_f · median 35.0 µs → 27.0 µs (-8.00 µs, -22.9%)",
        "    change   before  →    after  mean own time per run",
        "  -5.00 µs  20.0 µs  →  15.0 µs  b",
        "  -5.00 µs  5.00 µs  →     0 ns  c",
        "  +1.00 µs  10.0 µs  →  11.0 µs  a",
        "  +1.00 µs     0 ns  →  1.00 µs  in 1 more",
    ]


def test_moved_python_files_correspond() -> None:
    before, after = (located(folder, neg) for folder, neg in (("/a", 10), ("/b", 30)))
    (module,) = compare_profiles(before, after, InstructionKey.LINE)
    assert [(one.label, *_times(one)) for one in module.groups] == [
        ("train.py:8", 10**7, 3 * 10**7)
    ]
    lines = profile_comparison_markdown(before, after, 5, lambda line: f"file://{line.file}")
    assert (
        "| [train.py:8](file:///b/train.py) | +20.0\N{NO-BREAK SPACE}µs"
        " | 10.0\N{NO-BREAK SPACE}µs | 30.0\N{NO-BREAK SPACE}µs |"
    ) in list(lines)


def test_module_of_one_profile_has_no_other_time() -> None:
    changes = compare_profiles(profile(), profile(a=1), InstructionKey.PHASE)
    (module,) = comparison_json(changes)["modules"]
    assert module["median"] == {"before_ps": 0, "after_ps": 10**6}
    assert module["groups"] == [{"name": "unknown", "before_ps": 0, "after_ps": 10**6}]
    (lines,) = map(list, map(text_lines, comparison_blocks(changes, 3)))
    assert lines[0].startswith("jit_f · ran only after · median 0 ns → 1.00 µs")


RENAMED = """\
HloModule m, is_scheduled=true

%body.NN (p: (s32[], f32[64])) -> (s32[], f32[64]) {
  %p = (s32[], f32[64]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[64]{0} get-tuple-element(%p), index=1
  %sine.NN = f32[64]{0} sine(%x)
  ROOT %t = (s32[], f32[64]{0}) tuple(%i, %sine.NN)
}

%condition.NN (q: (s32[], f32[64])) -> pred[] {
  %q = (s32[], f32[64]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  ROOT %compare.NN = pred[] compare(%j, %j), direction=LT
}

ENTRY %main.NN (a: (s32[], f32[64])) -> f32[64] {
  %a = (s32[], f32[64]{0}) parameter(0)
  %while.NN = (s32[], f32[64]{0}) while(%a), condition=%condition.NN, body=%body.NN
  ROOT %cosine.1 = f32[64]{0} get-tuple-element(%while.NN), index=1
}
"""


def test_renamed_instructions_and_computations_correspond() -> None:
    sides = []
    for number, microseconds in ((1, 10), (7, 30)):
        text = RENAMED.replace("NN", str(number))
        found = Profile()
        name = f"sine.{number}"
        event = InstructionEvent(name, 0, 0, microseconds * 10**6, 1, name)
        found.of(Program("m", 3), "CPU 0").events.append(event)
        sides.append(join(found, {3: Compile([DumpFile.of_text(text, "module_0003.m.txt")])}))
    changed = {
        key: [(one.name, *_times(one)) for one in module.groups]
        for key in (InstructionKey.INSTRUCTION, InstructionKey.COMPUTATION)
        for module in compare_profiles(sides[0], sides[1], key)
    }
    times = 10**7, 3 * 10**7
    assert changed == {
        InstructionKey.INSTRUCTION: [("sine.7", *times)],
        InstructionKey.COMPUTATION: [("body.7", *times)],
    }
