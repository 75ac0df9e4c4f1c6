"""Tests for hlo_lsp.reports.profile_report."""

import pytest

from cost.costs import cost_of_text, module
from hlo_lsp.display.table import text_lines
from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.profile_report import profile_blocks, profile_json, time_table
from hlo_lsp.stats.measured_programs import JoinedProfile, join
from hlo_lsp.text.amounts import format_time


def _texts(profile: JoinedProfile, key: InstructionKey, chip: str | None = None) -> list[list[str]]:
    return [list(text_lines(block)) for block in profile_blocks(profile, key, 5, chip)]


def test_time_has_three_digits() -> None:
    times = (0, 1_530_000_000, 63_900_000, 875_000, 999_999_999, 2 * 10**15)
    assert [format_time(one) for one in times] == [
        "0 ns",
        "1.53 ms",
        "63.9 µs",
        "875 ns",
        "1.00 ms",
        "2,000 s",
    ]


def test_small_modules_are_one_line() -> None:
    profile = Profile()
    for name, duration in (("jit_large", 1_000_000), ("jit_small", 100)):
        event = InstructionEvent("a", 0, 0, duration, 1, "a")
        profile.of(Program(name, None), "GPU 0").events.append(event)
    profile.add_unnamed("Memcpy", 2_000)
    large, rest = _texts(join(profile, {}), InstructionKey.LINE)
    assert large[0] == "jit_large · 1 run on GPU 0 · median 1.00 µs"
    assert rest == [
        "1 module below 1% of the time: 0.10 ns",
        "without an instruction: 1 event, 2.00 ns: Memcpy",
    ]


_PROGRAM = Program("m", None)
_TEXT = module(
    "%a = f32[1000,1000] parameter(0)",
    "%b = f32[1000,1000] parameter(1)",
    "%d = f32[1000,1000] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    'ROOT %k = f32[1000,1000] custom-call(%d), custom_call_target="kernel"',
)


def test_rates_are_those_of_the_own_time() -> None:
    profile = Profile()
    events = profile.of(_PROGRAM, "TPU 0").events
    for run in (1, 2):
        start = run * 10**9
        events.append(InstructionEvent("d", 0, start, 20_000_000, run, "d"))
        events.append(InstructionEvent("k", 0, start + 20_000_000, 1_000, run, "k"))
    joined = join(profile, {}, [cost_of_text(_TEXT, path="m.txt").dump])
    dot, kernel = profile_json(joined, InstructionKey.OPCODE, "v5e")["modules"][0]["instructions"]
    assert dot["flops_per_second"] == pytest.approx(2e9 / 20e-6)
    assert dot["bytes_per_second"] == pytest.approx(12e6 / 20e-6)
    assert dot["roofline_share"] == pytest.approx(12e6 / 819e9 / 20e-6)
    assert kernel["flops_per_second"] is None  # of unknown cost
    (lines,) = _texts(joined, InstructionKey.OPCODE, "v5e")
    assert [line.split() for line in lines[3:5]] == [
        *([["own", "time", "share", "occurrences", "FLOP/s", "memory/s", "roofline", "opcode"]]),
        ["20.0", "µs", "100.0%", "1", "100", "T", "558.79", "GiB", "73.3%", "dot"],
    ]
    other = join(profile, {}, [cost_of_text(_TEXT).dump])  # of a CPU, which no roofline describes
    assert profile_json(other, InstructionKey.OPCODE, "v5e")["modules"][0]["chip"] is None
    without_chip = profile_json(joined, InstructionKey.OPCODE)["modules"][0]
    assert (without_chip["chip"], without_chip["groups"][0]["roofline_share"]) == (None, None)


def test_own_times_of_threads_name_parallel_time() -> None:
    profile = Profile()
    events = profile.of(_PROGRAM, "CPU 0").events
    for thread, name in enumerate(("a", "b")):
        events.append(InstructionEvent(name, thread, 0, 10**6, 1, name))
    (lines,) = _texts(join(profile, {}), InstructionKey.INSTRUCTION)
    assert lines[1:3] == [
        "mean per run: 1.00 µs = busy 1.00 µs (100.0%) + idle 0 ns (0.0%) · no communication",
        "own times: 2.00 µs = busy 1.00 µs + parallel 1.00 µs; shares are of this sum",
    ]


def test_rows_add_up_to_the_own_times() -> None:
    profile = Profile()
    events = profile.of(_PROGRAM, "CPU 0").events
    for number in range(4):
        events.append(InstructionEvent(f"i{number}", 0, number * 10**6, 10**6, 1, f"i{number}"))
    (program,) = join(profile, {}).programs
    table = time_table(program, InstructionKey.INSTRUCTION, 1, None)
    assert table.titles[0] == ">own time"
    assert [row[0] for row in table.rows] == ["1.00 µs", "3.00 µs"]
    assert [row[-1] for row in table.rows] == ["i0", "in 3 more"]
    assert program.time.own_ps == 4 * 10**6
